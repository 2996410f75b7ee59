"""What every report says first: nothing is lost from the totals, and the worst is said."""

from typing import Any

import msgspec
import pytest

from orchestrator import text
from orchestrator.model import Run
from orchestrator.reports import html, overview, terminal
from orchestrator.reports.plan_table import plan_table
from orchestrator.vocabulary import Status, Tier, Verdict


def only(run: Run, *statuses: Status) -> Run:
    kept = tuple(result for result in run.results if result.status in statuses)
    cells = {result.id for result in kept}
    plan = msgspec.structs.replace(run.plan, cells=tuple(cell for cell in run.plan.cells if cell.id in cells))
    return msgspec.structs.replace(run, plan=plan, results=kept)


def test_each_status_belongs_to_one_kind() -> None:
    kinds = (*overview.GOOD, *overview.PROBLEMS, *overview.UNFINISHED, *overview.NOT_HERE)
    assert sorted(kinds) == sorted(Status)


def test_planned_is_the_sum_over_the_statuses(every_status: Run) -> None:
    counted = overview.totals(every_status.results)
    assert counted.keys() == set(Status)
    assert sum(counted.values()) == len(every_status.plan.cells) == 16


def test_the_headline_says_how_many_were_expected(every_status: Run) -> None:
    assert overview.headline(every_status.results) == (
        "16 cells: 2 passed, 1 fell-back, 1 failed, 2 crashed (1 known), 1 crashed-at-exit, 1 timeout, 1 oom, "
        "1 mismatch, 1 error, 1 cancelled, 1 not-run, 2 unplaced, 1 unsupported"
    )
    known = [result for result in every_status.results if result.known_issue]
    assert overview.headline(known) == "1 cell: 1 crashed (known)"
    assert overview.headline(()) == "0 cells"


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        (tuple(Status), "7 of 16 cells did not pass"),
        ((Status.PASSED, Status.OOM), "1 of 3 cells did not pass"),
        ((Status.PASSED, Status.NOT_RUN), "1 of 3 cells did not finish"),
        ((Status.PASSED, Status.FELL_BACK, Status.UNPLACED), "All that ran passed: 3 cells"),
        ((Status.UNPLACED,), "No cell ran"),
        ((), "No cell ran"),
    ],
)
def test_the_verdict_is_the_worst_that_can_be_said(
    every_status: Run, statuses: tuple[Status, ...], verdict: str
) -> None:
    assert overview.verdict(only(every_status, *statuses)) == verdict


def test_a_known_failure_alone_is_no_problem(every_status: Run) -> None:
    run = only(every_status, Status.CRASHED, Status.PASSED)
    expected = msgspec.structs.replace(
        run, results=tuple(one for one in run.results if one.status is Status.PASSED or one.known_issue)
    )
    assert overview.problems(expected) == []
    assert overview.verdict(expected) == "2 cells passed, 1 failed as known"


def test_what_did_not_pass_comes_by_status(every_status: Run) -> None:
    assert [result.status for result in overview.problems(every_status)] == list(overview.PROBLEMS)


@pytest.mark.parametrize(
    ("changes", "matrix", "line"),
    [
        ({}, "matrix.yaml", "torchmatrix run --select torch2.13.0-cpu-py3.11-f5005687"),
        ({"tier": Tier.EDGE}, "matrix.yaml", "torchmatrix run --select torch2.13.0-cpu-py3.11-f5005687 --tier edge"),
        ({}, "", "torchmatrix run --select torch2.13.0-cpu-py3.11-f5005687"),
        ({}, "a b.yaml", "torchmatrix run --select torch2.13.0-cpu-py3.11-f5005687 --matrix 'a b.yaml'"),
        ({"id": "x; rm -rf ~"}, "", "torchmatrix run --select 'x; rm -rf ~'"),
        ({"id": "x\ny\x1b[2J"}, "", "torchmatrix run --select 'x y'"),
    ],
)
def test_the_line_to_paste_runs_that_cell_and_nothing_else(
    every_status: Run, changes: dict[str, object], matrix: str, line: str
) -> None:
    cell = msgspec.structs.replace(every_status.plan.cells[0], **changes)
    assert overview.rerun(cell, msgspec.structs.replace(every_status.plan, matrix=matrix)) == line


def test_the_line_that_finishes_a_run_is_quoted(every_status: Run) -> None:
    assert overview.resume("runs/20261009-101500-4f2a") == "torchmatrix run --resume runs/20261009-101500-4f2a"
    assert overview.resume("/my runs/a", ("--here",)) == "torchmatrix run --here --resume '/my runs/a'"
    assert overview.resume("a", ("--matrix", "x; y")) == "torchmatrix run --matrix 'x; y' --resume a"


def test_a_cell_is_run_again_as_the_run_was_asked(every_status: Run) -> None:
    cell = every_status.plan.cells[0]
    asked = ("--engine", "process", "--runs", "my runs", "--here")
    line = f"torchmatrix run --select {cell.id} --engine process --runs 'my runs' --here"
    assert overview.rerun(cell, every_status.plan, asked) == line
    failed = msgspec.structs.replace(
        every_status,
        results=tuple(
            msgspec.structs.replace(result, status=Status.FAILED, known_issue="") for result in every_status.results
        ),
    )
    assert line in terminal.grid(failed, width=300, colour=False, asked=asked)
    assert "--engine process --runs &#39;my runs&#39; --here" in html.report(failed, asked=asked)


def test_an_expected_failure_is_not_among_the_failing_cases(every_status: Run) -> None:
    failing = {result.status: len(overview.failing(result)) for result in every_status.results if result.cases}
    assert failing == {Status.PASSED: 0, Status.FAILED: 5}


@pytest.mark.parametrize(
    ("duration", "shown"),
    [
        (0, ""),
        (0.2, "0 s"),
        (41.4, "41 s"),
        (59.6, "1 min 00 s"),
        (192, "3 min 12 s"),
        (3600, "1 h 00 min"),
        (7559, "2 h 05 min"),
    ],
)
def test_span(duration: float, shown: str) -> None:
    assert overview.span(duration) == shown


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (5 << 20, "5 MiB"), (3 << 30, "3.0 GiB")]
)
def test_size(count: int, shown: str) -> None:
    assert overview.size(count) == shown


@pytest.mark.parametrize(("count", "shown"), [(0, "0 cells"), (1, "1 cell"), (2, "2 cells")])
def test_counting(count: int, shown: str) -> None:
    assert text.counting(count, "cell") == shown


@pytest.mark.parametrize(
    ("until", "today", "told", "column"),
    [
        (None, "2026-11-30", "supported", ""),
        ("2028-06-30", "2026-11-30", "supported until 2028-06-30", "2028-06-30"),
        ("2026-11-30", "2026-11-30", "supported until 2026-11-30", "2026-11-30"),  # its last day
        ("2026-07-11", "2026-11-30", "supported, ended 2026-07-11", "ended 2026-07-11"),
        ("2026-07-11", "", "supported until 2026-07-11", "2026-07-11"),
    ],
)
def test_an_end_of_support_that_is_past_does_not_read_as_support(
    until: str | None, today: str, told: str, column: str
) -> None:
    assert overview.lasting("supported", until, today) == told
    assert overview.in_column(until, today) == column


def test_a_page_counts_from_the_day_of_its_run(every_status: Run) -> None:
    def begun(run: Run, day: str) -> Run:
        return msgspec.convert(_dated(msgspec.to_builtins(run), day), Run)

    assert overview.last_day(msgspec.structs.replace(every_status, results=())) == ""
    run = begun(every_status, "2026-11-30")
    assert overview.last_day(run) == "2026-11-30"
    said = msgspec.structs.replace(
        run.plan.cells[0].support, verdict=Verdict.SUPPORTED, because="x", supported_until="2026-07-11"
    )
    cells = (msgspec.structs.replace(run.plan.cells[0], support=said), *run.plan.cells[1:])
    run = msgspec.structs.replace(run, plan=msgspec.structs.replace(run.plan, cells=cells))
    assert "supported: x, ended 2026-07-11" in html.report(run)
    assert "supported: x, until 2026-07-11" in html.report(begun(run, "2026-07-11"))
    assert "supported, ended 2026-07-11" in plan_table(run.plan, width=200, colour=False, today="2026-11-30")


def _dated(value: Any, day: str) -> Any:
    """The same with every `started` on that day."""
    if isinstance(value, dict):
        return {
            key: f"{day}T10:00:00.000+00:00" if key == "started" else _dated(one, day) for key, one in value.items()
        }
    return [_dated(one, day) for one in value] if isinstance(value, list | tuple) else value
