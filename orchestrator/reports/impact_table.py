"""What a change, or the time, does to production, as plain text: who needs somebody, then what testing costs."""

import shlex
from collections import Counter
from collections.abc import Sequence

from orchestrator import text
from orchestrator.model import Impact, RowImpact
from orchestrator.reports.answer import COLOURS
from orchestrator.reports.columns import GAP, Column, Line, fenced, listed, painted, table, wrap
from orchestrator.reports.columns import page as stacked
from orchestrator.reports.overview import in_column, takes
from orchestrator.reports.said import because, deciding
from orchestrator.vocabulary import WORKS, WORST_FIRST, Verdict


def page(impact: Impact, *, width: int, colour: bool) -> str:
    """The rows that the change concerns in one table, the others by why it does not, the tests and the plan file."""
    touched = [row for row in impact.rows if not row.unchanged]
    if impact.later is None:  # the time is told by what ends first
        touched.sort(key=lambda row: WORST_FIRST.index(row.after.verdict))
    columns = [Column(name=name) for name in ("after", "before", "row", "moves with it", "tested", "supported until")]
    return stacked(
        [painted(line, _colour_of(touched) if colour else "") for line in wrap(_headline(impact, touched), width)],
        table(columns, [_line(row, impact.on, colour=colour) for row in touched], width),
        _unchanged(impact.rows, width),
        _tests(impact, touched, width),
    )


def _headline(impact: Impact, touched: Sequence[RowImpact]) -> str:
    what = f"up to {impact.later}" if impact.later else text.pairs(impact.change)
    counted = Counter(row.after.verdict for row in touched)
    said = ", ".join(f"{counted[verdict]} {verdict.value}" for verdict in reversed(WORST_FIRST) if counted[verdict])
    return f"{what}: {len(touched)} of {text.counting(len(impact.rows), 'row')} concerned" + (
        f": {said}" if said else ""
    )


def _colour_of(touched: Sequence[RowImpact]) -> str:
    verdicts = {row.after.verdict for row in touched}
    return COLOURS[next((verdict for verdict in WORST_FIRST if verdict in verdicts), Verdict.SUPPORTED)]


def _line(row: RowImpact, on: str, *, colour: bool) -> Line:
    return Line(
        values=(
            row.after.verdict.value,
            row.before.verdict.value,
            text.one_line(row.name, 40),
            _moves(row),
            _tested(row),
            in_column(row.final.supported_until, on) if row.final.verdict in WORKS else "",
        ),
        below=_below(row),
        colour=COLOURS[row.after.verdict] if colour else "",
    )


def _moves(row: RowImpact) -> str:
    if row.moves:
        then = "" if row.moves.state.verdict is Verdict.SUPPORTED else f" (then {row.moves.state.verdict.value})"
        return text.pairs(row.moves.change) + then
    if row.after.verdict is Verdict.UNKNOWN:
        return "not known"
    return "nothing helps" if row.blocked else "nothing"


def _tested(row: RowImpact) -> str:
    if row.cell is None:
        return ""
    if not row.observed:
        return "never"
    newest = row.observed[0]
    return f"{newest.status.value} in {text.one_line(newest.run, 40)}"


def _below(row: RowImpact) -> tuple[str, ...]:
    """Why the row is not supported afterwards, and what keeps every move from helping."""
    reasons = [] if row.after.verdict is Verdict.SUPPORTED else deciding(row.after)
    told = [because(reason) for reason in reasons]
    topics = {line.partition(":")[0] for line in told}  # said of less than the whole row, it is the same again
    if row.blocked and because(row.blocked).partition(":")[0] not in topics:
        told.append(because(row.blocked))
    return tuple(told)


def _unchanged(rows: Sequence[RowImpact], width: int) -> list[str]:
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.unchanged:
            found.setdefault(row.unchanged, []).append(row.name)
    lines = [f"{text.counting(sum(map(len, found.values())), 'row')} unchanged"] if found else []
    for why, names in found.items():
        lines += fenced(f"{len(names)}: {text.one_line(why)}", width)
        lines += listed(names, width)
    return lines


def _tests(impact: Impact, touched: Sequence[RowImpact], width: int) -> list[str]:
    cells = {row.cell for row in touched if row.cell}
    if not cells:
        return ["There is nothing to test."]
    cost = impact.cost
    never = f"{cost.cells} never run: {takes(cost)}" if cost.cells else "all were run before"
    return [*wrap(f"{text.counting(len(cells), 'cell')} to test, {never}", width), *_paste(impact.plan)]


def _paste(plan: str) -> list[str]:
    shown = text.one_line(plan)
    return [f"plan     {shown}", f"{GAP}torchmatrix run --plan {shlex.quote(shown)}"]
