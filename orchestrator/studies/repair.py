"""What must change for a combination to be supported: the fewest axes, those of the image first, the nearest values.

Each change that is given was checked itself. A set of axes is tried only where vendors refuse nothing of what stays:
then something may fit in their place.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product

from orchestrator.axes import AXES, Where
from orchestrator.model import Alternative, Axes
from orchestrator.studies.answers import Answers
from orchestrator.studies.ladder import Ladders

MOST_AXES = 4
MOST_TRIED = 3000  # changes of each number of axes, shared among the sets of so many


def repairs(
    answers: Answers,
    start: Axes,
    ladders: Ladders,
    is_good: Callable[[Axes], bool],
    *,
    dear: frozenset[str] = frozenset(),
    most: int = MOST_AXES,
) -> Iterator[Alternative]:
    """The changes of at most so many axes that give a good combination, the smallest first; none holds another.

    Axes that are `dear` are changed only where as many others do not help.
    """
    found: list[Axes] = []
    for count in range(1, min(most, len(ladders)) + 1):
        for change in _changes(answers, start, ladders, count, dear):
            if any(smaller.items() <= change.items() for smaller in found):
                continue
            changed = {**start, **change}
            if is_good(changed):
                found.append(change)
                yield Alternative(change=change, verdict=answers.verdict(changed))


def _changes(answers: Answers, start: Axes, ladders: Ladders, count: int, dear: frozenset[str]) -> Sequence[Axes]:
    """The changes of so many axes that nothing said so far refuses, the smallest first."""
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
    changes = (change for names in chosen for change in islice(_fillings(answers, start, near_first, names), each))
    return sorted(changes, key=size)


def _distances(value: str, ladder: Sequence[str]) -> Mapping[str, tuple[int, bool]]:
    """How many rungs each value is away, and whether down: of two that are as near, the newer comes first."""
    here = ladder.index(value)
    return {other: (abs(rung - here), rung < here) for rung, other in enumerate(ladder)}


def _fillings(answers: Answers, start: Axes, ladders: Ladders, names: Sequence[str]) -> Iterator[Axes]:
    """Every way to give each of the axes another value that, with what stays, is not refused by itself."""
    stays = {name: value for name, value in start.items() if name not in names}
    if answers.refusal(stays) is not None:
        return
    options = [
        [value for value in ladders[name] if value != start[name] and answers.refusal({**stays, name: value}) is None]
        for name in names
    ]
    for values in product(*options):
        yield dict(zip(names, values, strict=True))
