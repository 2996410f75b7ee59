"""Merges, removals and commits that are killed at moments nobody chose: the next one finishes, nothing is doubled.

The moments change with the commit; each is told with the test.
"""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from crash_matrix import commit
from planned_run import check, ended, only_run, started, statuses

from orchestrator.errors import ExitCode
from orchestrator.running.runs import RunState, list_runs

DRAWN = random.Random(commit())
MOMENTS = [round(DRAWN.random(), 3) for _ in range(4)]


def torchmatrix(*arguments: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", "from orchestrator.cli import main; main()", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def whole(*arguments: str) -> tuple[int, float]:
    """The exit code of a command that is left to its end, and the seconds that it took."""
    begun = time.monotonic()
    with torchmatrix(*arguments) as process:
        pass
    return process.returncode, time.monotonic() - begun


def killed(part: float, took: float, *arguments: str) -> None:
    """Kills a command after a part of the time that it takes."""
    with torchmatrix(*arguments) as process:
        time.sleep(part * took)
        process.kill()


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != "lock"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("run")
    ended(started("run", place, "pass", "fail", "pass"), 0)
    return only_run(place)


def test_a_merge_that_was_killed_is_whole_after_the_next(run: Path, tmp_path: Path) -> None:
    def merge(out: Path) -> list[str]:
        return ["merge", "--plan", str(run / "plan.json"), "--out", str(out), *map(str, run.glob("cells/*/attempt-1"))]

    code, took = whole(*merge(tmp_path / "once"))
    assert code == ExitCode.NOT_PASSED
    for part in MOMENTS:
        killed(part, took, *merge(tmp_path / "often"))
        assert whole(*merge(tmp_path / "often"))[0] == code, part
        assert files(tmp_path / "often") == files(tmp_path / "once"), part


@pytest.mark.parametrize("part", MOMENTS[:2])
def test_runs_whose_removal_was_killed_are_none_and_go_with_the_next(run: Path, tmp_path: Path, part: float) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for number in range(30):
        subprocess.run(["cp", "-r", str(run), str(runs / f"20261101T0000{number:02}Z-0001")], check=True)
    gc = ("runs", "gc", "--keep", "0", "--runs", str(runs))
    _, took = whole(*gc[:-2], "--dry-run", *gc[-2:])
    killed(0.6 + 0.6 * part, took, *gc)
    assert {found.state for found in list_runs(runs)} <= {RunState.DONE}
    assert whole(*gc)[0] == ExitCode.GOOD
    assert list(runs.iterdir()) == []


@pytest.mark.parametrize("part", MOMENTS)
def test_a_run_that_was_killed_at_any_moment_is_resumed_without_doubling(tmp_path: Path, part: float) -> None:
    with started("run", tmp_path, "pass", "fail", "pass") as process:
        time.sleep(0.5 + 2.0 * part)
        process.kill()
    for _ in range(2):  # where it was killed before it began there is nothing to resume
        if not any(tmp_path.glob("*/plan.json")):
            return
        ended(started("resume", only_run(tmp_path)), 0)
    assert statuses(only_run(tmp_path)) == ["passed", "failed", "passed"]
    check(only_run(tmp_path))
