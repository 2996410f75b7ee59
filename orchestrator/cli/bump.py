"""`bump`: a new value for an axis, written into matrix.yaml."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator import disk, text
from orchestrator.cli.options import file_option, json_option, options
from orchestrator.cli.output import colour, say, show, show_json, width
from orchestrator.cli.vendors import support_of
from orchestrator.errors import InputError, InputErrors

if TYPE_CHECKING:
    from orchestrator.matrix.bump import Bump
    from orchestrator.model import Matrix
    from orchestrator.reports.moves import Shift

_BOM = b"\xef\xbb\xbf"


@click.command()
@click.argument("axis")
@click.argument("value")
@options(file_option, json_option)
@click.option("--from", "old", metavar="OLD", default="", help="Move the rows that have OLD (535 is any 535.x).")
@click.option("--row", "rows", metavar="NAME", multiple=True, help="Move this row, whatever it has; repeatable.")
@click.option("--dry-run", is_flag=True, help="Print the difference, write nothing.")
def bump(axis: str, value: str, file: Path, as_json: bool, old: str, rows: tuple[str, ...], dry_run: bool) -> None:
    """Give an axis a new value in matrix.yaml: list it under `axes`, move production rows to it.

    \b
    torchmatrix bump torch 2.15.0
    torchmatrix bump driver 580 --from 535 --row serve-a100 --dry-run

    The rows that move are those on the newest value that is older than VALUE: rows that are held back on purpose stay
    where they are. --from names another value, --row the rows; both together ask for both. A row with an alias moves
    by itself, and one whose torch is its distribution's moves with its base: neither is written to.

    Nothing else in the file changes: comments, order, quotes and line ends stay. The new file is read as `plan` reads
    it before it takes the place of the old one, whole; when anything is wrong in it, nothing is written. What vendors
    say of each row before and after is told, and what else must move; it stops nothing.
    """  # noqa: D301 - click reads \b as the character that it is
    from orchestrator.matrix import document, source
    from orchestrator.matrix.bump import bump as bumped

    data = source.bytes_of(file)
    name = source.name_of(file)
    content = source.decode(data, name)
    matrix = document.read(content, name, file.parent)
    done = bumped(content, matrix, axis, value, old=old, rows=rows)
    after = _checked(done, name, file.parent)
    shifts = _shifts(done, matrix, after, file.parent, axis)
    difference = _difference(content, done.content, name)
    if not dry_run and done.content != content:
        _write(file, data, (_BOM if data.startswith(_BOM) else b"") + done.content.encode())
    for stay in done.stays:
        say(f"note: row `{stay.row}` stays: {stay.why}")
    if as_json:
        show_json(_told(done, shifts, axis, value, difference, written=not dry_run and done.content != content))
    else:
        _show(done, shifts, axis, value, difference if dry_run else "")


def _checked(done: "Bump", name: str, folder: Path) -> "Matrix":
    """The edited matrix, read as every verb reads it; InputErrors when the new value breaks something in it."""
    from orchestrator.matrix import document

    try:
        return document.read(done.content, name, folder)
    except InputErrors:
        say("note: nothing is written: with the new value the matrix would not be read")
        raise


def _shifts(done: "Bump", before: "Matrix", after: "Matrix", folder: Path, axis: str) -> "list[Shift]":
    """What vendors say of each row that moves, as its aliases are meant today."""
    if not done.moves:
        return []
    from orchestrator.planning.aliases import resolve
    from orchestrator.reports.moves import Shift

    support = support_of(after, folder)
    old, new = (
        {row.name: row.axes for row in resolve(matrix, support.facts.listed).production} for matrix in (before, after)
    )
    return [
        Shift(
            row=move.row,
            old=move.before[axis],
            new=move.after[axis],
            before=support.answer(old[move.row]),
            after=support.answer(new[move.row], nearest=True),
        )
        for move in done.moves
    ]


def _difference(before: str, after: str, name: str) -> str:
    import difflib

    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")
    return "\n".join(text.visible(line) for line in lines)


def _write(file: Path, before: bytes, after: bytes) -> None:
    """The file with these bytes, whole or as it was; its rights and its owner stay, and a link goes on naming it.

    What a kill left beside it goes. InputError when it is not what was read any more: who wrote it meanwhile would lose
    that.
    """
    from orchestrator.matrix.source import bytes_of
    from orchestrator.results.files import replacing

    target = file.resolve()
    had = target.stat()

    def unchanged() -> None:
        if bytes_of(target) != before:
            raise InputError("the file was changed while it was read", place=str(file), hint="once more")

    with suppress(OSError):  # a folder that cannot be listed is written to all the same
        disk.remove_halves(target.parent, target.name.__eq__)
    with replacing(target, mode=had.st_mode & 0o7777, last=unchanged) as half:
        half.write_bytes(after)
        for owner, group in ((had.st_uid, -1), (-1, had.st_gid)):
            with suppress(OSError):  # only root may give a file away
                os.chown(half, owner, group, follow_symlinks=False)


def _told(
    done: "Bump", shifts: "list[Shift]", axis: str, value: str, difference: str, *, written: bool
) -> dict[str, object]:
    from msgspec import to_builtins

    return {
        "axis": axis,
        "value": value,
        "listed": done.added,
        "written": written,
        "moves": [to_builtins(shift) for shift in shifts],
        "stays": [to_builtins(stay) for stay in done.stays],
        "difference": difference,
    }


def _show(done: "Bump", shifts: "list[Shift]", axis: str, value: str, difference: str) -> None:
    from orchestrator.reports.moves import moves

    if difference:
        show(difference + "\n")
    listed = "newly listed" if done.added else "no new value to list"
    show(f"{axis} {text.one_line(value)}: {listed}, {text.counting(len(done.moves), 'row')} moved")
    if shifts:
        show("\n" + "\n".join(moves(shifts, width=width(), colour=colour())))
