"""The grid and the plan as they are printed."""

import re
from collections.abc import Callable

import msgspec
import pytest
from ci_servers import acts

from orchestrator import text
from orchestrator.model import Cost, Plan, Run
from orchestrator.reports import overview, terminal
from orchestrator.reports.columns import width_of
from orchestrator.reports.plan_table import plan_table
from orchestrator.vocabulary import Status

ANSI = re.compile(r"\x1b\[[0-9;]*m")
Golden = Callable[[str, str], None]


def both(run: Run, width: int) -> str:
    grid = terminal.grid(run, width=width, colour=False)
    return f"{grid}\n{plan_table(run.plan, width=width, colour=False)}"


@pytest.mark.parametrize("width", [80, 160])
def test_the_grid_reads_as_it_always_has(every_status: Run, golden: Golden, width: int) -> None:
    golden(f"grid-{width}.txt", terminal.grid(every_status, width=width, colour=False) + "\n")


@pytest.mark.parametrize("width", [80, 100, 200])
def test_every_cell_is_there_by_its_whole_id(every_status: Run, width: int) -> None:
    grid = terminal.grid(every_status, width=width, colour=False)
    plan = plan_table(every_status.plan, width=width, colour=False)
    for cell in every_status.plan.cells:
        assert cell.id in grid
        assert cell.id in plan


def test_the_verdict_comes_first(every_status: Run) -> None:
    assert terminal.grid(every_status, width=200, colour=False).startswith(
        overview.headline(every_status.results) + "\n"
    )


def test_what_did_not_pass_comes_before_what_did(every_status: Run) -> None:
    grid = terminal.grid(every_status, width=200, colour=False)
    rows = [line.split()[0] for line in grid.split("\n") if line and line.split()[0] in set(Status)]
    assert rows == [*overview.PROBLEMS, "crashed", "fell-back", "passed", "passed"]


def test_each_problem_has_its_line_to_paste_and_nothing_else_has(every_status: Run) -> None:
    lines = terminal.grid(every_status, width=80, colour=False).split("\n")
    pasted = [line.strip() for line in lines if line.startswith("  torchmatrix run --select")]
    cells = overview.planned(every_status)
    assert pasted == [overview.rerun(cells[result.id], every_status.plan) for result in overview.problems(every_status)]


@pytest.mark.parametrize("width", [80, 100, 200])
def test_only_what_must_stay_whole_is_wider_than_the_terminal(every_status: Run, hostile: Run, width: int) -> None:
    for run in (every_status, hostile):
        shown = both(run, width)
        ids = [text.one_line(cell.id, 127) for cell in run.plan.cells]
        wide = [line for line in shown.split("\n") if width_of(line) > width]
        assert [line for line in wide if not any(cell in line for cell in ids) and "--resume" not in line] == []


def test_colour_adds_nothing_that_is_not_also_a_word(every_status: Run) -> None:
    plain = terminal.grid(every_status, width=120, colour=False)
    coloured = terminal.grid(every_status, width=120, colour=True)
    assert "\x1b" not in plain
    assert coloured != plain
    assert ANSI.sub("", coloured) == plain
    plan = every_status.plan
    assert ANSI.sub("", plan_table(plan, width=120, colour=True)) == plan_table(plan, width=120, colour=False)


@pytest.mark.parametrize(
    ("kept", "colour"),
    [
        ({Status.PASSED, Status.UNPLACED}, "32"),
        ({Status.PASSED, Status.NOT_RUN}, "33"),
        ({Status.PASSED, Status.OOM}, "1;31"),
    ],
)
def test_the_verdict_has_the_colour_of_the_worst(every_status: Run, kept: set[Status], colour: str) -> None:
    run = msgspec.structs.replace(
        every_status, results=tuple(one for one in every_status.results if one.status in kept)
    )
    assert terminal.grid(run, width=120, colour=True).startswith(f"\x1b[{colour}m")


def test_a_run_that_was_stopped_says_how_it_is_finished(every_status: Run) -> None:
    line = overview.resume("runs/r1", ("--here",))
    shown = terminal.grid(every_status, width=80, colour=False, resume=line)
    assert f"To finish it:\n  {line}\n" in shown
    assert "This run is not complete.\n" in terminal.grid(every_status, width=80, colour=False)  # a merge of bundles
    finished = msgspec.structs.replace(every_status, complete=True)
    assert "--resume" not in terminal.grid(finished, width=80, colour=False, resume=line)


# reliability rows 22 and 36, boundary B5: names, messages and notes from outside
@pytest.mark.parametrize("width", [40, 80, 200])
def test_nothing_from_outside_acts_on_a_terminal_or_a_ci_server(hostile: Run, width: int) -> None:
    for line in both(hostile, width).split("\n"):
        assert text.visible(line) == line
        assert "\t" not in line
        assert not acts(line), line
        assert line == "" or line.split()[0] not in {"::error", "section_start:1:owned", "javascript:alert(1)"}, line


def test_what_looks_like_markup_is_shown_as_it_is(hostile: Run) -> None:
    assert "<script>alert(1)</script>" in terminal.grid(hostile, width=200, colour=False)


def test_a_run_of_nothing_says_so() -> None:
    cost = Cost(cells=0, placed=0, unplaced=0, images=0, minutes=0.2, gpu_hours=0, money=0, build_bytes=0)
    plan = Plan(matrix="matrix.yaml", cells=(), left_out=(), cost=cost)
    empty = Run(id="r", plan=plan, results=(), complete=True)
    assert terminal.grid(empty, width=80, colour=False) == "0 cells"
