"""From a Matrix to a Plan: every production row and every cell at its edge is in or left out with its reason."""

from collections.abc import Sequence

from orchestrator import axes
from orchestrator.errors import InputError, NothingSelected
from orchestrator.model import Host, LeftOut, Matrix, Plan, Row
from orchestrator.planning.asking import Against, Asking, Says, against, asking_of, site_refusal
from orchestrator.planning.cost import cost
from orchestrator.planning.edge import Edges, edge_cells, edges_of, named
from orchestrator.planning.expand import Expansion, cells_of, left_out
from orchestrator.planning.selection import check_globs, is_asked_by_name, is_selected
from orchestrator.planning.shortfall import coverage
from orchestrator.text import pairs
from orchestrator.vocabulary import LeftOutKind, Tier, Verdict

MAX_CELLS = 10_000


def make_plan(
    matrix: Matrix, host: Host | None, *, tiers: frozenset[Tier], select: tuple[str, ...], support: Says
) -> Plan:
    """The plan for one machine (`host`) or for the runner classes of the matrix (None).

    `select` are globs on cell ids and names; empty takes all. NothingSelected when no cell is left, InputError when
    there are more than MAX_CELLS or one that is unsupported was asked for by name. The same arguments give the same
    plan. Aliases must be resolved before.
    """
    asking = asking_of(matrix, support)
    expansion = Expansion(matrix=matrix, host=host, asking=asking)
    chosen, left = _choose(matrix, tiers, select)
    _check_size(len(chosen), matrix)
    edges = edges_of(matrix, asking) if Tier.EDGE in tiers else Edges()
    names = [*((row.name, axes.cell_id(row.axes)) for row in matrix.production), *edges.named()]
    check_globs(names, select, hint="" if Tier.EDGE in tiers else "cells at the edge need `--tier edge` or `all`")
    _refuse_named(chosen, edges, select, asking)
    cells, again = cells_of(chosen, expansion)
    more, others = edge_cells(edges, select, expansion)
    cells += more
    left += [*again, *others]
    _check_size(len(cells), matrix)
    if not cells:
        raise NothingSelected("no cell is left to work on", place=matrix.file, hint=_first_reason(left))
    return Plan(
        matrix=matrix.file,
        cells=tuple(cells),
        left_out=tuple(left),
        cost=cost(cells, matrix.runners),
        coverage=coverage(edges.combined, cells, left),
    )


def _check_size(cells: int, matrix: Matrix) -> None:
    if cells > MAX_CELLS:
        raise InputError(
            f"{cells} cells are more than the {MAX_CELLS} of one plan",
            place=matrix.file,
            hint="select fewer with `--select`, or give `edge` a smaller `budget`",
        )


def _choose(matrix: Matrix, tiers: frozenset[Tier], select: tuple[str, ...]) -> tuple[list[Row], list[LeftOut]]:
    """The rows that are planned, and those that are not with the first reason that keeps each out."""
    chosen: list[Row] = []
    left: list[LeftOut] = []
    for row in matrix.production:
        if Tier.PRODUCTION not in tiers:
            left.append(_out(row, LeftOutKind.TIER, "the tier production was not asked for"))
        elif not is_selected((row.name, axes.cell_id(row.axes)), select):
            left.append(_out(row, LeftOutKind.SELECTION, "`--select` does not name it"))
        elif reason := site_refusal(axes.complete(row.axes), matrix.rules):
            left.append(left_out(row, against(reason)))
        else:
            chosen.append(row)
    return chosen, left


def _out(row: Row, kind: LeftOutKind, reason: str) -> LeftOut:
    return left_out(row, Against(kind=kind, reason=reason))


def _refuse_named(rows: Sequence[Row], edges: Edges, select: Sequence[str], asking: Asking) -> None:
    """InputError where a cell that is unsupported was asked for by its name or id: skipping it would be no answer."""
    for row in rows:
        cell = axes.complete(row.axes)
        if is_asked_by_name((row.name, axes.cell_id(cell)), select):
            answer = asking.answer(cell)
            if answer.verdict is Verdict.UNSUPPORTED:
                raise _unsupported(row.name, str(row.place), cell, against(answer.reasons[0]), asking)
    for candidate in edges.candidates:
        keeps = candidate.against
        if keeps and keeps.kind in _REFUSED and is_asked_by_name(named(candidate), select):
            place = str(candidate.row.place)
            raise _unsupported(candidate.name, place, candidate.cell, keeps, asking)


_REFUSED = frozenset({LeftOutKind.NO_WHEEL, LeftOutKind.UNSUPPORTED})


def _unsupported(name: str, place: str, cell: axes.Axes, keeps: Against, asking: Asking) -> InputError:
    nearest = asking.nearest(cell)
    hint = " or ".join(f"{pairs(near.change)} ({near.verdict})" for near in nearest)
    return InputError(
        f"`{name}` is unsupported: {keeps.reason}",
        place=place,
        hint=f"nearest: {hint}" if hint else "nothing near it is supported",
    )


def _first_reason(left: Sequence[LeftOut]) -> str:
    """Why nothing was left: the row that came nearest to being planned."""
    nearest = next((entry for entry in left if entry.kind is LeftOutKind.RULE), left[0] if left else None)
    return f"`{nearest.name}`: {nearest.reason}" if nearest else "the matrix has no production row"


def plan_json(plan: Plan) -> bytes:
    """`plan.json`, and what `plan --json` prints."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(plan), indent=1) + b"\n"
