"""The whole of matrix.yaml: its sections, what holds between them, and its JSON Schema for editors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orchestrator.matrix import axis_values, extras, interactions, rows, runners
from orchestrator.matrix.forms import Field, Record, object_schema, read_record, scalar
from orchestrator.matrix.known_values import check_possible, known_values
from orchestrator.matrix.limits import EDGE, GATES, LIMITS
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.rules import KNOWN_ISSUES, RULES
from orchestrator.matrix.tree import Node, Table
from orchestrator.model import Edge, Limits, Matrix

VERSION = 1


def _version(written: str) -> int:
    if not written.isascii() or not written.isdigit():
        raise ValueError(f"it takes a whole number, today {VERSION}")
    if written != str(VERSION):
        newer = len(written) > 1 or int(written) > VERSION
        raise ValueError(f"this torchmatrix reads version {VERSION}" + ("; a newer one is needed" if newer else ""))
    return VERSION


_VERSION = Field("version", scalar(_version, {"const": VERSION}), "the version of the file's format", required=True)
_AXES = Field("axes", axis_values.AXES_SECTION, "the values of each axis", default=())
_PRODUCTION = Field("production", rows.ROWS, "the cells that production runs today", required=True)
_EDGE = Field("edge", EDGE, "how the edges of production are chosen", default=Edge())
_LOADS = Field("loads", extras.LOADS, "a team's own loads beside the built-in ones", default=())
_RULES = Field("rules", RULES, "combinations that are not planned", default=())
_FACTS = Field("facts", extras.FACTS, "files of facts laid over the shipped ones", default=())
_KNOWN = Field("known_issues", KNOWN_ISSUES, "failures that are expected", default=())
_RUNNERS = Field("runners", runners.RUNNERS, "classes of machines", default=())
_LIMITS = Field("limits", LIMITS, "what one cell may use", default=Limits())
_GATES = Field("gates", GATES, "how much worse a metric may get", default={})
_SECRETS = Field("secrets", extras.SECRETS, "where secrets are; never their values", default=())


_FIELDS: tuple[Field[Any], ...] = (
    _VERSION,
    _AXES,
    _PRODUCTION,
    _EDGE,
    _LOADS,
    _RULES,
    _FACTS,
    _KNOWN,
    _RUNNERS,
    _LIMITS,
    _GATES,
    _SECRETS,
)


def matrix_of(root: Node, folder: Path, problems: Problems) -> Matrix:
    """The Matrix in a tree; InputErrors with every problem. `folder` is where the paths in the file begin."""
    record = read_record(root, "matrix", _FIELDS, problems)
    if record is None or _PRODUCTION.name not in record.values:
        problems.raise_any()
    assert record is not None
    written = record[_PRODUCTION]
    matrix = Matrix(
        file=root.place.file,
        axes=record[_AXES],
        production=tuple(each.row for each in written),
        edge=record[_EDGE],
        loads=record[_LOADS],
        rules=record[_RULES],
        facts=record[_FACTS],
        known_issues=record[_KNOWN],
        runners=record[_RUNNERS],
        limits=record[_LIMITS],
        gates=record[_GATES],
        secrets=record[_SECRETS],
    )
    rows.check_names(matrix.production, problems)
    if not record.broken & {_AXES.name, _EDGE.name}:
        interactions.check_axes(matrix.edge.pairwise, axis_values.by_axis(matrix.axes), problems)
    rows.check_values(written, axis_values.by_axis(matrix.axes), problems)
    runners.check_names(matrix.runners, problems)
    extras.check_paths(matrix.loads, folder, problems)
    if _SECRETS.name not in record.broken:
        extras.check_given((*matrix.production, *matrix.loads), matrix.secrets, problems)
    _check_conditions(matrix, _broken(root, record), problems)
    problems.raise_any()
    return matrix


def _broken(root: Node, record: Record) -> list[Node]:
    """The sections with values of axes in which something could not be read."""
    names = record.broken & {_AXES.name, _PRODUCTION.name}
    return [child for key, child in root.entries if key.value in names] if isinstance(root, Table) else []


def _check_conditions(matrix: Matrix, broken: Sequence[Node], problems: Problems) -> None:
    """A condition that can never hold is a typo, or was forgotten when its value went."""
    values = known_values(matrix.axes, matrix.production, broken)
    for entry in matrix.axes:
        check_possible(entry.when, values, entry.place, problems)
    for rule in matrix.rules:
        check_possible(rule.forbid, values, rule.place, problems)
    for known in matrix.known_issues:
        check_possible(known.when, values, known.place, problems)


def document_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of matrix.yaml, for editors that check while one types."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "torchmatrix matrix.yaml",
        **object_schema(_FIELDS),
    }
