"""How far the edge goes: what is to run first is taken until cells, GPU-hours or money are spent."""

from collections.abc import Sequence

from orchestrator import text
from orchestrator.model import Edge, RunnerClass
from orchestrator.planning.asking import Against
from orchestrator.planning.cost import spent
from orchestrator.planning.neighbours import Candidate
from orchestrator.planning.place import place
from orchestrator.vocabulary import LeftOutKind

Left = tuple[Candidate, Against]


def within(
    candidates: Sequence[Candidate], edge: Edge, runners: Sequence[RunnerClass]
) -> tuple[list[Candidate], list[Left]]:
    """The candidates that the budget of the edge pays for, by rank, and the others with the figure that they hit.

    What no runner class can run comes last: it is worth planning, but not in place of something that runs. A cell
    counts by its runner class and not by the machine that plans, so that every machine plans the same cells.
    """
    ranked = sorted(candidates, key=lambda candidate: (not place(candidate.cell, None, runners).placed, candidate.rank))
    kept: list[Candidate] = []
    left: list[Left] = []
    hours = money = 0.0
    for candidate in ranked:
        more_hours, more_money = spent(candidate.cell, runners)
        figure = _figure(edge, len(kept) + 1, hours + more_hours, money + more_money)
        if figure:
            left.append((candidate, Against(kind=LeftOutKind.BUDGET, reason=figure)))
            continue
        kept.append(candidate)
        hours += more_hours
        money += more_money
    return kept, left


def _figure(edge: Edge, cells: int, hours: float, money: float) -> str:
    """Which figure of the budget is overrun, in words; an empty text when none is."""
    if edge.cells is not None and cells > edge.cells:
        return f"the budget of the edge is {text.counting(edge.cells, 'cell')}"
    if edge.gpu_hours is not None and hours > edge.gpu_hours:
        return f"the budget of the edge is {edge.gpu_hours:g} GPU-hours, with it they would be {hours:.2f}"
    if edge.money is not None and money > edge.money:
        return f"the budget of the edge is {edge.money:g} in money, with it that would be {money:.2f}"
    return ""
