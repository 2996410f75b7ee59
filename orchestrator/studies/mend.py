"""What must move with a change for a row to be supported, and what stands against it.

A row is not asked to be better than it can be: what was wrong with it before the change (`borne`), and what nothing
that may move has to do with, is no reason to move anything.
"""

from itertools import islice

from msgspec.structs import replace

from orchestrator.model import Alternative, Move, Reason, State
from orchestrator.studies.aim import Aim
from orchestrator.studies.answers import Answers, Flaw, flaw_of, flaws
from orchestrator.studies.ladder import Ladders
from orchestrator.studies.repair import MOST_AXES, repairs
from orchestrator.vocabulary import WORKS, RuleKind, Verdict

_NEAR = 12  # changes that are compared
_WITHOUT_A_WORD = 2  # axes that move where no rule says which


def mend(answers: Answers, after: State, ladders: Ladders, borne: frozenset[Flaw]) -> tuple[Move | None, Reason | None]:
    """The smallest change of the axes in `ladders`, where one is needed, and the reason that is left, if one is."""
    stuck = frozenset(flaw for flaw in flaws(after) if not any(axis in ladders for axis, _ in flaw.values))
    aim = Aim(answers=answers, borne=borne | stuck)
    found = None if aim.is_good(after.axes) else _change(aim, after, ladders)
    move = Move(change=found.change, state=answers.state({**after.axes, **found.change})) if found else None
    return move, _left(answers, move.state if move else after, ladders, borne)


def _change(aim: Aim, after: State, ladders: Ladders) -> Alternative | None:
    """The smallest change that makes it good, else one with which it runs at all.

    What has ended is replaced by something whose own end is known, where that takes no more.
    """
    if _is_nobodys(after, ladders):
        return None
    most = _WITHOUT_A_WORD if after.verdict is Verdict.UNKNOWN else MOST_AXES
    first = next(repairs(aim, after.axes, ladders, most=most), None)
    if first is None and after.verdict not in WORKS:
        return next(repairs(replace(aim, lenient=True), after.axes, ladders, most=most), None)
    if first is None:
        return None
    ended = _ends(after, Verdict.DEGRADED)

    def lasts(one: Alternative) -> bool:
        lasting = _ends(aim.answers.state({**after.axes, **one.change}), Verdict.SUPPORTED)
        return all((rule, axis) in lasting for rule, axis in ended if axis in one.change)

    as_small = islice(repairs(aim, after.axes, ladders, most=len(first.change)), _NEAR)
    return next(filter(lasts, as_small), first)


def _is_nobodys(after: State, ladders: Ladders) -> bool:
    """Whether nobody says anything of what cannot move: then nothing that may move helps."""
    silent = (reason for reason in after.reasons if reason.verdict is after.verdict is Verdict.UNKNOWN)
    return any(not any(axis in ladders for axis in reason.axes) for reason in silent)


def _ends(state: State, verdict: Verdict) -> frozenset[tuple[str, str]]:
    """Topics, each with an axis, of whose life a vendor says that it is over (degraded) or not yet (supported)."""
    said = (reason for reason in state.reasons if reason.kind is RuleKind.LIFETIME and reason.verdict is verdict)
    return frozenset((reason.rule, axis) for reason in said for axis in reason.axes)


def _left(answers: Answers, state: State, ladders: Ladders, borne: frozenset[Flaw]) -> Reason | None:
    """What is wrong in the end and was not before: what refuses all that cannot move, else what decides the verdict."""
    if state.verdict is Verdict.SUPPORTED:
        return None
    if state.verdict is Verdict.DEGRADED:
        left = (reason for reason in state.reasons if reason.verdict is Verdict.DEGRADED)
        return next((reason for reason in left if flaw_of(reason, state) not in borne), None)
    fixed = {name: value for name, value in state.axes.items() if name not in ladders}
    return answers.refusal(fixed) or answers.against(state.axes)
