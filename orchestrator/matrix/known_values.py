"""Which values each axis has in a file, so that a condition that can never hold is told."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from orchestrator import axes, text
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.tree import Listing, Node, Refused, Scalar, Table
from orchestrator.model import Axes, AxisValues, Place, Row


class KnownValues(Struct, frozen=True, kw_only=True):
    """`found` are the values by axis. `doubtful` are those that a part of the file with problems may have meant."""

    found: Mapping[str, frozenset[str]]
    doubtful: Mapping[str, frozenset[str]]


def known_values(section: Sequence[AxisValues], production: Sequence[Row], broken: Sequence[Node]) -> KnownValues:
    """The values that a file declares, names in a row or leaves at a default; `broken` are sections with problems."""
    found: dict[str, set[str]] = {name: set() for name in axes.AXES}
    for entry in section:
        found[entry.axis].update(entry.values)
    for row in production:
        for name, value in axes.complete(row.axes).items():
            found[name].add(value)
    doubtful: dict[str, set[str]] = {name: set() for name in axes.AXES}
    for node in broken:
        for axis, value in _written(node, None):
            for name in axes.AXES if axis is None else (axis,):
                doubtful[name].add(value)
    return KnownValues(found=_frozen(found), doubtful=_frozen(doubtful))


def _frozen(values: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    return {name: frozenset(each) for name, each in values.items()}


def _written(node: Node, axis: str | None) -> Iterator[tuple[str | None, str]]:
    """Each text below a node with the axis whose key it stands under; None below a key that is no axis, a typo say."""
    match node:
        case Scalar():
            yield axis, node.value
        case Listing():
            for child in node.items:
                yield from _written(child, axis)
        case Table():
            for key, child in node.entries:
                if key.value != "when":
                    below = axis if key.value == "values" else None
                    yield from _written(child, key.value if key.value in axes.AXES else below)
        case Refused():
            return


def check_possible(when: Axes, values: KnownValues, place: Place, problems: Problems) -> None:
    """Tells of each part of a condition that no value of its axis fits; what an alias will fit is not known here."""
    for name, pattern in when.items():
        if any(axes.is_alias(axes.AXES[name], value) for value in values.found[name]):
            continue
        if any(axes.matches_any(pattern, value) for value in values.found[name] | values.doubtful[name]):
            continue
        listed = ", ".join(sorted(values.found[name])) or "none"
        fact = f"`{name}: {text.shown(pattern)}` matches nothing in this file"
        problems.add(place, fact, cause=f"values of `{name}`: {text.one_line(listed, 120)}")
