"""Two writers of one run: the verbs that write into its folder take its lock first."""

import json
import re
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


# What a verb does when another writer comes at the moment in which it makes the page.
WHILE_REPORTING = """
import sys
from orchestrator import cli
from orchestrator.running import lock, run as running
verb = sys.modules["orchestrator.cli.run"]
report = sys.modules["orchestrator.cli.report"]
make, fails = report.report, sys.argv.pop(1)
def contended(done, folder, **how):
    try:
        with lock.held(folder):
            print("nobody holds it", file=sys.stderr)
    except lock.Taken as taken:
        print(taken, file=sys.stderr)
    make(done, folder, **how)
verb.report = report.report = contended
if fails:
    def ends(*given, **how):
        run(*given, **how)
        raise running.Interrupted("stopped")
    run, running.run_plan = running.run_plan, ends
cli.main()
"""


@pytest.mark.parametrize("fails", ["", "fails"])
@pytest.mark.parametrize("resumed", [False, True])
def test_a_run_is_held_until_its_page_is_there(
    torchmatrix: Run, run: Path, tmp_path: Path, *, fails: str, resumed: bool
) -> None:
    runs = tmp_path / "runs"
    command = ["run", "--plan", str(run / "plan.json"), "--runs", str(runs)]
    if resumed:
        torchmatrix(*command)
        command = ["run", "--resume", *map(str, runs.iterdir())]
    line = [sys.executable, "-c", WHILE_REPORTING, fails, *command]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60)
    (made,) = runs.iterdir()
    assert re.search(r"process \d+ is writing this run", done.stderr), done.stderr
    assert "nobody holds it" not in done.stderr
    assert (made / "report.html").is_file()
    assert (made / "lock").read_bytes() == b""


def test_a_resume_that_is_refused_changes_nothing(torchmatrix: Run, run: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    torchmatrix("run", "--plan", str(run / "plan.json"), "--runs", str(runs))
    (made,) = runs.iterdir()
    plan = json.loads((made / "plan.json").read_text())
    (made / "plan.json").write_text(json.dumps(plan))  # the same in another form: somebody has touched it
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in made.iterdir()}
    done = torchmatrix("run", "--resume", str(made))
    assert (done.returncode, done.stdout) == (ExitCode.BAD_INPUT, "")
    assert "the plan was changed since the run began" in done.stderr
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in made.iterdir() if path.name != "lock"}
    assert after == {path: seen for path, seen in before.items() if path.name != "lock"}


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


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (b'"\xff"', "it is no plan: 'utf-8' codec can't decode byte 0xff"),
        (b"[" * 5000 + b"]" * 5000, "nested too deep"),
    ],
)
def test_a_plan_that_is_damaged_where_nobody_looks_is_no_plan(
    torchmatrix: Run, run: Path, value: bytes, told: str
) -> None:
    plan = run / "plan.json"
    plan.write_bytes(plan.read_bytes().rstrip().removesuffix(b"}") + b', "unknown": ' + value + b"}")
    done = torchmatrix("merge", str(run), "--plan", str(plan), "--out", str(run.parent / "merged"))
    assert done.returncode == ExitCode.BAD_INPUT, done.stderr
    assert f"{plan}: " in done.stderr
    assert told in done.stderr


@pytest.mark.parametrize("verb", ["merge", "resume"])
def test_a_file_of_somebody_that_is_named_lock_stays(torchmatrix: Run, run: Path, verb: str) -> None:
    (run / "lock").write_text("the combination is 12-34-56\n")
    command = ("run", "--resume", str(run))
    if verb == "merge":
        command = ("merge", str(run), "--plan", str(run / "plan.json"), "--out", str(run))
    done = torchmatrix(*command)
    assert done.returncode == ExitCode.BAD_INPUT, done.stderr
    assert f"{run}/lock: this is not the lock of a run: something else is written in it" in done.stderr
    assert sorted(path.name for path in run.iterdir()) == ["lock", "plan.json"]
    assert (run / "lock").read_text() == "the combination is 12-34-56\n"


def test_a_run_in_which_nothing_can_run_is_an_error_that_says_why_and_is_reported(torchmatrix: Run) -> None:
    done = torchmatrix("run", "--here", "--engine", "here", "--select", "train", "--json")
    assert done.returncode == ExitCode.NOTHING_SELECTED
    assert "nothing was run: 1 unplaced (" in done.stderr
    assert "needs driver 580 and 8" in done.stderr
    assert "hint: `torchmatrix plan`" in done.stderr
    assert [cell["status"] for cell in json.loads(done.stdout)["cells"]] == ["unplaced"]


def test_a_run_is_resumed_by_its_id_alone_and_asks_for_no_more_than_it_did(torchmatrix: Run, tmp_path: Path) -> None:
    begun = torchmatrix("run", "--here", "--engine", "here", "--select", "train", "--runs", "mine")
    (folder,) = (tmp_path / "mine").iterdir()
    assert begun.returncode == ExitCode.NOTHING_SELECTED
    again = torchmatrix("run", "--resume", folder.name, "--runs", "mine")
    assert again.returncode == ExitCode.NOTHING_SELECTED, again.stderr  # and not that of an unplaced production row
    assert f"run: {folder}\n" in again.stderr
    lost = torchmatrix("run", "--resume", "20261130T000000Z-0000", "--runs", "mine")
    assert (lost.returncode, "mine/20261130T000000Z-0000: there is no run" in lost.stderr) == (2, True)
