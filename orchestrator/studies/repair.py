"""What must change for a combination to be supported: the fewest axes, those of the image first, the nearest values.

Each change that is given was checked itself. A set of axes is tried only where all that is wrong has to do with one of
them, and vendors refuse nothing of what stays: then something may fit in their place.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product

from orchestrator.axes import AXES, Where
from orchestrator.model import Alternative, Axes
from orchestrator.studies.aim import Aim
from orchestrator.studies.ladder import Ladders

MOST_AXES = 4
MOST_TRIED = 3000  # changes of each number of axes, shared among the sets of so many


def repairs(
    aim: Aim, start: Axes, ladders: Ladders, *, dear: frozenset[str] = frozenset(), most: int = MOST_AXES
) -> Iterator[Alternative]:
    """The changes of at most so many axes that give a good combination, the smallest first; none holds another.

    Axes that are `dear` are changed only where as many others do not help.
    """
    found: list[Axes] = []
    for count in range(1, min(most, len(ladders)) + 1):
        for change in _changes(aim, start, ladders, count, dear):
            changed = {**start, **change}
            if not any(smaller.items() <= change.items() for smaller in found) and aim.is_good(changed):
                found.append(change)
                yield Alternative(change=change, verdict=aim.answers.verdict(changed))


def _changes(aim: Aim, start: Axes, ladders: Ladders, count: int, dear: frozenset[str]) -> Sequence[Axes]:
    """The changes of so many axes that may help, the smallest first."""
    ranks = {name: rank for rank, name in enumerate(ladders)}
    distances = {name: _distances(start[name], ladders[name]) for name in ladders}

    def size(change: Axes) -> tuple[object, ...]:
        far = [distances[name][value] for name, value in change.items()]
        on_host = sum(AXES[name].where is Where.HOST for name in change)
        named = tuple((ranks[name], *distances[name][value]) for name, value in change.items())
        return len(dear & change.keys()), on_host, sum(steps for steps, _ in far), named

    near_first = {name: sorted(ladders[name], key=distances[name].__getitem__) for name in ladders}
    chosen = list(combinations(ladders, count))
    each = MOST_TRIED // len(chosen)
    changes = (change for names in chosen for change in islice(_fillings(aim, start, near_first, names), each))
    return sorted(changes, key=size)


def _distances(value: str, ladder: Sequence[str]) -> Mapping[str, tuple[int, bool]]:
    """How many rungs each value is away, and whether down: of two that are as near, the newer comes first."""
    here = ladder.index(value)
    return {other: (abs(rung - here), rung < here) for rung, other in enumerate(ladder)}


def _fillings(aim: Aim, start: Axes, ladders: Ladders, names: Sequence[str]) -> Iterator[Axes]:
    """Every way to give each of the axes another value, but for values that none of the other axes can make good."""
    stays = {name: value for name, value in start.items() if name not in names}
    if aim.answers.refusal(stays) is not None or aim.stands_against(start, frozenset(names)):
        return
    options = [
        [
            value
            for value in ladders[name]
            if value != start[name] and not aim.stands_against({**start, name: value}, frozenset(names) - {name})
        ]
        for name in names
    ]
    for values in product(*options):
        yield dict(zip(names, values, strict=True))
