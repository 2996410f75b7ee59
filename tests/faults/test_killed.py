"""Merges, removals and runs that are killed at moments nobody chose: the next one finishes, nothing is doubled.

The moments are drawn from all that the program does between its first trace on the disk and its end; they change with
the commit. Each is told with the test.
"""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from crash_matrix import commit
from planned_run import TINY, check, ended, only_run, started, statuses

from orchestrator.errors import ExitCode
from orchestrator.running.runs import RunState, list_runs

DRAWN = random.Random(commit())
MOMENTS = [round(DRAWN.random(), 3) for _ in range(4)]
PROGRAM = TINY.parent / "killed_at.py"
RUN = str(TINY.parent / "planned_run.py")


def did(begin: str, seen: Path, *arguments: str, at: int = 0) -> int:
    """The exit code of a program of ours that is killed at this of the things that it does, or left to its end."""
    command = [sys.executable, str(PROGRAM), str(at), begin, str(seen), *arguments]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60, check=False)
    assert at or int(seen.read_text()) > 0, f"it never came to `{begin}`: {done.stderr!r}"
    return done.returncode


def killed(part: float, begin: str, seen: Path, *arguments: str) -> None:
    """Kills it after a part of what it did when it was left to its end: it lives and is at it until then."""
    things = int(seen.read_text())
    code = did(begin, seen, *arguments, at=1 + int(0.9 * part * things))  # threads do a few more or less each time
    assert code == -signal.SIGKILL, f"it had ended with {code} before thing {1 + int(0.9 * part * things)} of {things}"


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != "lock"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("run")
    ended(started("run", place, "pass", "fail", "pass"), 0)
    return only_run(place)


def test_a_merge_that_was_killed_is_whole_after_the_next(run: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen"

    def merge(out: str) -> list[str]:
        bundles = map(str, run.glob("cells/*/attempt-1"))
        return ["torchmatrix", "merge", "--plan", str(run / "plan.json"), "--out", str(tmp_path / out), *bundles]

    assert did(f"{tmp_path}/once/", seen, *merge("once")) == ExitCode.NOT_PASSED
    for part in MOMENTS:
        killed(part, f"{tmp_path}/often/", seen, *merge("often"))
        assert did(f"{tmp_path}/often/", tmp_path / "again", *merge("often")) == ExitCode.NOT_PASSED, part
        assert files(tmp_path / "often") == files(tmp_path / "once"), part


@pytest.mark.parametrize("part", MOMENTS[:2])
def test_runs_whose_removal_was_killed_are_none_and_go_with_the_next(run: Path, tmp_path: Path, part: float) -> None:
    seen = tmp_path / "seen"

    def gc(runs: Path) -> list[str]:
        for number in range(5):
            subprocess.run(["cp", "-rT", str(run), str(runs / f"20261101T0000{number:02}Z-0001")], check=True)
        return ["torchmatrix", "runs", "gc", "--keep", "0", "--runs", str(runs)]

    for name in ("once", "often"):
        (tmp_path / name).mkdir()
    assert did(".going-", seen, *gc(tmp_path / "once")) == ExitCode.GOOD
    left = tmp_path / "often"
    killed(part, ".going-", seen, *gc(left))
    assert list(left.iterdir())
    assert {found.state for found in list_runs(left)} <= {RunState.DONE}
    again = ["torchmatrix", "runs", "gc", "--keep", "0", "--runs", str(left)]
    assert did(str(left), tmp_path / "again", *again) == ExitCode.GOOD
    assert list(left.iterdir()) == []


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """How much a run does from its journal's first line on."""
    place = tmp_path_factory.mktemp("things")
    assert did("/journal.jsonl", place / "seen", RUN, "run", str(place / "runs"), "pass", "fail", "pass") == 0
    return place / "seen"


@pytest.mark.parametrize("part", MOMENTS)
def test_a_run_that_was_killed_at_any_moment_is_resumed_without_doubling(
    things: Path, tmp_path: Path, part: float
) -> None:
    killed(part, "/journal.jsonl", things, RUN, "run", str(tmp_path), "pass", "fail", "pass")
    run = only_run(tmp_path)
    if not (run / "plan.json").exists():  # nothing was begun
        ended(started("resume", run), 2)
        return
    for _ in range(2):
        ended(started("resume", run), 0)
    assert statuses(run) == ["passed", "failed", "passed"]
    check(run)
