"""Forms: what a piece of the file looks like, how it is read, and its JSON Schema, in one value.

A form reads a node and gives a value, or None after telling what is wrong: reading goes on, so that all problems of a
file are seen at once.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from msgspec import Struct

from orchestrator import axes, text
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.tree import Listing, Node, Refused, Scalar, Table, kind
from orchestrator.model import Place

T = TypeVar("T")
JsonSchema = Mapping[str, Any]


class Form(Struct, Generic[T], frozen=True, kw_only=True):
    """`read` takes a node, the name it stands under, and where to tell problems."""

    read: Callable[[Node, str, Problems], T | None]
    schema: JsonSchema


class Field(Struct, Generic[T], frozen=True):
    """One key of a mapping; a key with neither `default` nor `required` may be absent."""

    name: str
    form: Form[T]
    about: str
    default: T | None = None
    required: bool = False


class Record(Struct, frozen=True, kw_only=True):
    """What was read from a mapping: the values by key, where each stands, and the keys under which all is not well."""

    place: Place
    values: Mapping[str, object]
    places: Mapping[str, Place]
    broken: frozenset[str]

    def __getitem__(self, field: Field[T]) -> T:
        """The value of a key that is required or has a default."""
        return cast("T", self.values[field.name])

    def get(self, field: Field[T]) -> T | None:
        """The value of a key that may be absent."""
        return cast("T | None", self.values.get(field.name))


def refuse(node: Node, name: str, wanted: str, problems: Problems) -> None:
    """Tells that a node is of the wrong kind, unless it was told before that it cannot be read at all."""
    if not isinstance(node, Refused):
        problems.add(node.place, f"`{name}` takes {wanted}, not {kind(node)}")


def scalar(parse: Callable[[str], T], schema: JsonSchema, *, show: bool = True) -> Form[T]:
    """Text that a function turns into a value; its ValueError says what is wrong.

    Where the text may be a secret in the wrong place, `show` keeps it out of the message.
    """

    def read(node: Node, name: str, problems: Problems) -> T | None:
        if not isinstance(node, Scalar):
            refuse(node, name, "text", problems)
            return None
        try:
            return parse(node.value)
        except ValueError as error:
            given = f"is {f'`{text.shown(node.value)}`' if node.value else 'empty'}" if show else "cannot be used"
            problems.add(node.place, f"`{name}` {given}: {error}")
            return None

    return Form(read=read, schema=schema)


def choice(names: Sequence[str]) -> Form[str]:
    """One of a closed set of words."""

    def parse(written: str) -> str:
        if written not in names:
            near = axes.suggestion(written, dict.fromkeys(names))
            raise ValueError(f"it takes {', '.join(names)}" + (f"; {near}" if near else ""))
        return written

    return scalar(parse, {"enum": list(names)})


def listing(item: Form[T], *, at_least: int = 0) -> Form[tuple[T, ...]]:
    """A list of one form."""

    def read(node: Node, name: str, problems: Problems) -> tuple[T, ...] | None:
        if not isinstance(node, Listing):
            refuse(node, name, "a list", problems)
            return None
        if len(node.items) < at_least:
            problems.add(node.place, f"`{name}` is an empty list")
            return None
        values = [item.read(child, name, problems) for child in node.items]
        return tuple(value for value in values if value is not None)

    return Form(read=read, schema={"type": "array", "items": item.schema, "minItems": at_least})


def table(
    fields: Sequence[Field[Any]], build: Callable[[Record, Problems], T | None], *, partly: bool = False
) -> Form[T]:
    """A mapping with known keys, made into a value once all of them are read; `partly`: even when some cannot be."""

    def read(node: Node, name: str, problems: Problems) -> T | None:
        record = read_record(node, name, fields, problems)
        return None if record is None or (record.broken and not partly) else build(record, problems)

    return Form(read=read, schema=object_schema(fields))


def object_schema(fields: Sequence[Field[Any]]) -> JsonSchema:
    """The JSON Schema of a mapping with known keys."""
    return {
        "type": "object",
        "properties": {field.name: {**field.form.schema, "description": field.about} for field in fields},
        "required": [field.name for field in fields if field.required],
        "additionalProperties": False,
    }


def read_record(node: Node, name: str, fields: Sequence[Field[Any]], problems: Problems) -> Record | None:
    """What can be read of a mapping; None when the node is none."""
    if not isinstance(node, Table):
        refuse(node, name, "a mapping", problems)
        return None
    known = {field.name: field for field in fields}
    values = {field.name: field.default for field in fields if field.default is not None}
    places: dict[str, Place] = {}
    broken: set[str] = set()
    for key, child in node.entries:
        places[key.value] = child.place
        before = len(problems)
        if key.value in known:
            value = known[key.value].form.read(child, key.value, problems)
            if value is not None:
                values[key.value] = value
        elif not isinstance(child, Refused):
            problems.add(key.place, _unknown(key.value, name, known))
        if len(problems) > before or isinstance(child, Refused):
            broken.add(key.value)
    for field in fields:
        if field.required and field.name not in places and "<<" not in places:
            problems.add(node.place, f"`{field.name}` is missing in `{name}`", cause=field.about)
            broken.add(field.name)
    return Record(place=node.place, values=values, places=places, broken=frozenset(broken))


def _unknown(key: str, name: str, known: Mapping[str, object]) -> str:
    if key in axes.AXES:
        return f"`{key}` is an axis that `{name}` does not set"
    near = axes.suggestion(key, known)
    return f"`{name}` has no key `{text.shown(key)}`" + (f", {near}" if near else "")


def mapping(key: Callable[[str], str], value: Form[T]) -> Form[tuple[tuple[Scalar, T], ...]]:
    """A mapping with keys of one form (`key` raises ValueError) and values of one form."""

    def read(node: Node, name: str, problems: Problems) -> tuple[tuple[Scalar, T], ...] | None:
        if not isinstance(node, Table):
            refuse(node, name, "a mapping", problems)
            return None
        entries = []
        for child_key, child in node.entries:
            try:
                key(child_key.value)
            except ValueError as error:
                problems.add(child_key.place, str(error))
                continue
            read_value = value.read(child, child_key.value, problems)
            if read_value is not None:
                entries.append((child_key, read_value))
        return tuple(entries)

    return Form(read=read, schema={"type": "object", "additionalProperties": value.schema})


# --- forms that many sections share -----------------------------------------------------------------------------------

_WORD_LENGTH = 64
_LINE_LENGTH = 400


def _word(written: str) -> str:
    if not text.is_file_name(written) or "+" in written or len(written) > _WORD_LENGTH:
        raise ValueError("it takes a name of letters, digits, dots, dashes and underscores, at most 64 long")
    return written


def _line(written: str) -> str:
    folded = " ".join(written.split())
    if not folded or len(folded) > _LINE_LENGTH:
        raise ValueError(f"it takes a text of 1 to {_LINE_LENGTH} characters")
    if text.visible(folded) != folded:
        raise ValueError("it holds a control character or an invisible one")
    return folded


TEXT_SCHEMA: JsonSchema = {"type": ["string", "number", "boolean"]}
WORD = scalar(_word, TEXT_SCHEMA)
LINE = scalar(_line, TEXT_SCHEMA)
