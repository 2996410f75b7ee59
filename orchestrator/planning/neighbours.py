"""The boundary neighbours of production: one axis moved to the next value, the previous, the newest, the oldest."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from orchestrator import axes
from orchestrator.model import Axes, Row
from orchestrator.planning.asking import Against, Asking
from orchestrator.planning.repair import FIXED, standing
from orchestrator.planning.space import Space, along, misfit, moved, nearest_first
from orchestrator.vocabulary import LeftOutKind

# What an upgrade would move to comes first, then the way back, then the far ends.
RANK: Mapping[str, int] = {"next": 0, "previous": 1, "newest": 2, "oldest": 3}


class Candidate(Struct, frozen=True, kw_only=True):
    """One combination at the edge: around which production row, why, and what keeps it out, if anything does.

    `rank` orders candidates by what is to run first.
    """

    name: str
    row: Row
    why: str
    cell: dict[str, str]
    rank: tuple[int, ...]
    against: Against | None = None


def neighbours(asking: Asking, space: Space, rows: Sequence[Row], wanted: Sequence[str]) -> list[Candidate]:
    """Every neighbour of the rows of the kinds in `wanted`, by rows and axes, repaired where a rule asks for it."""
    cells = [axes.complete(row.axes) for row in rows]
    return [
        _candidate(asking, space, row, cell, move, nearest_first(cells, cell))
        for row, cell in zip(rows, cells, strict=True)
        for move in _moves(space, cell, wanted)
    ]


class _Move(Struct, frozen=True, kw_only=True):
    axis: str
    value: str
    kinds: tuple[str, ...]


def _moves(space: Space, cell: Axes, wanted: Sequence[str]) -> Iterator[_Move]:
    """The moves from a cell: each value once, with all that it is to the cell's own (the next may be the newest)."""
    for name in (name for name in axes.AXES if name in space and name not in FIXED - {"host_arch"}):
        values = along(space, name, cell)
        if not values:
            continue
        own = values.index(cell[name])
        at = {"next": own + 1, "previous": own - 1, "newest": len(values) - 1, "oldest": 0}
        found: dict[int, list[str]] = {}
        for kind in sorted(wanted, key=RANK.__getitem__):
            beyond = at[kind] > own if kind in {"next", "newest"} else at[kind] < own
            if beyond and 0 <= at[kind] < len(values):
                found.setdefault(at[kind], []).append(kind)
        for index, kinds in found.items():
            yield _Move(axis=name, value=values[index], kinds=tuple(kinds))


def _candidate(
    asking: Asking, space: Space, row: Row, cell: dict[str, str], move: _Move, donors: Sequence[Axes]
) -> Candidate:
    changed = moved(space, cell, {move.axis: move.value}, donors)
    kinds = " and ".join(move.kinds)
    why = f"{kinds} {move.axis} after production row `{row.name}`: {cell[move.axis]} -> {move.value}"
    why += _followed(cell, changed, move.axis)
    against = None
    if problem := misfit(space, changed):
        against = Against(kind=LeftOutKind.UNSUPPORTED, reason=problem, rule="axes")
    else:
        stand = standing(asking, space, changed, frozenset({move.axis}), donors)
        why = "; ".join((why, *map(str, stand.repairs)))
        changed, against = stand.cell, stand.against
    return Candidate(
        name=f"{row.name}+{move.kinds[0]}-{move.axis}",
        row=row,
        why=why,
        cell=changed,
        rank=(RANK[move.kinds[0]], list(axes.AXES).index(move.axis)),
        against=against,
    )


def _followed(before: Axes, after: Axes, changed: str) -> str:
    """What came or went with a change, because the matrix has values of it under a condition."""
    parts = [
        f"{name} {before[name]} goes" if name not in after else f"{name} {after[name]} comes along"
        for name in dict.fromkeys((*before, *after))
        if name != changed and before.get(name) != after.get(name)
    ]
    return f", and {', '.join(parts)}" if parts else ""
