"""The edge of production: neighbours of its rows, combinations of their axes; each is in with its why, or out."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from orchestrator import axes
from orchestrator.model import LeftOut, Matrix, PlannedCell, Row
from orchestrator.planning.asking import Against, Asking, site_refusal
from orchestrator.planning.budget import within
from orchestrator.planning.combinations import Combined, combine
from orchestrator.planning.expand import Expansion, edge_cell, edge_left_out, same_cell
from orchestrator.planning.neighbours import Candidate, neighbours
from orchestrator.planning.selection import Named, is_selected
from orchestrator.planning.space import by_axis
from orchestrator.vocabulary import LeftOutKind


class Edges(Struct, frozen=True, kw_only=True):
    """Every combination at the edge that was thought of, whether anything keeps it out or not."""

    candidates: tuple[Candidate, ...] = ()
    combined: tuple[Combined, ...] = ()

    def named(self) -> list[Named]:
        """Name and id of each, for a selection."""
        return [named(candidate) for candidate in self.candidates]


def named(candidate: Candidate) -> Named:
    """The name of a combination at the edge and the id of its cell."""
    return candidate.name, axes.cell_id(candidate.cell)


def edges_of(matrix: Matrix, asking: Asking) -> Edges:
    """The neighbours of each cell of production that the site's rules allow, and the combinations still missing."""
    rows = list(_distinct(row for row in matrix.production if not site_refusal(axes.complete(row.axes), matrix.rules)))
    space = by_axis(matrix.axes)
    around = neighbours(asking, space, rows, matrix.edge.neighbours)
    cells = [cell for row in rows if asking.refusal(cell := axes.complete(row.axes)) is None]
    near = [candidate.cell for candidate in around if candidate.against is None]
    more, combined = combine(asking, space, rows, matrix.edge.pairwise, [*cells, *near])
    return Edges(candidates=(*around, *more), combined=tuple(combined))


def _distinct(rows: Iterable[Row]) -> Iterable[Row]:
    """The first row of each cell."""
    once: dict[str, Row] = {}
    for row in rows:
        once.setdefault(axes.cell_id(row.axes), row)
    return once.values()


def edge_cells(edges: Edges, select: Sequence[str], expansion: Expansion) -> tuple[list[PlannedCell], list[LeftOut]]:
    """The cells of the edge in the order in which they are to run, and what is left out; together they are all."""
    matrix = expansion.matrix
    taken = {axes.cell_id(row.axes): f"production row `{row.name}`" for row in reversed(matrix.production)}
    open_: list[Candidate] = []
    left: list[LeftOut] = []
    for candidate in edges.candidates:
        name, id_ = named(candidate)
        if not is_selected((name, id_), select):
            reason = Against(kind=LeftOutKind.SELECTION, reason="`--select` does not name it")
            left.append(edge_left_out(candidate, reason))
        elif candidate.against is not None:
            left.append(edge_left_out(candidate, candidate.against))
        elif id_ in taken:
            left.append(edge_left_out(candidate, same_cell(taken[id_], id_)))
        else:
            taken[id_] = f"`{name}`"
            open_.append(candidate)
    kept, dear = within(open_, matrix.edge, matrix.runners)
    left += [edge_left_out(candidate, reason) for candidate, reason in dear]
    return [edge_cell(candidate, expansion) for candidate in kept], left
