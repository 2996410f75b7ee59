"""Rows of a matrix that take a new value, as plain text: what vendors say before and after, and what else must move."""

from collections.abc import Sequence

from msgspec import Struct

from orchestrator import text
from orchestrator.model import Answer
from orchestrator.reports.answer import COLOURS
from orchestrator.reports.columns import Column, Line, table
from orchestrator.reports.said import because, deciding
from orchestrator.vocabulary import Verdict


class Shift(Struct, frozen=True, kw_only=True):
    """A row, the two values of its axis, and what vendors say of the whole row with each."""

    row: str
    old: str
    new: str
    before: Answer
    after: Answer


def moves(shifts: Sequence[Shift], *, width: int, colour: bool) -> list[str]:
    """One line a row; below it why the row is not supported with its new value."""
    columns = [Column(name=name) for name in ("after", "before", "row", "from", "to", "what else must move")]
    return table(columns, [_line(shift, colour=colour) for shift in shifts], width)


def _line(shift: Shift, *, colour: bool) -> Line:
    verdict = shift.after.verdict
    return Line(
        values=(
            verdict.value,
            shift.before.verdict.value,
            text.one_line(shift.row, 60),
            text.one_line(shift.old, 60),
            text.one_line(shift.new, 60),
            _else(shift.after),
        ),
        below=() if verdict is Verdict.SUPPORTED else tuple(map(because, deciding(shift.after))),
        colour=COLOURS[verdict] if colour else "",
    )


def _else(answer: Answer) -> str:
    if answer.verdict is Verdict.SUPPORTED:
        return "nothing"
    if answer.nearest:
        return text.pairs(answer.nearest[0].change)
    return "not known" if answer.verdict is Verdict.UNKNOWN else "nothing near is supported"
