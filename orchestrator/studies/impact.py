"""What a change, or the time, does to production: each row before and after, what moves with it, what was never run."""

import datetime as dt
from collections.abc import Callable
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from orchestrator import axes
from orchestrator.model import Alternative, Axes, Matrix, Move, Observation, Reason, Row, RowImpact, State
from orchestrator.planning.selection import Named, check_globs, is_selected
from orchestrator.studies.answers import BEARABLE, Answers
from orchestrator.studies.concern import applied
from orchestrator.studies.ladder import Ladders, movable
from orchestrator.studies.repair import repairs
from orchestrator.support.facts import Facts
from orchestrator.vocabulary import RuleKind, Verdict

_NEAR = 12  # changes that are compared
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
    return _touched(row, before, production, answers, {**full, **taken}, frozenset(taken))


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
    return _touched(row, before, production, then, full, frozenset())


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
    row: Row, before: State, production: Production, answers: Answers, changed: Axes, asked: frozenset[str]
) -> RowImpact:
    """A row that is `changed`, with the smallest further change that makes it supported; `asked` axes stay as asked."""
    after = answers.state(changed)
    ways = movable(changed, production.facts.choices, production.matrix)
    ladders = {name: way for name, way in ways.items() if name not in asked}
    moves = _moves(answers, before, after, ladders)
    state = moves.state if moves else after
    can_run = state.verdict in BEARABLE
    return replace(
        _untouched(row, before, ""),
        after=after,
        moves=moves,
        blocked=None if state.verdict is Verdict.SUPPORTED else _against(answers, changed, ladders),
        cell=axes.cell_id(state.axes) if can_run else None,
        observed=production.seen(state.axes) if can_run else (),
    )


def _moves(answers: Answers, before: State, after: State, ladders: Ladders) -> Move | None:
    """What must move with it to be supported, else to run at all; nothing where no vendor said anything before."""
    silent = before.verdict is Verdict.UNKNOWN and after.verdict is Verdict.UNKNOWN
    if after.verdict is Verdict.SUPPORTED or silent:
        return None
    found = _lasting(answers, after, ladders)
    if found is None and after.verdict not in BEARABLE:
        found = next(repairs(answers, after.axes, ladders, wanted=BEARABLE), None)
    return Move(change=found.change, state=answers.state({**after.axes, **found.change})) if found else None


def _lasting(answers: Answers, after: State, ladders: Ladders) -> Alternative | None:
    """The smallest change. What has ended is replaced by something whose own end is known, where that takes no more."""
    first = next(repairs(answers, after.axes, ladders), None)
    if first is None:
        return None
    ended = _ends(after, Verdict.DEGRADED)

    def lasts(one: Alternative) -> bool:
        lasting = _ends(answers.state({**after.axes, **one.change}), Verdict.SUPPORTED)
        return all((rule, axis) in lasting for rule, axis in ended if axis in one.change)

    as_small = islice(repairs(answers, after.axes, ladders, most=len(first.change)), _NEAR)
    return next(filter(lasts, as_small), first)


def _ends(state: State, verdict: Verdict) -> frozenset[tuple[str, str]]:
    """Topics, each with an axis, of whose life a vendor says that it is over (degraded) or not yet (supported)."""
    said = (reason for reason in state.reasons if reason.kind is RuleKind.LIFETIME and reason.verdict is verdict)
    return frozenset((reason.rule, axis) for reason in said for axis in reason.axes)


def _against(answers: Answers, changed: Axes, ladders: Ladders) -> Reason | None:
    """What stands against every move: the rule that refuses what cannot move, else the one against the row itself."""
    fixed = {name: value for name, value in changed.items() if name not in ladders}
    return answers.refusal(fixed) or answers.against(changed)
