"""The process engine where paths are what nobody expects, and what gets away from it."""

import os
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from msgspec.structs import replace
from planned_run import is_gone

from orchestrator.engines.process.run import ProcessEngine
from orchestrator.engines.task import INPUTS, RESULTS, Task
from orchestrator.model import Image
from orchestrator.vocabulary import Step

MakeTask = Callable[..., Task]
NAMES = ["a b", "'", '"', "';id;'", "$(touch owned)", "`id`", "ü 漢", "-rf", "%s{}", "\\", "a\nb", "*"]
CODE = (
    "import os, sys, suites; open(sys.argv[2] + '/junit.xml', 'w').write('<x/>'); print(os.path.dirname(sys.argv[1]))"
)


def in_place(task: Task, place: Path) -> Task:
    """The task with its suites, its Python and its results below a folder of that name."""
    place.mkdir()
    (place / "suites").symlink_to(task.suites / "suites")
    (place / "python").symlink_to(sys.executable)
    image = Image(id="i", name="i", ref=str(place / "python"), axes={}, observed={})
    return replace(task, suites=place, image=image, out=place / "out")


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_any_name_of_a_folder_is_only_a_name(
    make_task: MakeTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    task = in_place(make_task(argv=("-c", CODE, INPUTS, RESULTS)), tmp_path / name)
    monkeypatch.setattr(tempfile, "tempdir", str(task.suites))
    seen = ProcessEngine().run(task, lambda _: nullcontext()).exit
    assert (seen.code, seen.problem, seen.files) == (0, "", ("junit.xml",)), seen.log
    assert seen.log.head.startswith(str(task.suites))
    assert not (tmp_path / "owned").exists()
    assert {path.name for path in task.suites.iterdir()} == {"suites", "python", "out"}


def test_a_folder_that_no_import_path_can_hold_is_refused(
    make_task: MakeTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a:b").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "a:b"))
    seen = ProcessEngine().run(make_task("", ref=sys.executable), lambda _: nullcontext()).exit
    assert (seen.code, seen.step) == (None, Step.CREATE)
    assert "a folder with `:` in its name" in seen.problem


LEAVES = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        if {forgets}: os.execve(sys.executable, [sys.executable, "-c", {sleeps!r}], {{}})
        exec({sleeps!r})
    os._exit(0)
time.sleep(0.5)
"""
SLEEPS = "import os, time; open({place!r}, 'w').write(str(os.getpid())); time.sleep(60)"


@pytest.mark.parametrize("forgets", [False, True])
def test_who_leaves_the_session_is_found_by_its_environment_and_by_nothing_else(
    make_task: MakeTask, tmp_path: Path, forgets: bool
) -> None:
    """The limit of an engine without containers, and told with each attempt: only a cgroup holds on to everybody."""
    sleeps = SLEEPS.format(place=str(tmp_path / "pid"))
    task = make_task(LEAVES.format(forgets=forgets, sleeps=sleeps), ref=sys.executable)
    attempt = ProcessEngine().run(task, lambda _: nullcontext())
    pid = (tmp_path / "pid").read_text()
    try:
        assert attempt.exit.code == 0
        assert is_gone(pid) is not forgets
        assert "what leaves its session and its environment outlives it" in attempt.relaxed[0]
    finally:
        if not is_gone(pid):
            os.kill(int(pid), signal.SIGKILL)


@pytest.mark.parametrize("and_then", ["", "import os; os.unlink(file.name)"])
def test_a_cell_that_fills_the_disk_with_results_is_ended(
    make_task: MakeTask, monkeypatch: pytest.MonkeyPatch, and_then: str
) -> None:
    monkeypatch.setattr("orchestrator.engines.quota.RESULTS_BYTES", 8 << 20)
    code = f"import sys, time\nfile = open(sys.argv[2] + '/x', 'wb')\n{and_then}\n"
    code += "while True: file.write(bytes(1 << 20)); time.sleep(.02)"
    seen = ProcessEngine().run(make_task(code, ref=sys.executable), lambda _: nullcontext()).exit
    assert "the cell wrote more than 8 MiB into its results folder" in seen.problem
    assert seen.step is Step.WAIT
    assert seen.files == ()
