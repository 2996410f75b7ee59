"""Two writers of one run: the verbs that write into its folder take its lock first."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.errors import ExitCode

Run = Callable[..., subprocess.CompletedProcess[str]]
HOLDER = """
import sys, time
from pathlib import Path
from orchestrator.running import lock
with lock.held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def run(torchmatrix: Run, tmp_path: Path) -> Path:
    """A run folder with a plan in it that no machine of ours is to run."""
    folder = tmp_path / "a-run"
    folder.mkdir()
    planned = torchmatrix("plan", "--select", "train", "--json")
    assert planned.returncode == 0, planned.stderr
    (folder / "plan.json").write_text(planned.stdout)
    return folder


@pytest.fixture
def written(run: Path) -> Iterator[int]:
    """Another process writes the run; its pid."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(run)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process.pid
    process.kill()
    process.communicate()


def test_a_run_that_is_written_is_not_resumed_whatever_its_plan_says_by_now(
    torchmatrix: Run, run: Path, written: int
) -> None:
    (run / "plan.json").write_text("half a plan")
    done = torchmatrix("run", "--resume", str(run))
    assert done.returncode == ExitCode.INFRASTRUCTURE
    assert f"process {written} is writing this run" in done.stderr


def test_nothing_is_merged_into_a_run_that_is_written(torchmatrix: Run, run: Path, written: int) -> None:
    bundles = run.parent / "bundles"
    bundles.mkdir()
    command = ("merge", str(bundles), "--plan", str(run / "plan.json"), "--out", str(run))
    before = sorted(path.name for path in run.iterdir())
    done = torchmatrix(*command)
    assert done.returncode == ExitCode.BAD_INPUT, done.stderr
    assert f"{run}: process {written} is writing this run" in done.stderr
    assert "hint: give `--out` another folder" in done.stderr
    assert sorted(path.name for path in run.iterdir()) == before


def test_what_is_merged_is_whole_and_held_by_nobody(torchmatrix: Run, run: Path) -> None:
    bundles = run.parent / "bundles"
    bundles.mkdir()
    out = run.parent / "merged"
    command = ("merge", str(bundles), "--plan", str(run / "plan.json"), "--out", str(out), "--json")
    first = torchmatrix(*command)
    assert json.loads(first.stdout)["planned"] == 1, first.stderr
    assert torchmatrix(*command).stdout == first.stdout
    assert (out / "lock").read_bytes() == b""
