"""Aliases: what `newest 2.x` and `latest` stand for today, as far as the facts know."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from orchestrator import axes
from orchestrator.errors import InputError, InputErrors
from orchestrator.model import Axes, AxisValues, Matrix, Place, Row
from orchestrator.planning.space import allowed, by_axis

Known = Callable[[str], Sequence[str]]  # an axis -> its known values, oldest first


def has_aliases(matrix: Matrix) -> bool:
    """Whether something of a matrix is to be resolved."""
    values = [(entry.axis, value) for entry in matrix.axes for value in entry.values]
    values += [pair for row in matrix.production for pair in row.axes.items()]
    return any(axes.is_alias(axes.AXES[name], value) for name, value in values)


def resolve(matrix: Matrix, known: Known) -> Matrix:
    """The matrix with a version in place of each alias; rows and axes keep what was written in their `aliases`.

    InputErrors for each alias that stands for nothing, and for each plain value that no alias of its axis stands for.
    """
    problems: list[InputError] = []
    section = tuple(_values(entry, known, problems) for entry in matrix.axes)
    rows = tuple(_row(row, known, problems) for row in matrix.production)
    if not problems:
        problems = [problem for row in rows for problem in _unlisted(row, section)]
    if problems:
        raise InputErrors(problems)
    return replace(matrix, axes=section, production=rows)


def _values(entry: AxisValues, known: Known, problems: list[InputError]) -> AxisValues:
    axis = axes.AXES[entry.axis]
    taken: dict[str, str] = {}  # value -> the alias that it came from, empty for a value that is written
    for value in entry.values:
        if not axes.is_alias(axis, value):
            taken[value] = ""
        elif meant := _meant(entry.axis, value, entry.place, known, problems):
            taken.setdefault(meant, value)
    aliases = {value: alias for value, alias in taken.items() if alias}
    return replace(entry, values=tuple(taken), aliases=aliases)


def _row(row: Row, known: Known, problems: list[InputError]) -> Row:
    aliases = {name: value for name, value in row.axes.items() if axes.is_alias(axes.AXES[name], value)}
    meant = {name: _meant(name, alias, row.place, known, problems) for name, alias in aliases.items()}
    return replace(row, axes={**row.axes, **meant}, aliases=aliases)


def _meant(axis: str, alias: str, place: Place, known: Known, problems: list[InputError]) -> str:
    values = known(axis)
    meant = axes.meant_by(alias, values)
    if not meant:
        cause = f"they know {values[0]} to {values[-1]}" if values else f"they know no version of `{axis}`"
        problems.append(
            InputError(f"`{alias}` of `{axis}` is nothing that the facts know", place=str(place), cause=cause)
        )
    return meant


def _unlisted(row: Row, section: Sequence[AxisValues]) -> list[InputError]:
    """Values of a row that its axis does not list: beside an alias the file alone could not tell."""
    entries = by_axis(section)
    with_alias = {name for name, each in entries.items() if any(entry.aliases for entry in each)}
    cell = axes.complete(row.axes)
    return [
        InputError(
            f"`{value}` is not among the values of `{name}`",
            place=str(row.place),
            cause=f"`axes` has {', '.join(allowed(entries, name, cell))}",
        )
        for name, value in row.axes.items()
        if name in with_alias and name not in row.aliases and value not in allowed(entries, name, cell)
    ]


def aliases_of(cell: Axes, section: Sequence[AxisValues]) -> dict[str, str]:
    """The axes of a cell whose value an alias of the `axes` section stands for: axis -> alias."""
    return {
        entry.axis: entry.aliases[cell[entry.axis]]
        for entry in section
        if entry.axis in cell and cell[entry.axis] in entry.aliases and axes.selects(entry.when, cell)
    }
