"""A new value for an axis: among its values, and in the production rows that move to it. Text in, text out."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from orchestrator import axes, text
from orchestrator.errors import InputError
from orchestrator.matrix import edit, parse
from orchestrator.matrix.axis_values import allowed
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.tree import Listing, Node, Scalar, Table
from orchestrator.model import Axes, AxisValues, Matrix, Row

_OF_THE_BASE = frozenset({"torch", "torch_build", "python"})  # a distribution's torch is what its base ships


class Move(Struct, frozen=True, kw_only=True):
    """A row that takes the new value."""

    row: str
    before: Axes
    after: Axes


class Stay(Struct, frozen=True, kw_only=True):
    """A row that was meant and does not move."""

    row: str
    why: str


class Bump(Struct, frozen=True, kw_only=True):
    """The edited text, and what is different in it."""

    content: str
    moves: tuple[Move, ...]
    stays: tuple[Stay, ...]
    added: bool


def bump(content: str, matrix: Matrix, name: str, value: str, *, old: str = "", rows: Sequence[str] = ()) -> Bump:
    """The text of a matrix with `value` for the axis `name`; `matrix` is what the text says now.

    Rows that have `old` move, or those that have the newest value older than `value`; of those named in `rows` when
    some are. InputError when the value is none of the axis, or when it cannot be told which rows are meant.
    """
    axis = _axis(name, value)
    meant, stays = _meant(matrix.production, axis, value, old=old, names=rows)
    root = parse.parse(content, matrix.file, Problems())
    moves = tuple(Move(row=row.name, before=row.axes, after={**row.axes, name: value}) for row in meant)
    additions = list(_additions(content, root, matrix, name, value, moves))
    scalars = dict(_row_scalars(root, name))
    changes = [edit.replaced(content, scalars[move.row], value) for move in moves]
    return Bump(
        content=edit.applied(content, [*changes, *additions]), moves=moves, stays=tuple(stays), added=bool(additions)
    )


def _axis(name: str, value: str) -> axes.Axis:
    axis = axes.axis_named(name)
    if axis.where is axes.Where.ASKED or axis.grammar in {axes.Grammar.ENV, axes.Grammar.FREE}:
        raise InputError(f"`{name}` is no axis that a row moves along")
    if problem := axes.problem_with(axis, value):
        raise InputError(problem)
    return axis


def _meant(
    production: Sequence[Row], axis: axes.Axis, value: str, *, old: str, names: Sequence[str]
) -> tuple[list[Row], list[Stay]]:
    known = {row.name: row for row in production}
    for name in names:
        if name not in known:
            raise InputError(f"no row is named `{text.shown(name)}`", hint=axes.suggestion(name, known))
    asked = [known[name] for name in dict.fromkeys(names)] or list(production)
    if not old and not names:
        old = _newest_older(production, axis, value)
        if not old:
            return [], []
    moving: list[Row] = []
    stays: list[Stay] = []
    for row in asked:
        has = axes.complete(row.axes).get(axis.name, "")
        if old and not (has and axes.matches(axis.name, old, has)):
            if names:
                stays.append(Stay(row=row.name, why=f"has {axis.name}={has}" if has else f"has no {axis.name}"))
        elif has == value:
            stays.append(Stay(row=row.name, why=f"has {axis.name}={value} already"))
        elif why := _held(row, axis):
            stays.append(Stay(row=row.name, why=why))
        else:
            moving.append(row)
    return moving, stays


def _held(row: Row, axis: axes.Axis) -> str:
    """Why a row that is meant cannot move, or an empty text."""
    has = row.axes.get(axis.name)
    if has is None:
        return f"does not write out `{axis.name}`: give it the value there"
    if axes.is_alias(axis, has):
        return f"`{has}` is an alias: it moves by itself"
    if axis.name in _OF_THE_BASE and row.axes.get("torch_from") == "distribution":
        return "its torch is the distribution's: it comes with the base"
    return ""


def _newest_older(production: Sequence[Row], axis: axes.Axis, value: str) -> str:
    """The newest value among production rows that is older than `value`, or an empty text.

    Rows that cannot move are looked at only where no other has an older one.
    """
    if axis.grammar not in axes.ORDERED:
        raise InputError(
            f"values of `{axis.name}` have no order", hint="say which rows move: `--from OLD`, or `--row NAME`"
        )
    family, age = _age(axis.name, value)
    for rows in ([row for row in production if not _held(row, axis)], production):
        older = {has for row in rows if (has := row.axes.get(axis.name)) and not axes.is_alias(axis, has)}
        ages = {has: _age(axis.name, has) for has in older}
        candidates = [has for has, (kin, its) in ages.items() if kin == family and its < age]
        if candidates:
            return max(candidates, key=lambda has: ages[has][1])
    return ""


def _age(name: str, value: str) -> tuple[str, tuple[Any, ...]]:
    """The family of a value, and a key that sorts its members oldest first: cu126 is a relative of cu130 only."""
    family = "" if axes.AXES[name].grammar is axes.Grammar.PYPI else re.sub(r"[\d.]+", "", value)
    return family, axes.age(name, value)


def _row_scalars(root: Node, name: str) -> Iterator[tuple[str, Scalar]]:
    """Where each row that writes out the axis has its value, by the row's name."""
    production = _under(root, "production")
    for row in production.items if isinstance(production, Listing) else ():
        called, value = _under(row, "name"), _under(row, name)
        if isinstance(called, Scalar) and isinstance(value, Scalar):
            yield called.value, value


def _additions(
    content: str, root: Node, matrix: Matrix, name: str, value: str, moves: Sequence[Move]
) -> Iterator[edit.Change]:
    """The value as a new one of the axis, in each entry where a row that moves looks for it."""
    entries = [entry for entry in matrix.axes if entry.axis == name]
    chosen = _entries_for(entries, name, moves) if moves else _beside_its_kin(entries, value)
    for entry, listing in zip(entries, _lists(_under(_under(root, "axes"), name)), strict=True):
        if entry in chosen and value not in entry.values:
            yield edit.inserted(content, listing, _place_among(name, entry.values, value), value)


def _entries_for(entries: Sequence[AxisValues], name: str, moves: Sequence[Move]) -> list[AxisValues]:
    """The entries that lack a value: of those that hold for a row that moves, the ones that have what it moves from."""
    chosen: list[AxisValues] = []
    for move in moves:
        full = axes.complete(move.after)
        if move.after[name] in allowed(entries, full):
            continue
        holding = [entry for entry in entries if allowed([entry], full)]
        chosen += [entry for entry in holding if move.before[name] in entry.values] or holding[:1]
    return chosen


def _beside_its_kin(entries: Sequence[AxisValues], value: str) -> list[AxisValues]:
    """The entries for a value that no row moves to: those of its family, or the only one."""
    return [
        entry
        for entry in entries
        if len(entries) == 1 or _age(entry.axis, value)[0] in {_age(entry.axis, has)[0] for has in entry.values}
    ]


def _place_among(name: str, values: Sequence[str], value: str) -> int:
    """Where the value belongs: in its place when its kin are in order, else last."""
    family, new = _age(name, value)
    kin = [at for at, has in enumerate(values) if _age(name, has)[0] == family]
    ages = [_age(name, values[at])[1] for at in kin]
    if not kin or not re.search(r"\d", value):
        return len(values)
    if ages == sorted(ages):
        return next((at for at, age in zip(kin, ages, strict=True) if age > new), kin[-1] + 1)
    if ages == sorted(ages, reverse=True):
        return next((at for at, age in zip(kin, ages, strict=True) if age < new), kin[-1] + 1)
    return len(values)


def _lists(node: Node | None) -> Iterator[Listing]:
    """The lists of values of one axis, in the order of its entries."""
    match node:
        case Table():
            yield from _lists(_under(node, "values"))
        case Listing() if node.items and isinstance(node.items[0], Table):
            for item in node.items:
                yield from _lists(item)
        case Listing():
            yield node
        case _:
            pass


def _under(node: Node | None, key: str) -> Node | None:
    entries = node.entries if isinstance(node, Table) else ()
    return next((value for name, value in entries if name.value == key), None)
