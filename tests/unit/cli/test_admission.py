import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from engine_api import fake_engine

from orchestrator.cli.admission import _missing
from orchestrator.errors import ExitCode
from orchestrator.images.docker import LABEL
from orchestrator.settings import load_site

Run = Callable[..., subprocess.CompletedProcess[str]]
FULL = """\
import os, sys
real = os.statvfs
os.statvfs = lambda path: os.statvfs_result([4096, 4096, 10, 10, 10, 1, 1, 1, 0, 255])
from orchestrator.cli import main
main()
"""


@pytest.fixture
def on_a_full_disk(torchmatrix: Run, tmp_path: Path) -> Run:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", FULL, *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60)

    return run


def test_nothing_is_begun_where_there_is_no_room(on_a_full_disk: Run, tmp_path: Path) -> None:
    done = on_a_full_disk("run", "--engine", "here", "--select", "ci-cpu", "--here")
    assert done.returncode == ExitCode.INFRASTRUCTURE, done.stderr
    assert "runs: 40960 bytes are free, about " in done.stderr
    assert "for the results of " in done.stderr
    assert not (tmp_path / "runs").exists()


def test_images_and_wheels_are_counted_before_they_are_built(
    on_a_full_disk: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHMATRIX_CACHE", str(tmp_path / "cache"))
    done = on_a_full_disk("build", "--engine", "process", "--select", "ci-cpu")
    assert done.returncode == ExitCode.INFRASTRUCTURE, done.stderr
    assert f"{tmp_path}/cache: 40960 bytes are free, about " in done.stderr
    assert "for the wheels of 1 image" in done.stderr
    assert not (tmp_path / "cache").exists()


def made(image: str) -> dict[str, object]:
    return {"Id": f"sha256:{image}", "Labels": {f"{LABEL}image-id": image}}


def test_an_engine_has_room_for_the_images_that_it_has_not(
    on_a_full_disk: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fake_engine(tmp_path) as engine:
        engine.root = str(tmp_path)
        monkeypatch.setenv("TORCHMATRIX_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("DOCKER_HOST", engine.environ["DOCKER_HOST"])
        done = on_a_full_disk("build", "--select", "ci-cpu")
    assert done.returncode == ExitCode.INFRASTRUCTURE, done.stderr
    assert f"{tmp_path}/cache: 40960 bytes are free, about " in done.stderr
    assert "for the wheels of 1 image" in done.stderr
    assert "for 1 image" in done.stderr.replace("for the wheels of 1 image", "")
    assert set(engine.calls) == {"version", "inspect", "info"}  # nothing is begun


@pytest.mark.parametrize("is_here", [True, False])
def test_what_an_engine_has_or_only_pulls_is_not_made_and_another_machines_disk_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_here: bool
) -> None:
    new, ready = {"torch": "2.13.0"}, {"image": f"sha256:{'0' * 64}"}
    with fake_engine(tmp_path) as engine:
        engine.listed = [made("there"), made("of another matrix")]
        engine.root = str(tmp_path) if is_here else "/proc/nowhere"
        monkeypatch.setenv("DOCKER_HOST", engine.environ["DOCKER_HOST"])
        found = _missing({"there": new, "new": new, "ready": ready}, "docker", load_site({"HOME": "/nonexistent"}))
    assert found == ({"new": new}, tmp_path if is_here else None)
