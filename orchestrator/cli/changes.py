"""What `impact` and `upgrade` are told to change: KEY=VALUE, one or several at a time."""

import datetime as dt
import re
from collections.abc import Iterable

from orchestrator import axes, text
from orchestrator.axes import AXES, Where
from orchestrator.cli import asked
from orchestrator.errors import InputError, InputErrors

ABSENT = "none"
_BETWEEN = re.compile(r",\s*(?=[A-Za-z_]+=)")


def pairs_of(words: Iterable[str]) -> dict[str, str]:
    """`torch=2.13.0,torch_build=cu130` and the like as axis -> value, empty for one that is to be absent.

    InputErrors with all that cannot be: no axis, a value that is none of it, an axis given twice.
    """
    found = asked.pairs(part.strip() for word in words for part in _BETWEEN.split(word))
    problems = [problem for name, value in found.items() if (problem := _problem(name, value))]
    if problems:
        raise InputErrors([InputError(problem) for problem in problems])
    return {name: "" if _is_absent(name, value) else value for name, value in found.items()}


def _problem(name: str, value: str) -> str:
    if name not in AXES:
        near = axes.suggestion(name, AXES)
        return f"no axis is named `{text.one_line(name, 60)}`" + (f": {near}" if near else "")
    return "" if _is_absent(name, value) else axes.problem_with(AXES[name], value)


def _is_absent(name: str, value: str) -> bool:
    return value == ABSENT and AXES[name].default is None


def of_cells(change: dict[str, str]) -> dict[str, str]:
    """A change of production rows; InputError where an axis is one that no cell sets, or is to be taken away."""
    for name, value in change.items():
        if AXES[name].where is Where.ASKED:
            raise InputError(f"`{name}` is no axis of a cell: it follows from others", hint="torch_build, driver, gpu")
        if not value:
            raise InputError(f"a row cannot be without `{name}`", hint="`torchmatrix upgrade` can leave an axis out")
    return change


def day_of(on: str | None) -> dt.date:
    """The day to ask about: the one given, else today."""
    return asked.day(on) if on is not None else dt.datetime.now(tz=dt.UTC).date()
