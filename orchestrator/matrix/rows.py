"""The `production` section: each row is one cell that production runs today."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from orchestrator import axes, text
from orchestrator.matrix import quantities
from orchestrator.matrix.axis_values import Values, allowed
from orchestrator.matrix.extras import GIVEN
from orchestrator.matrix.forms import LINE, TEXT_SCHEMA, WORD, Field, Form, Record, listing, refuse, scalar, table
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.tree import Node, Scalar, Table
from orchestrator.model import Place, Row

BUILT = ("torch", "torch_build", "python")  # what an image cannot be built without


class WrittenRow(Struct, frozen=True, kw_only=True):
    """A row, and where each of its keys has its value."""

    row: Row
    places: Mapping[str, Place]


def axis_form(axis: axes.Axis, *, aliases: bool = False) -> Form[str]:
    """The form of one axis's value, or of an alias of one: a machine has no newest driver, it has the one it has."""

    def read(node: Node, name: str, problems: Problems) -> str | None:
        if not isinstance(node, Scalar):
            refuse(node, name, "text", problems)
            return None
        problem = axes.problem_with(axis, node.value)
        if problem and not (aliases and axes.is_alias(axis, node.value)):
            problems.add(node.place, problem)
            return None
        return node.value

    return Form(read=read, schema={"enum": list(axis.choices)} if axis.choices else TEXT_SCHEMA)


def _read_env(node: Node, name: str, problems: Problems) -> str | None:
    """`A=1 B=2` from a text or from a mapping; sorted, so that two spellings are one cell."""
    before = len(problems)
    match node:
        case Table():
            pairs = [f"{key.value}={_env_value(child, key.value, problems)}" for key, child in node.entries]
        case Scalar():
            pairs = node.value.split(" ") if node.value else []
        case _:
            refuse(node, name, "a mapping NAME: value, or NAME=value pairs", problems)
            return None
    if _refuse_secret(pairs, node.place, name, problems):
        return None  # and no other problem, which might show it
    for pair in pairs:
        if axes.problem_with(axes.AXES["env"], pair) or not pair:
            problems.add(node.place, f"`{text.shown(pair)}` in `{name}` is not of the form NAME=value")
    names = [pair.split("=", 1)[0] for pair in pairs]
    for twice in sorted({each for each in names if names.count(each) > 1}):
        problems.add(node.place, f"`{text.shown(twice)}` is given twice in `{name}`")
    return " ".join(sorted(pairs)) if len(problems) == before else None


def _refuse_secret(pairs: Sequence[str], place: Place, name: str, problems: Problems) -> bool:
    """Tells of a variable that would hold a secret: its value would stand in plans, in containers and in reports."""
    secret = text.secret_in(" ".join(pairs))
    if secret:
        how = f"name its place under `secrets`, and `secrets: [{secret}]` in the row; then {secret}_FILE names its file"
        problems.add(place, f"`{text.shown(secret)}` in `{name}` looks like a secret", cause=how)
    return bool(secret)


def _env_value(node: Node, name: str, problems: Problems) -> str:
    if isinstance(node, Scalar):
        return node.value
    problems.add(node.place, f"`{text.shown(name)}` takes text")
    return ""


_ENV: Form[str] = Form(
    read=_read_env,
    schema={"oneOf": [TEXT_SCHEMA, {"type": "object", "additionalProperties": TEXT_SCHEMA}]},
)

_NAME = Field("name", WORD, "the row's name, unique in the file", required=True)
_OWNER = Field("owner", LINE, "who is told when the cell breaks", default="")
_FALLBACK = Field(
    "allow_fallback",
    scalar(quantities.flag, {"type": "boolean"}),
    "whether the cell passes when its backend leaves work to another",
    default=False,
)
_TIMEOUT = Field("timeout", scalar(quantities.duration, {"type": "string"}), "seconds, minutes or hours: 90s, 20m")
_AXES: tuple[Field[str], ...] = tuple(
    Field(axis.name, _ENV if axis.name == "env" else axis_form(axis, aliases=True), axis.grammar.value)
    for axis in axes.AXES.values()
    if axis.where is not axes.Where.ASKED
)


def _row(record: Record, problems: Problems) -> WrittenRow:
    given = {field.name: value for field in _AXES if (value := record.get(field)) is not None}
    if not record.broken:  # a key that could not be read may be the one that lacks
        _check_complete(record, given, problems)
    _check_conditions(record, given, problems)
    row = Row(
        name=record.get(_NAME) or "",
        owner=record[_OWNER],
        axes=given,
        allow_fallback=record[_FALLBACK],
        timeout_s=record.get(_TIMEOUT),
        place=record.place,
        secrets=record[GIVEN],
    )
    return WrittenRow(row=row, places=record.places)


ROWS = listing(table((_NAME, _OWNER, _FALLBACK, _TIMEOUT, GIVEN, *_AXES), _row, partly=True))


def _check_complete(record: Record, given: Mapping[str, str], problems: Problems) -> None:
    """A row says how its image is made, or which image it is."""
    if "image" in given:
        return
    if missing := [name for name in BUILT if name not in given]:
        listed = " and ".join(f"`{name}`" for name in missing)
        problems.add(record.place, f"row `{record[_NAME]}` lacks {listed}", cause="or give a ready `image` by digest")


def _check_conditions(record: Record, given: Mapping[str, str], problems: Problems) -> None:
    """An axis that has no meaning in the row's combination is a mistake, not a detail."""
    for name in given:
        axis = axes.AXES[name]
        if not _has_meaning(axis, given):
            where = text.pairs({needed: given[needed] for needed in axis.when})
            problems.add(
                record.places[name],
                f"`{name}` has no meaning where {where}",
                cause=f"it applies where {text.pairs(axis.when)}",
            )


def _has_meaning(axis: axes.Axis, given: Mapping[str, str]) -> bool:
    """Whether an axis applies, as far as the row tells: what is in a ready image is observed, not known here."""
    return axes.applies(axis, given) or not all(needed in given for needed in axis.when)


def check_names(rows: Sequence[Row], problems: Problems) -> None:
    """Tells of rows with one name."""
    first: dict[str, Place] = {}
    for row in rows:
        if row.name and row.name in first:
            problems.add(row.place, f"two rows are named `{row.name}`", cause=f"first in line {first[row.name].line}")
        first.setdefault(row.name, row.place)


def check_values(written: Sequence[WrittenRow], values: Values, problems: Problems) -> None:
    """Tells of row values that the `axes` section does not hold, for the axes that it declares.

    What an alias stands for is not known here: one fits, in a row as among the values.
    """
    for each in written:
        cell = axes.complete(each.row.axes)
        for name, value in each.row.axes.items():
            if axes.is_alias(axes.AXES[name], value):
                continue
            if name in values and _has_meaning(axes.AXES[name], cell):
                _check_value(name, value, allowed(values[name], cell), each.places[name], problems)


def _check_value(name: str, value: str, known: Sequence[str], place: Place, problems: Problems) -> None:
    if value in known or any(axes.is_alias(axes.AXES[name], each) for each in known):
        return
    near = axes.suggestion(value, dict.fromkeys(known))
    fact = f"`{text.shown(value)}` is not among the values of `{name}`" + (f", {near}" if near else "")
    listed = text.one_line(", ".join(known), 120) or "none beside the other values of this row"
    problems.add(place, fact, cause=f"`axes` has {listed}")
