"""Locks as plain text: what was made of them, and what their check found."""

from collections.abc import Sequence

from orchestrator import text
from orchestrator.model import CheckedLock, LockCheck, LockedImage, Locking
from orchestrator.reports.columns import Column, Line, fenced, page, table
from orchestrator.vocabulary import LockState

_MOVED = 8
_COLOURS = {
    LockState.WRITTEN: "32",
    LockState.GOOD: "32",
    LockState.FAILED: "31",
    LockState.MISSING: "31",
    LockState.UNREADABLE: "31",
    LockState.OTHER: "31",
    LockState.STALE: "31",
    LockState.UNANSWERED: "33",
    LockState.LEFT_OVER: "31",
}


def locking(done: Locking, *, width: int, colour: bool) -> str:
    """One line an image; below it what changed, where it is apart from the others, and what was not locked."""
    columns = [Column(name=name) for name in ("lock", "wheels", "packages", "image")]
    columns.append(Column(name="rows", optional=True))
    lines = [_locked(one, colour=colour) for one in done.images]
    return page(table(columns, lines, width), [f"locks    {text.one_line(done.folder)}"])


def _locked(one: LockedImage, *, colour: bool) -> Line:
    more = [f"and {len(one.moved) - _MOVED} more"] if len(one.moved) > _MOVED else []
    return Line(
        values=(
            one.state.value,
            str(one.wheels or "-"),
            str(one.packages or "-"),
            text.one_line(one.image, 140),
            text.one_line(", ".join(one.rows), 80),
        ),
        below=tuple(
            text.one_line(said, 400)
            for said in (one.reason, *one.moved[:_MOVED], *more, *one.apart, *one.notes)
            if said
        ),
        colour=_COLOURS.get(one.state, "") if colour else "",
    )


def checking(found: LockCheck, *, width: int, colour: bool) -> str:
    """One line a lock, the bad ones with the reason; then what could not be asked, and what to do."""
    columns = [Column(name=name) for name in ("lock", "image")]
    columns.append(Column(name="rows", optional=True))
    notes = [line for note in found.notes for line in fenced(f"note: {text.one_line(note)}", width)]
    return page(table(columns, [_checked(one, colour=colour) for one in found.locks], width), notes, _hint(found))


def _checked(one: CheckedLock, *, colour: bool) -> Line:
    return Line(
        values=(one.state.value, text.one_line(one.image, 140), text.one_line(", ".join(one.rows), 80)),
        below=tuple(text.one_line(why, 400) for why in one.because),
        colour=_COLOURS.get(one.state, "") if colour else "",
    )


def _hint(found: LockCheck) -> Sequence[str]:
    states = {one.state for one in found.locks}
    said = []
    if states & {LockState.MISSING, LockState.UNREADABLE, LockState.OTHER}:
        said.append("`torchmatrix lock` mends it")
    if LockState.STALE in states:
        said.append("`torchmatrix lock --upgrade` mends it")
    if LockState.LEFT_OVER in states:
        said.append("`torchmatrix lock --prune` removes what is left over")
    if not found.answered:
        said.append("`torchmatrix site` shows what was asked; check again once it answers, or `--offline`")
    return said
