import subprocess
from collections.abc import Callable

import pytest

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
