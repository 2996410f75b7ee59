"""What a matrix can vary: the values of each axis, their order, and which of them fit together."""

from collections.abc import Mapping, Sequence

from orchestrator import axes
from orchestrator.model import Axes, AxisValues

Space = Mapping[str, tuple[AxisValues, ...]]
_BOUND = frozenset(name for name, axis in axes.AXES.items() if axis.when)


def by_axis(section: Sequence[AxisValues]) -> Space:
    """The entries of the `axes` section by the name of their axis, in the order of the file."""
    names = dict.fromkeys(entry.axis for entry in section)
    return {name: tuple(entry for entry in section if entry.axis == name) for name in names}


def allowed(space: Space, name: str, cell: Axes) -> tuple[str, ...]:
    """The values that an axis may take in a cell: those of each entry whose condition holds there."""
    holding = (entry for entry in space.get(name, ()) if axes.selects(entry.when, cell))
    return tuple(dict.fromkeys(value for entry in holding for value in entry.values))


def all_values(space: Space, name: str) -> tuple[str, ...]:
    """Every value that an axis has under any condition, oldest first."""
    return ordered(name, dict.fromkeys(value for entry in space.get(name, ()) for value in entry.values))


def along(space: Space, name: str, cell: Axes) -> tuple[str, ...]:
    """The values between which a cell can move along an axis, oldest first, its own among them.

    They are those of the entries that hold its own value: another platform's driver is no neighbour of this one. The
    builds of one torch are of one platform too. Without a value, or with one that cannot be ordered, there is no way,
    nor is there one for what is in a ready image.
    """
    own = cell.get(name)
    if own is None or name not in space or ("image" in cell and axes.AXES[name].where is axes.Where.IMAGE):
        return ()
    entries = [entry for entry in space[name] if axes.selects(_said(entry.when, cell), cell)]
    family = [entry for entry in entries if own in entry.values] or entries
    values = dict.fromkeys(value for entry in family for value in entry.values)
    if name == "torch_build":
        platform = axes.platform(cell)
        values = dict.fromkeys(value for value in values if axes.platform({name: value}) == platform)
    if own not in values:
        if axes.AXES[name].grammar not in axes.ORDERED:
            return ()
        values[own] = None
    return ordered(name, values)


def _said(when: Axes, cell: Axes) -> Axes:
    """The part of a condition that a cell speaks of: a ready image leaves axes unsaid."""
    return {name: pattern for name, pattern in when.items() if name in cell or "image" not in cell}


def ordered(name: str, values: "Sequence[str] | Mapping[str, object]") -> tuple[str, ...]:
    """Versions from the oldest on; words have the order of the file."""
    if axes.AXES[name].grammar not in axes.ORDERED:
        return tuple(values)
    return tuple(sorted(values, key=lambda value: axes.age(name, value)))


def misfit(space: Space, partial: Axes) -> str:
    """Why some axes with values cannot stand together in a cell of this matrix, or an empty text.

    An axis with an empty value is one that the cell does not have. What is not given may still be anything.
    """
    for name, value in partial.items():
        if value:
            if unmet := _unmet(axes.AXES[name].when, partial):
                return f"`{name}` has no meaning where {unmet}"
            if name in space and not _can_have(space[name], value, partial):
                return f"`axes` has no {name} {value} there"
        elif name in space and any(_holds(entry.when, partial) for entry in space[name]):
            return f"`{name}` has values there"
    return ""


def _unmet(when: Axes, partial: Axes) -> str:
    """The first part of a condition that given values do not meet, as axis=value."""
    for name, pattern in when.items():
        if name in partial and not axes.matches_any(pattern, partial[name]):
            return f"{name}={partial[name]}"
    return ""


def _can_have(entries: Sequence[AxisValues], value: str, partial: Axes) -> bool:
    return any(value in entry.values and not _unmet(entry.when, partial) for entry in entries)


def _holds(when: Axes, partial: Axes) -> bool:
    return all(name in partial and axes.matches_any(pattern, partial[name]) for name, pattern in when.items())


def moved(space: Space, cell: Axes, change: Axes, donors: Sequence[Axes]) -> dict[str, str]:
    """The whole cell after a change: what lost its meaning is gone, what gained one has a value.

    An axis with an empty value in `change` is taken out. A value that an axis needs anew is that of the first of the
    donors (cells of production) that has one that may stand there, else the newest.
    """
    after = {name: value for name, value in {**cell, **change}.items() if value}
    hanging = [name for name, entries in space.items() if any(entry.when for entry in entries) and name not in change]
    for _ in range(2):  # a condition may hang on an axis that hangs on the change
        bound = _BOUND.union(hanging).difference(change)
        for name in [name for name in after if name in bound and not _has_meaning(space, name, after)]:
            del after[name]
        for name in hanging:
            values = allowed(space, name, after)
            gained = name not in after and values and not allowed(space, name, cell)
            lost = name in after and values and after[name] not in values and cell.get(name) == after[name]
            if gained or (lost and cell[name] in allowed(space, name, cell)):
                after[name] = _from_donors(name, values, donors)
    return axes.complete(after)


def _has_meaning(space: Space, name: str, cell: Axes) -> bool:
    if "image" in cell:
        return True  # what is in a ready image is not said
    if any(not entry.when for entry in space.get(name, ())):
        return axes.applies(axes.AXES[name], cell)
    return axes.applies(axes.AXES[name], cell) and (name not in space or bool(allowed(space, name, cell)))


def _from_donors(name: str, values: Sequence[str], donors: Sequence[Axes]) -> str:
    return next((donor[name] for donor in donors if donor.get(name) in values), ordered(name, values)[-1])


def nearest_first(cells: Sequence[dict[str, str]], to: Axes) -> list[dict[str, str]]:
    """Cells by how many axes they share with another, the most first; equal ones keep their order."""
    return sorted(cells, key=lambda cell: -sum(to.get(name) == value for name, value in cell.items()))
