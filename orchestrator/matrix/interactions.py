"""The `pairwise` key of the `edge` section: which axes are combined with each other, and how many at a time."""

from collections.abc import Sequence

from orchestrator import text
from orchestrator.matrix import quantities
from orchestrator.matrix.axis_values import Values
from orchestrator.matrix.conditions import cell_axis
from orchestrator.matrix.forms import TEXT_SCHEMA, Field, Form, Record, refuse, scalar, table
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.tree import Listing, Node, Scalar
from orchestrator.model import Interaction

_LARGEST = 6  # of the strengths: the public literature knows of no failure that takes more values at once
_AXIS = scalar(cell_axis, TEXT_SCHEMA)


def _names(node: Node, name: str, problems: Problems) -> tuple[str, ...] | None:
    """Names of axes, each once."""
    if not isinstance(node, Listing):
        refuse(node, name, "a list of axes", problems)
        return None
    return _distinct(node.items, name, problems)


def _distinct(nodes: Sequence[Node], name: str, problems: Problems) -> tuple[str, ...]:
    taken: dict[str, Node] = {}
    for node in nodes:
        axis = _AXIS.read(node, name, problems)
        if axis in taken:
            problems.add(node.place, f"`{text.shown(axis)}` is given twice in `{name}`")
        elif axis is not None:
            taken[axis] = node
    return tuple(taken)


_AXES = Field(
    "axes",
    Form(read=_names, schema={"type": "array", "items": _AXIS.schema, "minItems": 2}),
    "the axes that are combined",
    required=True,
)
_STRENGTH = Field(
    "strength",
    scalar(quantities.count(2, _LARGEST), {"type": "integer", "minimum": 2, "maximum": _LARGEST}),
    "how many of them at a time: 2 is pairs",
    default=2,
)


def _interaction(record: Record, problems: Problems) -> Interaction | None:
    return _checked(Interaction(axes=record[_AXES], strength=record[_STRENGTH], place=record.place), problems)


def _checked(one: Interaction, problems: Problems) -> Interaction | None:
    if len(one.axes) < one.strength:
        problems.add(one.place, f"{len(one.axes)} axes have no combinations of {one.strength} values")
        return None
    return one


_MAPPING = table((_AXES, _STRENGTH), _interaction)


def _read(node: Node, name: str, problems: Problems) -> tuple[Interaction, ...] | None:
    """The names that stand in the list are combined by pairs; each mapping in it says its own axes and strength."""
    if not isinstance(node, Listing):
        refuse(node, name, "a list of axes", problems)
        return None
    plain = [child for child in node.items if isinstance(child, Scalar)]
    before = len(problems)
    axes = _distinct(plain, name, problems)
    pairs = _checked(Interaction(axes=axes, place=node.place), problems) if plain and len(problems) == before else None
    read = [_MAPPING.read(child, name, problems) for child in node.items if not isinstance(child, Scalar)]
    return tuple(one for one in (pairs, *read) if one is not None)


INTERACTIONS: Form[tuple[Interaction, ...]] = Form(
    read=_read, schema={"type": "array", "items": {"oneOf": [_AXIS.schema, _MAPPING.schema]}}
)


def check_axes(interactions: Sequence[Interaction], values: Values, problems: Problems) -> None:
    """Tells of axes that are to be combined and have no values in the `axes` section."""
    for one in interactions:
        for name in one.axes:
            if name not in values:
                cause = "list them under `axes`"
                problems.add(one.place, f"`pairwise` combines `{name}`, which has no values", cause=cause)
