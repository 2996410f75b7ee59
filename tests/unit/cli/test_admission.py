import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import ExitCode

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
