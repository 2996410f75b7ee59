"""What a change, or the time, does to production: each row before and after, what moves with it, what was never run."""

import datetime as dt
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from orchestrator import axes
from orchestrator.model import Axes, Matrix, Move, Observation, Row, RowImpact, State
from orchestrator.planning.selection import Named, check_globs, is_selected
from orchestrator.studies.answers import Answers, Flaw, flaws
from orchestrator.studies.concern import applied
from orchestrator.studies.ladder import movable
from orchestrator.studies.mend import mend
from orchestrator.support.facts import Facts
from orchestrator.vocabulary import WORKS, Verdict

_NOT_NAMED = "`--rows` does not name it"


class Production(Struct, frozen=True, kw_only=True):
    """What a study is about: the rows of a matrix, with the facts and with what runs saw of a combination.

    `rows` are globs that name the rows; none names all.
    """

    matrix: Matrix
    facts: Facts
    seen: Callable[[Axes], tuple[Observation, ...]]
    rows: tuple[str, ...] = ()


def of_change(production: Production, change: Axes, answers: Answers) -> tuple[RowImpact, ...]:
    """What a change does to each production row, in the order of the file. NothingSelected for a glob without a row."""
    check_globs([_named(row) for row in production.matrix.production], production.rows)
    return tuple(_changed(row, production, change, answers) for row in production.matrix.production)


def _named(row: Row) -> Named:
    return row.name, axes.cell_id(row.axes)


def _changed(row: Row, production: Production, change: Axes, answers: Answers) -> RowImpact:
    full = axes.complete(row.axes)
    before = answers.state(full)
    if not is_selected(_named(row), production.rows):
        return _untouched(row, before, _NOT_NAMED)
    taken, unchanged = applied(change, full, production.matrix, production.facts)
    if unchanged:
        return _untouched(row, before, unchanged)
    changed = {**full, **taken}
    kept = frozenset(name for name in change if name in full and axes.matches(name, change[name], changed[name]))
    return _touched(row, before, production, answers, changed, kept, flaws(before))


def of_time(production: Production, now: Answers, then: Answers, later: dt.date) -> tuple[RowImpact, ...]:
    """What the time up to a day does to each production row: what ends first comes first, what does not end last."""
    check_globs([_named(row) for row in production.matrix.production], production.rows)
    impacts = [_aged(row, production, now, then, later) for row in production.matrix.production]
    return tuple(sorted(impacts, key=lambda impact: (bool(impact.unchanged), impact.before.supported_until or "9")))


def _aged(row: Row, production: Production, now: Answers, then: Answers, later: dt.date) -> RowImpact:
    full = axes.complete(row.axes)
    before = now.state(full)
    if not is_selected(_named(row), production.rows):
        return _untouched(row, before, _NOT_NAMED)
    ends = before.supported_until
    if then.verdict(full) is before.verdict and (ends is None or ends > later.isoformat()):
        return _untouched(row, before, f"nothing of it ends by {later.isoformat()}")
    return _touched(row, before, production, then, full, frozenset(), frozenset())


def _untouched(row: Row, state: State, why: str) -> RowImpact:
    return RowImpact(
        name=row.name,
        owner=row.owner,
        place=row.place,
        unchanged=why,
        before=state,
        after=state,
        moves=None,
        blocked=None,
        cell=None,
        observed=(),
    )


def _touched(
    row: Row,
    before: State,
    production: Production,
    answers: Answers,
    changed: Axes,
    kept: frozenset[str],
    borne: frozenset[Flaw],
) -> RowImpact:
    """A row that is `changed`, with the smallest further change that mends it; the axes in `kept` are as asked.

    There is something to test where the row runs in the end, and is another cell than today.
    """
    after = answers.state(changed)
    ways = movable(after.axes, production.facts.values, production.matrix)
    move: Move | None = None
    left = answers.against(after.axes)
    if before.verdict is not Verdict.UNKNOWN or after.verdict is not Verdict.UNKNOWN:
        ladders = {name: way for name, way in ways.items() if name not in kept}
        move, left = mend(answers, after, ladders, borne)
    state = move.state if move else after
    is_new = state.verdict in WORKS and state.axes != before.axes
    return replace(
        _untouched(row, before, ""),
        after=after,
        moves=move,
        blocked=left,
        cell=axes.cell_id(state.axes) if is_new else None,
        observed=production.seen(axes.complete(state.axes)) if is_new else (),
    )
