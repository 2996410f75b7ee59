"""The shortest order of steps from one combination to another, with every state on the way as good as asked for.

A state is how far each axis has come on its way, so no step ever goes back, and the search ends. It is A*: what is
left to change is a bound from below on what is left to do. First every step changes one axis; only where there is no
such way may a step change several axes of the image, which is replaced as a whole anyhow.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product

from msgspec import Struct

from orchestrator.model import Axes

MOST_STATES = 20_000
MOST_COUPLED = 4

Ways = Mapping[str, Sequence[str]]  # by axis, the values from the first combination to the second
Rungs = tuple[int, ...]  # how far each axis has come
# What decides between two ways, in this order: axes that change together with another, changes, host steps late in
# the order (a newer driver runs what an older one runs), then the order of the axes and the longer stride.
_Price = tuple[int, int, int, tuple[tuple[int, int], ...]]


class Route(Struct, frozen=True, kw_only=True):
    """The axes that each step sets, in order, or None; `nearest` is the state that came nearest to the goal."""

    steps: tuple[Axes, ...] | None
    nearest: Axes
    bounded: bool


class _Map(Struct, frozen=True, kw_only=True):
    """The ways of all axes, which of them are on the host, and whether a state may be stood in."""

    rest: Axes
    ways: Ways
    on_host: frozenset[str]
    is_good: Callable[[Axes], bool]

    def state(self, rungs: Rungs) -> Axes:
        reached = {name: way[rung] for (name, way), rung in zip(self.ways.items(), rungs, strict=True)}
        return {**self.rest, **reached}

    def left(self, rungs: Rungs) -> int:
        """How many axes are not yet where they go."""
        return sum(rung < len(way) - 1 for way, rung in zip(self.ways.values(), rungs, strict=True))


def route(rest: Axes, ways: Ways, on_host: frozenset[str], is_good: Callable[[Axes], bool]) -> Route:
    """The cheapest order; `rest` are the axes that stay, `ways` the values of the others from start to goal."""
    land = _Map(rest=rest, ways=ways, on_host=on_host, is_good=is_good)
    single = _search(land, coupled=False)
    if single.steps is not None or single.bounded:
        return single
    coupled = _search(land, coupled=True)
    return coupled if coupled.steps is not None else Route(steps=None, nearest=single.nearest, bounded=coupled.bounded)


def _search(land: _Map, *, coupled: bool) -> Route:
    goal = tuple(len(way) - 1 for way in land.ways.values())
    start = tuple(0 for _ in goal)
    came_from: dict[Rungs, Rungs] = {}
    waiting: list[tuple[tuple[int, int], _Price, Rungs, Rungs]] = [((0, land.left(start)), (0, 0, 0, ()), start, start)]
    tried = {start}
    refused: set[Rungs] = set()
    nearest = start
    while waiting:
        _, price, rungs, before = heapq.heappop(waiting)
        if rungs in came_from:
            continue
        came_from[rungs] = before
        nearest = min(nearest, rungs, key=lambda other: (land.left(other), _left_of(other, goal)))
        if rungs == goal:
            return Route(steps=_steps(land, came_from, goal), nearest=land.state(goal), bounded=False)
        for moved in _moves(land, rungs, goal, coupled=coupled):
            if moved in came_from or moved in refused:
                continue
            if moved not in tried and len(tried) >= MOST_STATES:
                return Route(steps=None, nearest=land.state(nearest), bounded=True)
            tried.add(moved)
            if not land.is_good(land.state(moved)):
                refused.add(moved)
                continue
            cost = _priced(land, price, rungs, moved, goal)
            heapq.heappush(waiting, ((cost[0], cost[1] + land.left(moved)), cost, moved, rungs))
    return Route(steps=None, nearest=land.state(nearest), bounded=False)


def _left_of(rungs: Rungs, goal: Rungs) -> int:
    return sum(last - rung for last, rung in zip(goal, rungs, strict=True))


def _moves(land: _Map, rungs: Rungs, goal: Rungs, *, coupled: bool) -> Iterator[Rungs]:
    """Every state one step on: one axis moved by any stride, or several axes of the image."""
    open_axes = [place for place, last in enumerate(goal) if rungs[place] < last]
    of_image = [place for place, name in enumerate(land.ways) if place in open_axes and name not in land.on_host]
    most = min(MOST_COUPLED, len(of_image)) if coupled else 1
    sets = [(place,) for place in open_axes] + [
        places for count in range(2, most + 1) for places in combinations(of_image, count)
    ]
    for places in sets:
        for further in product(*(range(rungs[place] + 1, goal[place] + 1) for place in places)):
            moved = list(rungs)
            for place, rung in zip(places, further, strict=True):
                moved[place] = rung
            yield tuple(moved)


def _priced(land: _Map, price: _Price, rungs: Rungs, moved: Rungs, goal: Rungs) -> _Price:
    together, changes, late, order = price
    changed = [place for place in range(len(goal)) if moved[place] != rungs[place]]
    names = list(land.ways)
    at = changes - together  # how many steps came before
    on_host = sum(names[place] in land.on_host for place in changed)
    strides = tuple((place, goal[place] - moved[place]) for place in changed)
    return together + len(changed) - 1, changes + len(changed), late + on_host * at, order + strides


def _steps(land: _Map, came_from: Mapping[Rungs, Rungs], goal: Rungs) -> tuple[Axes, ...]:
    steps: list[Axes] = []
    rungs = goal
    while came_from[rungs] != rungs:
        before = came_from[rungs]
        then, now = land.state(before), land.state(rungs)
        steps.append({name: now[name] for name in land.ways if now[name] != then[name]})
        rungs = before
    return tuple(reversed(steps))
