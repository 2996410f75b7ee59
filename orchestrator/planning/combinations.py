"""Combinations of production's axes that no cell has yet: pairs, or more values at once, each in at least one cell.

Rows over the combined axes come from `pairwise`, under the rules; what a cell needs beside them is that of the nearest
production row, repaired where a rule asks for it.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product

from msgspec import Struct
from msgspec.structs import replace

from orchestrator import axes
from orchestrator.errors import InputError
from orchestrator.model import Axes, Interaction, Row
from orchestrator.planning.asking import Against, Asking, against
from orchestrator.planning.completion import ABSENT, Refuses
from orchestrator.planning.neighbours import Candidate
from orchestrator.planning.pairwise import Covering, cover
from orchestrator.planning.repair import Stand, standing
from orchestrator.planning.space import Space, all_values, misfit, moved, nearest_first
from orchestrator.text import pairs
from orchestrator.vocabulary import LeftOutKind

MAX_WANTED = 200_000
_BASES = 8  # production rows that a combination is tried around, the nearest first
_RANK = 4  # after every neighbour
_SHOWN = 3
Group = tuple[str, ...]
Combination = tuple[tuple[str, str], ...]  # (axis, value) in the order of the registry


class Combined(Struct, frozen=True, kw_only=True):
    """What an interaction wants: its combinations, and what keeps out those that no cell at the edge has.

    `values` and `refuses` are what the cells were made with, for whoever counts them again; `rows` are those over the
    combined axes that no rule forbids, whether a whole cell came of one or not.
    """

    interaction: Interaction
    wanted: tuple[Combination, ...]
    kept_out: Mapping[Combination, Against]
    values: Mapping[str, Sequence[str]]
    refuses: Refuses
    rows: tuple[Axes, ...]


def combination(values: Axes) -> Combination:
    """Some values as a combination that can be looked up."""
    return tuple((name, values[name]) for name in axes.AXES if name in values)


def held(cell: Axes, wanted: Container[Combination], groups: Iterable[Group]) -> frozenset[Combination]:
    """The wanted combinations that a cell has; `groups` are the axes that wanted ones are of."""
    having = (group for group in groups if all(name in cell for name in group))
    return frozenset(one for group in having if (one := tuple((name, cell[name]) for name in group)) in wanted)


def groups_of(wanted: Iterable[Combination]) -> frozenset[Group]:
    """The groups of axes that some combinations are of."""
    return frozenset(tuple(name for name, _ in one) for one in wanted)


def combine(
    asking: Asking, space: Space, rows: Sequence[Row], interactions: Sequence[Interaction], seeds: Sequence[Axes]
) -> tuple[list[Candidate], list[Combined]]:
    """The cells that hold what the interactions want and no seed has, and what each interaction comes to."""
    if not interactions or not rows:
        return [], []
    work = _Work(asking, space, rows, interactions)
    work.take(seeds)
    covering = work.covering(seeds)
    for never in covering.uncoverable:
        work.keep_out(combination(never.axes), _forbidden(asking, never.axes, never.reasons))
    for row in covering.rows:
        work.try_whole(row)
    for one in sorted(work.open - work.kept_out.keys()):
        work.try_alone(one)
    return work.ranked(), [
        Combined(
            interaction=interaction,
            wanted=wanted,
            kept_out=work.kept_out,
            values=work.values,
            refuses=work.refuses,
            rows=covering.rows,
        )
        for interaction, wanted in zip(interactions, work.wanted, strict=True)
    ]


def _forbidden(asking: Asking, values: Axes, reasons: Sequence[str]) -> Against:
    """What keeps a combination out: the rule that forbids it by itself, or the rules that together leave it no cell."""
    if reason := asking.refusal_of_all(values):
        return against(reason)
    return Against(kind=LeftOutKind.UNSUPPORTED, reason=" and ".join(dict.fromkeys(reasons)), rule="several rules")


class _Work:
    """The combinations that are still open, and the cells that were found for the others."""

    def __init__(self, asking: Asking, space: Space, rows: Sequence[Row], interactions: Sequence[Interaction]) -> None:
        self._asking = asking
        self._space = space
        self._rows = {axes.cell_id(row.axes): row for row in rows}
        self._cells = [axes.complete(row.axes) for row in rows]
        self._names = [name for name in axes.AXES if any(name in one.axes for one in interactions)]
        self._interactions = interactions
        self.wanted = [_wanted(space, one) for one in interactions]
        self.open: set[Combination] = {one for wanted in self.wanted for one in wanted}
        self.kept_out: dict[Combination, Against] = {}
        self._groups = groups_of(self.open)
        self.values = {name: self._values(name) for name in self._names}
        self._found: list[tuple[Candidate, frozenset[Combination]]] = []

    def take(self, cells: Sequence[Axes]) -> frozenset[Combination]:
        """Closes what some cells have, and gives it."""
        closed = frozenset(one for cell in cells for one in held(cell, self.open, self._groups))
        self.open -= closed
        return closed

    def covering(self, seeds: Sequence[Axes]) -> Covering:
        """Rows over the combined axes that hold every combination that is allowed."""
        return cover(
            self.values,
            [(one.axes, one.strength) for one in self._interactions],
            self.refuses,
            [{name: seed.get(name, ABSENT) for name in self._names} for seed in seeds],
        )

    def _values(self, name: str) -> tuple[str, ...]:
        values = all_values(self._space, name)
        conditional = axes.AXES[name].when or all(entry.when for entry in self._space[name])
        return (*values, ABSENT) if conditional else values

    def refuses(self, partial: Axes) -> str:
        """Why no cell of the matrix has some values, or an empty text."""
        if problem := misfit(self._space, partial):
            return problem
        reason = self._asking.refusal_of_all({name: value for name, value in partial.items() if value != ABSENT})
        return against(reason).reason if reason else ""

    def keep_out(self, one: Combination, reason: Against) -> None:
        """A combination that no cell will have."""
        self.kept_out[one] = reason
        self.open.discard(one)

    def try_whole(self, row: Axes) -> None:
        """Makes a cell of a row over all of the combined axes; when none can stand, its combinations stay open."""
        change = {name: row.get(name, ABSENT) for name in self._names}
        if held(row, self.open, self._groups):
            self._stand(change)

    def try_alone(self, one: Combination) -> None:
        """Makes a cell for one combination, whatever the other combined axes become, or keeps it out."""
        if one in self.open and (reason := self._stand(dict(one))) is not None:
            self.keep_out(one, reason)

    def _stand(self, change: dict[str, str]) -> Against | None:
        """Adds the cell around the nearest production row where the change can stand; else what keeps it out."""
        first: Against | None = None
        for base in self._bases(change):
            stand = self._around(base, change)
            if stand.against is None:
                self._add(base, stand)
                return None
            first = first or _around_row(stand.against, self._rows[axes.cell_id(base)].name)
        return first or Against(
            kind=LeftOutKind.UNSUPPORTED, reason="every production row is a ready image", rule="axes"
        )

    def _bases(self, change: Axes) -> list[dict[str, str]]:
        """The nearest cells of production that can be changed so, those of the same platform before all others."""
        built = any(axes.AXES[name].where is axes.Where.IMAGE for name in change)
        near = nearest_first([cell for cell in self._cells if not (built and "image" in cell)], change)
        if "torch_build" in change:
            near.sort(key=lambda cell: axes.platform(cell) != axes.platform(change))
        return near[:_BASES]

    def _around(self, base: dict[str, str], change: dict[str, str]) -> Stand:
        donors = nearest_first(self._cells, {**base, **change})
        cell = moved(self._space, base, change, donors)
        if problem := misfit(self._space, {**cell, **change}):
            return Stand(cell=cell, against=Against(kind=LeftOutKind.UNSUPPORTED, reason=problem, rule="axes"))
        return standing(self._asking, self._space, cell, frozenset(change), donors)

    def _add(self, base: dict[str, str], stand: Stand) -> None:
        new = self.take([stand.cell])
        for one in held(stand.cell, self.kept_out, self._groups):
            del self.kept_out[one]  # around another row it could not stand
        row = self._rows[axes.cell_id(base)]
        shown = sorted(pairs(dict(one)) for one in new)
        more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        why = f"no other cell has {', '.join(shown[:_SHOWN])}{more}; around production row `{row.name}`"
        candidate = Candidate(
            name=f"{row.name}+pair-{axes.cell_id(stand.cell)[-8:]}",
            row=row,
            why="; ".join((why, *map(str, stand.repairs))),
            cell=stand.cell,
            rank=(_RANK,),
        )
        self._found.append((candidate, new))

    def ranked(self) -> list[Candidate]:
        """The cells that were found, those with the most combinations of their own first."""
        ordered = sorted(self._found, key=lambda found: -len(found[1]))
        return [
            Candidate(name=one.name, row=one.row, why=one.why, cell=one.cell, rank=(_RANK, place))
            for place, (one, _) in enumerate(ordered)
        ]


def _around_row(keeps: Against, name: str) -> Against:
    return replace(keeps, reason=f"around production row `{name}`: {keeps.reason}")


def _wanted(space: Space, interaction: Interaction) -> tuple[Combination, ...]:
    """Every combination of values that an interaction is about; InputError when they are too many to plan."""
    wanted = list(_first(_products(space, interaction), MAX_WANTED + 1))
    if len(wanted) > MAX_WANTED:
        raise InputError(
            f"more than {MAX_WANTED} combinations of {interaction.strength} values",
            place=str(interaction.place),
            hint="combine fewer axes, or with a smaller strength",
        )
    return tuple(wanted)


def _products(space: Space, interaction: Interaction) -> Iterator[Combination]:
    values = {name: all_values(space, name) for name in axes.AXES if name in interaction.axes}
    for names in combinations(values, interaction.strength):
        for chosen in product(*(values[name] for name in names)):
            yield tuple(zip(names, chosen, strict=True))


def _first(found: Iterator[Combination], limit: int) -> Iterator[Combination]:
    return (one for _, one in zip(range(limit), found, strict=False))
