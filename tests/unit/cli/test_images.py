import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner
from docker.errors import ImageNotFound

from orchestrator.cli.images import images
from orchestrator.errors import ExitCode

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("verb", [("ls",), ("gc", "--max-bytes", "20GB")])
def test_without_an_engine_nothing_is_told(torchmatrix: Run, monkeypatch: pytest.MonkeyPatch, verb: tuple[str]) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    done = torchmatrix("images", *verb)
    assert done.returncode == ExitCode.INFRASTRUCTURE
    assert "unix:///nowhere.sock: no container engine" in done.stderr


@pytest.mark.parametrize("size", ["", "much", "-1", "20 Gb", "1e9"])
def test_a_size_is_bytes(torchmatrix: Run, size: str) -> None:
    done = torchmatrix("images", "gc", "--max-bytes", size)
    assert done.returncode == ExitCode.BAD_INPUT
    assert "it takes bytes, such as 20GB or 512MiB" in done.stderr


class Engine:
    """Enough of an engine to list two images: one that a container is made of, one that it does not remove."""

    timeout = 1.0

    def __init__(self, failing: bool) -> None:
        self.failing = failing

    def close(self) -> None:
        pass

    def images(self, **_: object) -> list[dict[str, str]]:
        return [{"Id": "sha256:a"}, {"Id": "sha256:b"}]

    def containers(self, **_: object) -> list[dict[str, object]]:
        return [{"Id": "0", "Names": ["/cell-1"], "ImageID": "sha256:a"}]

    def history(self, _: str) -> list[dict[str, object]]:
        return [{"Size": 3_000_000_000, "CreatedBy": "RUN x"}]

    def inspect_image(self, name: str) -> dict[str, object]:
        key = name.removeprefix("sha256:").removeprefix("torchmatrix/").removesuffix(":1")
        if key == "b" and not self.failing and self.gone:
            raise ImageNotFound("gone", Response())  # type: ignore[arg-type]
        labels = {"org.torchmatrix.recipe": key, "org.torchmatrix.image-id": key}
        facts = {"Id": f"sha256:{key}", "RepoTags": [f"torchmatrix/{key}:1"], "Size": 3_000_000_000, "Created": "2026"}
        return {**facts, "Config": {"Labels": labels}, "RootFS": {"Layers": [key]}}

    gone = False

    def remove_image(self, name: str) -> None:
        assert name == "torchmatrix/b:1"
        if self.failing:
            raise requests.ConnectionError("the engine has a bad day")
        self.gone = True


class Response:
    status_code = 404
    url = reason = ""


@pytest.mark.parametrize(
    ("failing", "code", "told"),
    [
        (
            False,
            ExitCode.GOOD,
            "warning: that is 2.0 GB more than 1.0 GB: 1 stay, 1 because container cell-1 is made of it",
        ),
        (
            True,
            ExitCode.INFRASTRUCTURE,
            "warning: that is 5.0 GB more than 1.0 GB: 2 stay, 1 because container cell-1 is made of it; 1 because the",
        ),
    ],
)
def test_more_than_was_asked_for_is_never_left_silently(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failing: bool, code: int, told: str
) -> None:
    monkeypatch.setattr("orchestrator.engines.docker.connection.client", lambda _: Engine(failing))
    monkeypatch.setenv("TORCHMATRIX_CACHE", str(tmp_path))
    done = CliRunner().invoke(images, ["gc", "--max-bytes", "1GB", "--runs", str(tmp_path)])
    assert (done.exit_code, done.exception if code == 0 else None) == (code, None)
    assert "kept  torchmatrix/a:1: container cell-1 is made of it" in done.output
    assert ("removed  " in done.output) is not failing
    assert told in done.output
