"""The values that an axis can move through, oldest first, one for each line of releases.

Hardware is what it is: cards, their number and their partition are no answer to what must move.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from orchestrator import axes
from orchestrator.axes import AXES, Grammar, Where
from orchestrator.model import Axes, Matrix

Known = Callable[[str], Sequence[str]]
Ladders = Mapping[str, Sequence[str]]

# What comes with a base as its distribution has it, and is not chosen apart from it.
WITH_THE_DISTRIBUTION = frozenset({"torch", "torch_build", "python", "numpy"})
_STAYS = frozenset({"gpu", "gpus", "partition", "firmware", "host_arch", "torch_from", "image"})
# How many numbers a value has that one would choose: 2.14 names a line of torch, 3.13.3 one release of a Python.
_COMPONENTS = {Grammar.PYPI: range(3, 7), Grammar.PYTHON: range(2, 3)}
_ANY = range(1, 7)
_BRANCH, _LINE, _EVERY = 1, 2, 9
_PLAIN = re.compile(r"[a-z]*\d+(\.\d+)*t?", re.ASCII)


def is_ordered(name: str) -> bool:
    """Whether the values of an axis are older and newer, so that there is something between two of them."""
    return AXES[name].grammar in axes.ORDERED


def movable(cell: Axes, known: Known, matrix: Matrix | None = None) -> Ladders:
    """By axis, the values that each versioned axis of a combination may move to, its own among them.

    Those that the matrix lists are in as they are; of the others the newest of each line of releases.
    """
    ladders = {name: rungs(name, cell[name], cell, known, _listed(name, matrix)) for name in cell if _moves(name, cell)}
    return {name: values for name, values in ladders.items() if len(values) > 1}


def _moves(name: str, cell: Axes) -> bool:
    if name in WITH_THE_DISTRIBUTION and cell.get("torch_from") == "distribution":
        return False
    return name in AXES and AXES[name].where in {Where.IMAGE, Where.HOST} and name not in _STAYS


def _listed(name: str, matrix: Matrix | None) -> Iterable[str]:
    return (value for entry in (matrix.axes if matrix else ()) if entry.axis == name for value in entry.values)


def rungs(name: str, value: str, cell: Axes, known: Known, held: Iterable[str] = ()) -> tuple[str, ...]:
    """The values of an axis that are of a kind with `value`, oldest first; `held` and `value` are in as they are."""
    if not is_ordered(name):
        return tuple(dict.fromkeys((value, *held)))
    kin = _kin(name, value)
    kept = {text for text in (value, *held) if _kin(name, text) == kin}
    length = _line_of(name, cell)
    lines = {_numbers(text)[:length] for text in kept}
    newest = {_numbers(text)[:length]: text for text in _releases(name, cell, known) if _kin(name, text) == kin}
    return tuple(
        sorted(kept | {text for line, text in newest.items() if line not in lines}, key=partial(axes.age, name))
    )


def _releases(name: str, cell: Axes, known: Known) -> Iterable[str]:
    """The values that facts name of an axis, old before new; none that only names a line of releases."""
    fit = (
        text
        for text in known(_told_as(name, cell))
        if _PLAIN.fullmatch(text)
        and not axes.problem_with(AXES[name], text)
        and len(_numbers(text)) in _COMPONENTS.get(AXES[name].grammar, _ANY)
    )
    return sorted(fit, key=partial(axes.age, name))


def _told_as(name: str, cell: Axes) -> str:
    """Whose kernel driver the driver of a combination is: the vendors number theirs apart."""
    if name != "driver":
        return name
    return {"rocm": "amdgpu_driver", "xpu": "compute_runtime"}.get(axes.platform(cell), name)


def _kin(name: str, value: str) -> tuple[object, ...]:
    """What two values must share for one to be older or newer than the other: a branch of a driver is no release."""
    if name == "torch_build":
        return (axes.platform({"torch_build": value}),)
    if name == "driver":
        return ("." in value,)
    return (value.endswith("t"),)


def _line_of(name: str, cell: Axes) -> int:
    """How many numbers of a release name its line: the branch of an NVIDIA driver, every one of a build's."""
    if name == "torch_build":
        return _EVERY
    return _BRANCH if _told_as(name, cell) == "driver" else _LINE


def _numbers(value: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", value)))


def between(name: str, start: Axes, goal: Axes, known: Known) -> tuple[str, ...]:
    """The values of an axis from one combination to another, both ends among them, as an upgrade meets them.

    An axis that is given at one end only, and one whose values have no order, has none between.
    """
    first, last = start.get(name, ""), goal[name]
    if not first or not last or not is_ordered(name) or _kin(name, first) != _kin(name, last):
        return first, last
    values = rungs(name, first, goal, known, (last,))
    begin, end = values.index(first), values.index(last)
    return values[begin : end + 1] if begin < end else tuple(reversed(values[end : begin + 1]))
