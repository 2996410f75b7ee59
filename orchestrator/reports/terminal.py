"""A run as plain text for a terminal: what needs a reader first, every word readable without colour."""

from collections.abc import Iterable, Mapping, Sequence

from orchestrator import text
from orchestrator.model import CellResult, Coverage, Plan, PlannedCell, Run
from orchestrator.reports import covered, overview
from orchestrator.reports.columns import BAR, GAP, Column, Line, fenced, page, painted, table, wrap
from orchestrator.vocabulary import Status

_CASES_SHOWN = 3
_COLOURS: Mapping[Status, str] = (
    dict.fromkeys(overview.PROBLEMS, "1;31")
    | dict.fromkeys((*overview.UNFINISHED, Status.FELL_BACK), "33")
    | {Status.PASSED: "32"}
    | dict.fromkeys(overview.NOT_HERE, "2")
)


def grid(run: Run, *, width: int, colour: bool, resume: str = "", asked: Sequence[str] = ()) -> str:
    """The run in one table, under a line that says it all; what did not pass comes first.

    `resume` is the line that finishes the run, where there is one: a merge of bundles has none. `asked` are the options
    with which a cell is run again as it was.
    """
    columns = (
        Column(name="status"),
        Column(name="row"),
        Column(name="cases", optional=True),
        Column(name="time", optional=True),
        Column(name="cell"),
    )
    cells = overview.planned(run)
    expected = [result for result in overview.with_status(run, overview.PROBLEMS) if result.known_issue]
    good = overview.with_status(run, (Status.FELL_BACK, Status.PASSED))
    ran = [*overview.problems(run), *expected, *good]
    return page(
        [painted(line, _verdict_colour(run) if colour else "") for line in wrap(overview.headline(run.results), width)],
        _unfinished(run, resume),
        *_groups(run, overview.UNFINISHED, width),
        table(columns, [_line(result, cells[result.id], run.plan, colour, asked) for result in ran], width),
        *_groups(run, overview.NOT_HERE, width),
        *(_covered(one, run, width) for one in run.plan.coverage),
        _known_issues(run, width),
        [line for note in run.notes for line in fenced(f"note: {text.one_line(note)}", width)],
    )


def _verdict_colour(run: Run) -> str:
    seen = overview.totals(result for result in run.results if not result.known_issue)
    worst = next((status for status in (*overview.PROBLEMS, *overview.UNFINISHED) if status in seen), Status.PASSED)
    return _COLOURS[worst]


def _line(result: CellResult, cell: PlannedCell, plan: Plan, colour: bool, asked: Sequence[str]) -> Line:
    problem = result.status in overview.PROBLEMS and not result.known_issue
    return Line(
        values=(
            result.status.value,
            text.one_line(cell.name, 40),
            overview.cases(result),
            overview.span(overview.seconds(result)),
            text.one_line(result.id, 127),
        ),
        below=(*_reasons(result), *(f"note: {text.one_line(note)}" for note in result.notes)),
        paste=overview.rerun(cell, plan, asked) if problem else "",
        colour=_colour_of(result) if colour else "",
    )


def _colour_of(result: CellResult) -> str:
    return _COLOURS[Status.FELL_BACK if result.known_issue else result.status]


def _reasons(result: CellResult) -> Iterable[str]:
    if result.status is Status.PASSED:
        return
    yield overview.caused(result)
    if result.known_issue:
        yield f"known issue: {text.one_line(result.known_issue)}"
    failing = overview.failing(result)
    for case in failing[:_CASES_SHOWN]:
        yield f"{case.outcome} {text.one_line(case.name, 120)}: {text.one_line(case.message, 160)}"
    more = result.counts.failed + result.counts.error - len(failing[:_CASES_SHOWN])
    if failing and more > 0:
        yield f"and {text.counting(more, 'more case')}"


def _unfinished(run: Run, resume: str) -> list[str]:
    """That the run is not whole, and what to paste to finish it."""
    if run.complete:
        return []
    return ["This run is not complete. To finish it:", GAP + resume] if resume else ["This run is not complete."]


def _groups(run: Run, statuses: tuple[Status, ...], width: int) -> list[list[str]]:
    """Cells of which nothing is to be said but a reason that many of them share."""
    cells = overview.planned(run)
    found: dict[tuple[Status, str], list[str]] = {}
    for result in overview.with_status(run, statuses):
        name = f"{BAR}{GAP}{text.one_line(result.id, 127)} ({text.one_line(cells[result.id].name, 60)})"
        found.setdefault((result.status, overview.caused(result)), []).append(name)
    return [
        [f"{text.counting(len(names), 'cell')} {status}", *fenced(reason, width), *names]
        for (status, reason), names in found.items()
    ]


def _covered(one: Coverage, run: Run, width: int) -> list[str]:
    return [*wrap(f"{covered.counts(one)}, {covered.run(one, run)} run", width), *fenced(covered.axes(one), width)]


def _known_issues(run: Run, width: int) -> list[str]:
    met: dict[str, int] = {}
    for result in run.results:
        for issue in {result.known_issue, *(case.known_issue for case in result.cases)} - {""}:
            met[issue] = met.get(issue, 0) + 1
    lines = [f"{text.one_line(issue)} (in {text.counting(count, 'cell')})" for issue, count in sorted(met.items())]
    return ["known issues met", *(line for issue in lines for line in fenced(issue, width))] if lines else []
