"""Mutants of a decision table: each row's status, cause, reason and every part of its condition, changed one at a time.

The table is read as source: what a person could have written by mistake is what is tried.
"""

import ast
import copy
import inspect
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from orchestrator.vocabulary import Cause, Status

_OTHER: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.Eq: ast.NotEq,
}


class Mutant(NamedTuple):
    """One change of one row: which row, what of it, how it reads now, and the row that comes of it."""

    at: int
    of: str
    reads: str
    row: Any


def mutants(module: ModuleType, table: Sequence[Any]) -> Iterator[Mutant]:
    """Every mutant of the rows of `TABLE` in the module."""
    for at, (row, written) in enumerate(zip(table, _rows(module), strict=True)):
        fields = {keyword.arg: keyword.value for keyword in written.keywords}
        for status in Status:
            if status is not row.status:
                yield Mutant(at, "status", str(status), _replaced(row, status=status))
        for cause in (Cause.KILLED, Cause.NUMERICS):
            yield Mutant(at, "cause", str(cause), _replaced(row, cause=lambda _, cause=cause: cause))
        yield Mutant(at, "reason", "another", _replaced(row, reason=lambda _: "something else"))
        for name in ("when", "cause"):
            for node in _changed(fields[name]):
                made = eval(compile(ast.Expression(node), name, "eval"), vars(module))
                yield Mutant(at, name, ast.unparse(node), _replaced(row, **{name: made}))


def _replaced(row: Any, **changes: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(row, **changes)


def _rows(module: ModuleType) -> list[ast.Call]:
    tree = ast.parse(inspect.getsource(module))
    (table,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "TABLE"
    )
    assert isinstance(table, ast.Tuple)
    return [row for row in table.elts if isinstance(row, ast.Call)]


def _changed(whole: ast.expr) -> Iterator[ast.expr]:
    """Copies of a lambda, each with one part of its body changed; other expressions have no such parts."""
    if not isinstance(whole, ast.Lambda):
        return
    for constant in (True, False):
        if not (isinstance(whole.body, ast.Constant) and whole.body.value is constant):
            yield _with(whole, whole, "body", ast.Constant(constant))
    yield _with(whole, whole, "body", ast.UnaryOp(ast.Not(), whole.body))
    for node in ast.walk(whole):
        for field in node._fields:
            for other in _others(getattr(node, field)):
                yield _with(whole, node, field, other)


def _others(part: object) -> Iterator[object]:
    """What could stand in the place of one part of an expression."""
    if isinstance(part, ast.BoolOp):
        yield from part.values  # without the others
        yield ast.BoolOp(ast.Or() if isinstance(part.op, ast.And) else ast.And(), part.values)
        for at, value in enumerate(part.values):
            turned = ast.UnaryOp(ast.Not(), value)
            yield ast.BoolOp(part.op, [*part.values[:at], turned, *part.values[at + 1 :]])
    elif isinstance(part, ast.IfExp):
        yield ast.IfExp(part.test, part.orelse, part.body)
    elif isinstance(part, ast.Compare) and type(part.ops[0]) in _OTHER:
        yield ast.Compare(part.left, [_OTHER[type(part.ops[0])]()], part.comparators)


def _with(whole: ast.expr, node: ast.AST, field: str, value: object) -> ast.expr:
    """A copy of the whole in which one field of one node has another value."""
    before = getattr(node, field)
    setattr(node, field, value)
    try:
        return ast.fix_missing_locations(copy.deepcopy(whole))
    finally:
        setattr(node, field, before)
