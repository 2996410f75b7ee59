"""The plan that tests a change: each row as it would be afterwards, where vendors say that it can run."""

from collections.abc import Sequence

from msgspec.structs import replace

from orchestrator import axes, text
from orchestrator.model import (
    CellSupport,
    Cost,
    Host,
    LeftOut,
    Matrix,
    Placement,
    Plan,
    PlannedCell,
    RowImpact,
    RunnerClass,
    State,
)
from orchestrator.planning.cost import cost
from orchestrator.planning.expand import cells_of
from orchestrator.planning.place import HERE, runner_for
from orchestrator.vocabulary import LeftOutKind, Tier, Verdict


def trial(matrix: Matrix, impacts: Sequence[RowImpact], host: Host | None) -> Plan:
    """The plan of the cells to test, placed on this machine (`host`) or on the runner classes; the rest is left out."""
    rows = {row.name: row for row in matrix.production}
    kept = [impact for impact in impacts if impact.cell is not None]
    cells, again = cells_of([replace(rows[one.name], axes=final(one).axes) for one in kept], matrix, host)
    by_cell = {impact.cell: impact for impact in reversed(kept)}
    planned = tuple(_tried(cell, by_cell[cell.id]) for cell in cells)
    return Plan(
        matrix=matrix.file,
        cells=planned,
        left_out=(*(_left_out(impact) for impact in impacts if impact.cell is None), *again),
        cost=cost(planned, matrix.runners),
    )


def untested(plan: Plan, impacts: Sequence[RowImpact], runners: Sequence[RunnerClass]) -> Cost:
    """What testing the cells takes that no run has seen.

    A machine that is still to be changed costs what the one costs that runs the row today.
    """
    unseen = {impact.cell: impact for impact in impacts if impact.cell is not None and not impact.observed}
    cells = [_somewhere(cell, unseen[cell.id], runners) for cell in plan.cells if cell.id in unseen]
    return cost(cells, runners)


def _somewhere(cell: PlannedCell, impact: RowImpact, runners: Sequence[RunnerClass]) -> PlannedCell:
    runner = runner_for(cell.axes, runners) or runner_for(impact.before.axes, runners)
    return replace(cell, placement=Placement(placed=True, runner=runner.name if runner else HERE, reason=""))


def final(impact: RowImpact) -> State:
    """The row after the change and what moves with it."""
    return impact.moves.state if impact.moves else impact.after


def _tried(cell: PlannedCell, impact: RowImpact) -> PlannedCell:
    state = final(impact)
    new = {name: value for name, value in state.axes.items() if impact.before.axes.get(name) != value}
    says = next((reason for reason in state.reasons if reason.verdict is state.verdict), None)
    told = {"rule": says.rule, "because": says.because, "source": says.source, "as_of": says.as_of} if says else {}
    return replace(
        cell,
        tier=Tier.EDGE,
        why=f"{cell.why} with {text.pairs(new)}" if new else f"{cell.why}, which needs no change",
        support=CellSupport(verdict=state.verdict, supported_until=state.supported_until, **told),
    )


def _left_out(impact: RowImpact) -> LeftOut:
    kind, reason = LeftOutKind.SELECTION, impact.unchanged
    if not reason:
        kind = LeftOutKind.UNKNOWN if impact.after.verdict is Verdict.UNKNOWN else LeftOutKind.UNSUPPORTED
        reason = impact.blocked.because if impact.blocked else "no vendor says whether it is supported"
    return LeftOut(
        name=impact.name,
        tier=Tier.EDGE,
        axes=axes.complete(impact.after.axes),
        kind=kind,
        reason=reason,
        rule=impact.blocked.rule if impact.blocked else "",
        source=impact.blocked.source if impact.blocked else "",
    )
