"""A plan as plain text: its cells with what vendors say of them, what it covers, what it leaves out, what it costs."""

from orchestrator import text
from orchestrator.model import CellSupport, Coverage, Plan, PlannedCell, Uncovered
from orchestrator.reports import covered, overview
from orchestrator.reports.answer import COLOURS
from orchestrator.reports.columns import BAR, GAP, NAMES_SHOWN, Column, Line, fenced, listed, page, table, wrap
from orchestrator.reports.overview import lasting
from orchestrator.vocabulary import LeftOutKind, Verdict

_UNPLACED = "2"
# What the plan could have had: the others no cell can have, and each of those is told.
_OPTIONAL = frozenset({LeftOutKind.BUDGET, LeftOutKind.SELECTION, LeftOutKind.TIER})


def plan_table(plan: Plan, *, width: int, colour: bool, today: str = "") -> str:
    """The cells of a plan, where each runs, what vendors say of it and why it is in; what is left out and why.

    `today` (YYYY-MM-DD) tells an end of life that is past from one to come; without it none is past.
    """
    columns = [Column(name=name) for name in ("tier", "support", "runs on", "row", "cell", "why", "image")]
    return page(
        table(columns, [_planned(cell, colour, today) for cell in plan.cells], width),
        *(_covered(one, width) for one in plan.coverage),
        _left_out(plan, width),
        wrap(_cost(plan), width),
    )


def _planned(cell: PlannedCell, colour: bool, today: str) -> Line:
    placement, verdict = cell.placement, cell.support.verdict
    runs_on = text.one_line(placement.runner or "this machine", 24) if placement.placed else "unplaced"
    return Line(
        values=(
            cell.tier.value,
            verdict.value,
            "nowhere" if verdict is Verdict.UNSUPPORTED else runs_on,
            text.one_line(cell.name, 40),
            text.one_line(cell.id, 127),
            text.one_line(cell.why, 400),
            text.one_line(cell.image, 127),
        ),
        below=tuple(filter(None, (_said(cell.support, today), _without_machine(cell)))),
        colour=_colour(cell) if colour else "",
    )


def _colour(cell: PlannedCell) -> str:
    if cell.support.verdict is Verdict.UNSUPPORTED:
        return COLOURS[Verdict.UNSUPPORTED]
    return "" if cell.placement.placed else _UNPLACED


def _said(support: CellSupport, today: str) -> str:
    """What a reader must know of a verdict: why it is not `supported`, or until when it is."""
    if support.verdict is Verdict.SUPPORTED:
        return lasting("supported", support.supported_until, today) if support.supported_until else ""
    if not support.because:
        return ""
    source = ", ".join(filter(None, (support.rule, support.source, support.as_of)))
    return f"{support.verdict}: {text.one_line(f'{support.because} ({source})')}"


def _without_machine(cell: PlannedCell) -> str:
    if cell.placement.placed or cell.support.verdict is Verdict.UNSUPPORTED:
        return ""
    return f"unplaced: {text.one_line(cell.placement.reason)}"


def _covered(one: Coverage, width: int) -> list[str]:
    """How much of an interaction is planned, and each of its combinations that is not, under what keeps it out."""
    found: dict[tuple[LeftOutKind, str], list[Uncovered]] = {}
    for missing in one.uncovered:
        found.setdefault((missing.kind, missing.reason), []).append(missing)
    lines = [*wrap(covered.counts(one), width), *fenced(covered.axes(one), width)]
    for (kind, reason), several in found.items():
        lines += fenced(f"{len(several)} by {kind}: {text.one_line(reason)}", width)
        shown = several[:NAMES_SHOWN] if kind in _OPTIONAL else several
        shown_axes = "; ".join(text.pairs(missing.axes) for missing in shown)
        more = f"; and {len(several) - len(shown)} more" if len(shown) < len(several) else ""
        lines += [BAR + GAP + line for line in wrap(shown_axes + more, max(width - len(BAR + GAP), 20))]
    return lines


def _left_out(plan: Plan, width: int) -> list[str]:
    found: dict[tuple[LeftOutKind, str], list[str]] = {}
    for one in plan.left_out:
        reason = "the same cell as another" if one.kind is LeftOutKind.DUPLICATE else one.reason
        found.setdefault((one.kind, reason), []).append(overview.named(one))
    lines = [f"{text.counting(len(plan.left_out), 'combination')} left out"] if found else []
    for (kind, reason), names in found.items():
        lines += fenced(f"{len(names)} by {kind}: {text.one_line(reason)}", width)
        lines += listed(names, width)
    return lines


def _cost(plan: Plan) -> str:
    cost = plan.cost
    unsupported = sum(cell.support.verdict is Verdict.UNSUPPORTED for cell in plan.cells)
    parts = [
        f"{text.counting(cost.cells, 'cell')}: {cost.placed} placed, {cost.unplaced - unsupported} unplaced",
        *((f"{unsupported} unsupported",) if unsupported else ()),
        overview.takes(cost),
    ]
    return ", ".join(parts)
