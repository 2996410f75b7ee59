"""Disks that are full or cannot be written: refused before anything is begun, told with the path, nothing is lost."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from small_disk import mount, small_disk

from orchestrator.errors import ExitCode

MATRIX = """\
version: 1
axes: {torch: ["2.13.0"], torch_build: [cpu], python: ["3.11"]}
production: [{name: cpu, torch: 2.13.0, torch_build: cpu, python: "3.11", secrets: [TOKEN]}]
secrets: {TOKEN: {env: CI_TOKEN}}
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system in memory of 1 MiB."""
    with small_disk(tmp_path / "disk", "1m") as place:
        yield place


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    monkeypatch.setenv("CI_TOKEN", "hunter22-hunter22")
    monkeypatch.setenv("TORCHMATRIX_CACHE", str(tmp_path / "cache"))


def torchmatrix(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from orchestrator.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=60)


@pytest.mark.usefixtures("environ")
def test_a_run_without_room_for_its_results_is_not_begun(disk: Path, tmp_path: Path) -> None:
    done = torchmatrix(tmp_path, "run", "--engine", "here", "--runs", str(disk / "runs"))
    assert done.returncode == ExitCode.INFRASTRUCTURE
    assert f"{disk}/runs: " in done.stderr
    assert " bytes are free, about " in done.stderr
    assert list(disk.iterdir()) == []


@pytest.mark.usefixtures("environ")
def test_a_build_without_room_for_its_images_is_not_begun(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHMATRIX_CACHE", str(disk / "cache"))
    done = torchmatrix(tmp_path, "build", "--engine", "process")
    assert done.returncode == ExitCode.INFRASTRUCTURE
    assert f"{disk}/cache: " in done.stderr
    assert "for the wheels of 1 image" in done.stderr
    assert list(disk.iterdir()) == []


@pytest.mark.usefixtures("environ")
def test_a_secret_that_the_temporary_disk_does_not_take_is_told_without_it(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (disk / "full").open("wb", buffering=0) as full:
        with suppress(OSError):  # no space left
            while True:
                full.write(b"x" * 4096)
        full.truncate(full.tell() - 4096)  # one page: enough to be taken for a temporary folder, not for a secret
    monkeypatch.setenv("TMPDIR", str(disk))
    done = torchmatrix(tmp_path, "run", "--engine", "here", "--runs", str(tmp_path / "runs"), "--here")
    assert done.returncode == ExitCode.INFRASTRUCTURE, done.stderr
    assert "No space left on device" in done.stderr
    assert "hunter22" not in done.stdout + done.stderr
    assert [file.name for file in disk.iterdir()] == ["full"]
    assert not (tmp_path / "runs").exists()


def test_runs_on_a_disk_that_is_read_only_stay_and_are_listed(disk: Path, tmp_path: Path) -> None:
    run = disk / "20261129T100000Z-000a"
    run.mkdir()
    mount("-o", "remount,ro", str(disk))
    assert torchmatrix(tmp_path, "runs", "ls", "--runs", str(disk)).stdout.startswith(run.name)
    done = torchmatrix(tmp_path, "runs", "gc", "--keep", "0", "--runs", str(disk))
    assert (done.returncode, run.exists()) == (ExitCode.INFRASTRUCTURE, True)
    assert f"kept  {run.name}: Read-only file system" in done.stdout
