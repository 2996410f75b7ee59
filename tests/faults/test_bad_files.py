"""A matrix that cannot be read, or asks for what cannot be: exit 2, one line for each thing, and no waiting."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

COMMAND = "from orchestrator.cli import main; main()"
AXES = 'version: 1\naxes: {torch: ["2.13.0"], torch_build: [cpu], python: ["3.11"], backend: [eager]}\n'
ROW = 'production: [{name: a, torch: "2.13.0", torch_build: cpu, python: "3.11"}]\n'


def refused(file: Path) -> str:
    """What the command says of the matrix, which it refuses."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "plan", "--matrix", str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr


def _loop(place: Path) -> None:
    place.symlink_to(place)


KINDS: list[tuple[Callable[[Path], object], str]] = [
    (lambda _: None, "no such file"),
    (Path.mkdir, "directory"),
    (os.mkfifo, "not a regular file"),
    (_loop, "symbolic links"),
]


@pytest.mark.parametrize(("make", "said"), KINDS, ids=["missing", "folder", "FIFO", "loop"])
def test_what_is_no_file(tmp_path: Path, make: Callable[[Path], object], said: str) -> None:
    make(tmp_path / "matrix.yaml")
    told = refused(tmp_path / "matrix.yaml")
    assert said in told.lower()
    assert str(tmp_path / "matrix.yaml") in told


def test_each_limit_that_cannot_be_is_told_with_its_field(tmp_path: Path) -> None:
    matrix = tmp_path / "matrix.yaml"
    matrix.write_text(
        AXES + ROW + "limits: {timeout: 0s, memory: -1GiB, shm: 10q, pids: 1e400}\nloads: [{path: ./none}]\n"
    )
    told = refused(matrix)
    for field in ("timeout", "memory", "shm", "pids", "there is no load at `./none`"):
        assert field in told
