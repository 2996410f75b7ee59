import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from planned_run import plan_of, planned

from orchestrator.cli.shell import _image_of
from orchestrator.errors import ExitCode
from orchestrator.images.docker import Docker, Found
from orchestrator.model import Attempt, Exit

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of one cell with our own interpreter."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    place = tmp_path / "runs" / "20261129T100000Z-0001"
    cell = planned("pass", 0)
    attempt = place / "cells" / cell.id / "attempt-1"
    attempt.mkdir(parents=True)
    (place / "plan.json").write_bytes(msgspec.json.encode(plan_of((cell,))))
    (attempt / "attempt.json").write_text(
        f'{{"cell": "{cell.id}", "number": 1, "engine": "here", "image": "here", "exit": {{"code": 0}}}}'
    )
    return place


def test_a_command_runs_as_the_cell_did(torchmatrix: Run, run: Path) -> None:
    code = "import os, sys; print(os.environ['DOES'], sys.executable, os.environ['VIRTUAL_ENV']); sys.exit(3)"
    done = torchmatrix("shell", "0-pass", "--", "python", "-c", code)
    assert (done.returncode, done.stdout.split()) == (3, ["pass", sys.executable, sys.prefix])
    assert f"as in runs/{run.name}; the suite: {sys.executable} -m suites --cell " in done.stderr


def test_the_command_can_be_printed(torchmatrix: Run, run: Path, tmp_path: Path) -> None:
    done = torchmatrix("shell", "0-pass", "--run", str(run), "--print", "--", "python", "-c", "print(1 + 1)")
    assert done.returncode == ExitCode.GOOD
    assert any(tmp_path.glob("torchmatrix-*"))  # what the command needs stays until somebody used it
    again = subprocess.run(["sh", "-c", done.stdout], capture_output=True, text=True, timeout=60, check=True)
    assert again.stdout == "2\n"


def test_without_a_run_there_is_nothing_to_open(torchmatrix: Run) -> None:
    done = torchmatrix("shell", "ci-cpu")
    assert done.returncode == ExitCode.BAD_INPUT
    assert "runs: there is no run" in done.stderr


def test_an_image_of_ours_is_opened_without_what_its_base_would_steer(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Found(
        id="sha256:0", names=(), labels={}, size=1, env={"LD_PRELOAD": "/x.so", "LANG": "C"}, volumes=("/data",)
    )
    monkeypatch.setattr(Docker, "answers", lambda _: None)
    monkeypatch.setattr(Docker, "inspect", lambda _, ref: held if ref == "torchmatrix/x:1" else None)
    attempt = Attempt(cell="c", number=1, engine="docker", image="torchmatrix/x:1", exit=Exit())
    image = _image_of(planned("pass", 0), attempt)
    assert image.ref == "sha256:0"
    assert image.ready is not None
    assert (image.ready.unset, image.ready.volumes) == (("LD_PRELOAD",), ("/data",))
