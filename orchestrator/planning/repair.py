"""The fewest further changes that let a combination stand where a rule forbids it.

A refusal names the axes that it speaks of, and nothing else than moving one of those can lift it: that is what makes
the search small, whatever the size of the matrix.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from orchestrator import axes
from orchestrator.model import Axes, Reason
from orchestrator.planning.asking import Against, Asking, against
from orchestrator.planning.space import Space, along, misfit, moved
from orchestrator.vocabulary import WORKS, Verdict

# What a repair leaves alone: how many devices and which part of one, what the site sets, where torch comes from.
FIXED = frozenset({"gpus", "partition", "env", "image", "torch_from", "host_arch"})
_DEAREST = 4
# What to move first: software around torch, then torch, then how it runs, then the machine's driver, its GPU last.
_PRICES = {axes.Where.IMAGE: 0, axes.Where.RUN: 2, axes.Where.HOST: 3}


class Repair(Struct, frozen=True, kw_only=True):
    """One axis that had to move, and the reason that made it."""

    axis: str
    before: str
    after: str
    reason: Reason

    def __str__(self) -> str:
        return f"{self.axis} had to move {self.before} -> {self.after} ({self.reason.because}; {self.reason.rule})"


class Stand(Struct, frozen=True, kw_only=True):
    """A combination after its repairs; `against` is what still keeps it out."""

    cell: dict[str, str]
    repairs: tuple[Repair, ...] = ()
    against: Against | None = None


class _State(Struct, frozen=True, kw_only=True):
    cell: dict[str, str]
    repairs: tuple[Repair, ...]
    price: tuple[int, int]


def standing(asking: Asking, space: Space, cell: dict[str, str], keep: frozenset[str], donors: Sequence[Axes]) -> Stand:
    """The combination as it is, or with one axis beside those in `keep` moved, or two; else with what keeps it out."""
    reason = asking.refusal(cell)
    if reason is None:
        return Stand(cell=cell, against=asking.against(cell))
    refused = [(_State(cell=cell, repairs=(), price=(0, 0)), reason)]
    for _ in range(2):
        steps = [step for state, why in refused for step in _steps(space, state, why, keep, donors)]
        steps.sort(key=lambda step: step.price)
        refused = []
        best: _State | None = None
        for step in steps:
            if why := asking.refusal(step.cell):
                refused.append((step, why))
                continue
            verdict = asking.answer(step.cell).verdict
            if verdict is Verdict.SUPPORTED:
                return Stand(cell=step.cell, repairs=step.repairs)
            if verdict in WORKS and best is None:
                best = step
        if best is not None:
            return Stand(cell=best.cell, repairs=best.repairs)
    return Stand(cell=cell, against=against(reason))


def _steps(
    space: Space, state: _State, reason: Reason, keep: frozenset[str], donors: Sequence[Axes]
) -> Iterator[_State]:
    """Each way to move one more of the axes that a refusal speaks of; the nearest values first."""
    done = {repair.axis for repair in state.repairs}
    for name in space:
        if name in keep | FIXED | done or (_known(reason, state.cell) and name not in reason.axes):
            continue
        values = along(space, name, state.cell)
        own = values.index(state.cell[name]) if values else 0
        for at, value in enumerate(values):
            if at == own:
                continue
            cell = moved(space, state.cell, {name: value}, donors)
            if misfit(space, cell) or any(cell.get(kept) != state.cell.get(kept) for kept in keep):
                continue
            repair = Repair(axis=name, before=state.cell[name], after=value, reason=reason)
            distance = 2 * abs(at - own) - (at > own)  # upwards first: what is asked is what an upgrade would need
            price = (state.price[0] + _price(name), state.price[1] + distance)
            yield _State(cell=cell, repairs=(*state.repairs, repair), price=price)


def _known(reason: Reason, cell: Axes) -> bool:
    """Whether a reason speaks of axes that a cell has, and not only of what follows from them."""
    return any(name in cell for name in reason.axes)


def _price(name: str) -> int:
    if name == "torch":
        return 1
    return _DEAREST if name == "gpu" else _PRICES[axes.AXES[name].where]
