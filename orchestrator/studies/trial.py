"""The plan that tests a change: each row as it would be afterwards, where vendors say that it can run."""

from collections.abc import Sequence

from msgspec.structs import replace

from orchestrator import axes, text
from orchestrator.model import Cost, LeftOut, Placement, Plan, PlannedCell, RowImpact, RunnerClass
from orchestrator.planning.asking import Against, against
from orchestrator.planning.cost import cost
from orchestrator.planning.expand import Expansion, edge_cell, edge_left_out, same_cell
from orchestrator.planning.neighbours import Candidate
from orchestrator.planning.place import HERE, runner_for
from orchestrator.vocabulary import WORKS, LeftOutKind, Verdict


def trial(impacts: Sequence[RowImpact], expansion: Expansion) -> Plan:
    """The plan of the cells to test; every other row is left out with its reason."""
    matrix = expansion.matrix
    rows = {row.name: row for row in matrix.production}
    names: dict[str, str] = {}
    cells: list[PlannedCell] = []
    left: list[LeftOut] = []
    for impact in impacts:
        state = impact.final
        why = f"production row `{impact.name}` ({impact.place.file}:{impact.place.line}){_with(impact)}"
        candidate = Candidate(name=impact.name, row=rows[impact.name], why=why, cell=axes.complete(state.axes), rank=())
        if impact.cell is None:
            left.append(edge_left_out(candidate, _against(impact)))
        elif impact.cell in names:
            left.append(edge_left_out(candidate, same_cell(f"`{names[impact.cell]}`", impact.cell)))
        else:
            names[impact.cell] = impact.name
            cells.append(edge_cell(candidate, expansion))
    return Plan(matrix=matrix.file, cells=tuple(cells), left_out=tuple(left), cost=cost(cells, matrix.runners))


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


def _with(impact: RowImpact) -> str:
    new = {name: value for name, value in impact.final.axes.items() if impact.before.axes.get(name) != value}
    return f" with {text.pairs(new)}"


def _against(impact: RowImpact) -> Against:
    """What keeps a row out: the change is nothing to it, it stays as it is, or vendors do not say that it can run."""
    if impact.unchanged:
        return Against(kind=LeftOutKind.SELECTION, reason=impact.unchanged)
    said = (
        against(impact.blocked) if impact.blocked else Against(kind=LeftOutKind.UNKNOWN, reason="nobody says it works")
    )
    if impact.final.verdict in WORKS:
        return replace(said, kind=LeftOutKind.SELECTION, reason=f"there is nothing to move it to: {said.reason}")
    return replace(said, kind=LeftOutKind.UNKNOWN) if impact.final.verdict is Verdict.UNKNOWN else said
