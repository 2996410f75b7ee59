"""The `axes` section: which values each axis takes, and under which condition."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from orchestrator import axes, text
from orchestrator.matrix.conditions import CONDITION, cell_axis
from orchestrator.matrix.forms import TEXT_SCHEMA, Field, Form, Record, mapping, refuse, table
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.tree import Listing, Node, Scalar, Table
from orchestrator.model import Axes, AxisValues, Place

Values = Mapping[str, tuple[AxisValues, ...]]


def by_axis(section: Sequence[AxisValues]) -> Values:
    """The entries of the section by the name of their axis."""
    names = dict.fromkeys(entry.axis for entry in section if entry.values)  # of an entry all in error nothing is known
    return {name: tuple(entry for entry in section if entry.axis == name) for name in names}


def allowed(entries: Sequence[AxisValues], cell: Axes) -> tuple[str, ...]:
    """The values that an axis may take in a cell: those of each entry whose condition holds there.

    A ready image leaves axes unsaid, and an alias is no version yet: what is unknown excludes nothing.
    """
    holding = [entry for entry in entries if axes.selects(_known(entry.when, cell), cell)]
    return tuple(dict.fromkeys(value for entry in holding for value in entry.values))


def _known(when: Axes, cell: Axes) -> Axes:
    return {name: pattern for name, pattern in when.items() if not _is_unknown(name, cell)}


def _is_unknown(name: str, cell: Axes) -> bool:
    return axes.is_alias(axes.AXES[name], cell[name]) if name in cell else "image" in cell


class _Values(Struct, frozen=True, kw_only=True):
    """One entry of an axis, before it is known which axis."""

    values: tuple[Scalar, ...]
    when: Axes
    place: Place


def _read_scalars(node: Node, name: str, problems: Problems) -> tuple[Scalar, ...] | None:
    if not isinstance(node, Listing):
        refuse(node, name, "a list of values", problems)
        return None
    if not node.items:
        problems.add(node.place, f"`{name}` has no value")
        return None
    for child in node.items:
        if not isinstance(child, Scalar):
            refuse(child, name, "text as a value", problems)
    return tuple(child for child in node.items if isinstance(child, Scalar))


_SCALARS = Form(read=_read_scalars, schema={"type": "array", "items": TEXT_SCHEMA, "minItems": 1})
_WHEN = Field("when", CONDITION, "the cells that the values are for: axis -> glob or version range", required=True)
_VALUES = Field("values", _SCALARS, "the values", required=True)


def _conditional(record: Record, _: Problems) -> _Values:
    return _Values(values=record[_VALUES], when=record[_WHEN], place=record.place)


_CONDITIONAL = table((_WHEN, _VALUES), _conditional)


def _read_entries(node: Node, name: str, problems: Problems) -> tuple[_Values, ...] | None:
    """The entries of one axis: a list of values, a mapping with `when`, or a list of such mappings."""
    if isinstance(node, Listing) and node.items and isinstance(node.items[0], Table):
        entries = [_CONDITIONAL.read(child, name, problems) for child in node.items]
        read = tuple(entry for entry in entries if entry is not None)
        return read if len(read) == len(entries) else None  # half of the values would make rows look wrong
    if isinstance(node, Table):
        entry = _CONDITIONAL.read(node, name, problems)
        return None if entry is None else (entry,)
    values = _SCALARS.read(node, name, problems)
    return None if values is None else (_Values(values=values, when={}, place=node.place),)


_ENTRIES = mapping(
    cell_axis,
    Form(
        read=_read_entries,
        schema={"oneOf": [_SCALARS.schema, _CONDITIONAL.schema, {"type": "array", "items": _CONDITIONAL.schema}]},
    ),
)


def _read(node: Node, name: str, problems: Problems) -> tuple[AxisValues, ...] | None:
    entries = _ENTRIES.read(node, name, problems)
    if entries is None:
        return None
    section = []
    for key, parts in entries:
        axis = axes.AXES[key.value]
        for part in parts:
            values = _distinct(axis, part.values, problems)
            section.append(AxisValues(axis=axis.name, values=values, when=part.when, place=part.place))
    return tuple(section)


AXES_SECTION: Form[tuple[AxisValues, ...]] = Form(
    read=_read,
    schema={
        "type": "object",
        "properties": {
            name: _ENTRIES.schema["additionalProperties"]
            for name, axis in axes.AXES.items()
            if axis.where is not axes.Where.ASKED
        },
        "additionalProperties": False,
    },
)


def _distinct(axis: axes.Axis, values: Sequence[Scalar], problems: Problems) -> tuple[str, ...]:
    """The values in the axis's grammar; tells of those that are not, and of those that are the same twice."""
    taken = []
    first: dict[object, Scalar] = {}
    for scalar in values:
        problem = axes.problem_with(axis, scalar.value)
        if axis.name == "env" and (secret := text.secret_in(scalar.value)):
            problem = f"`{text.shown(secret)}` looks like a secret: say where it is under `secrets`"
        if problem and not axes.is_alias(axis, scalar.value):
            problems.add(scalar.place, problem)
            continue
        earlier = first.setdefault(_meaning(axis, scalar.value), scalar)
        if earlier is not scalar:
            problems.add(scalar.place, _equal(axis, earlier, scalar))
        taken.append(scalar.value)
    return tuple(taken)


def _equal(axis: axes.Axis, first: Scalar, again: Scalar) -> str:
    if first.value == again.value:
        return f"`{text.shown(again.value)}` is given twice for `{axis.name}`, first in line {first.place.line}"
    return f"`{text.shown(first.value)}` and `{text.shown(again.value)}` are the same value of `{axis.name}`"


def _meaning(axis: axes.Axis, value: str) -> object:
    """What a value names: `2.6` and `2.6.0` are the same version, `h100` and `H100` the same GPU."""
    if axis.grammar in {axes.Grammar.PYPI, axes.Grammar.DOTTED, axes.Grammar.BUILD}:
        from packaging.version import InvalidVersion, Version

        try:
            return Version(value)
        except InvalidVersion:
            return value
    return value.casefold()
