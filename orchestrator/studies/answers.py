"""Asking vendors, once for each combination."""

from typing import TYPE_CHECKING

from msgspec import Struct

from orchestrator.model import Answer, Axes, Reason, State
from orchestrator.vocabulary import Verdict

if TYPE_CHECKING:
    from orchestrator.support.check import Support


class Answers:
    """What vendors say, each combination asked once; `asked` counts them. Empty values are axes that are left out."""

    def __init__(self, support: "Support") -> None:
        self._support = support
        self._verdicts: dict[frozenset[tuple[str, str]], Verdict] = {}
        self._answers: dict[frozenset[tuple[str, str]], Answer] = {}

    @property
    def asked(self) -> int:
        """How many combinations were checked."""
        return len(self._verdicts)

    def verdict(self, combination: Axes) -> Verdict:
        """The verdict on a combination."""
        given = _given(combination)
        key = frozenset(given.items())
        if key not in self._verdicts:
            self._verdicts[key] = self._support.verdict(given)
        return self._verdicts[key]

    def state(self, combination: Axes) -> State:
        """A combination with all that vendors say of it."""
        answer = self._answer(combination)
        return State(
            axes=_given(combination),
            verdict=answer.verdict,
            reasons=answer.reasons,
            supported_until=answer.supported_until,
            missing=answer.missing,
        )

    def against(self, combination: Axes) -> Reason | None:
        """The first reason that keeps a combination from being supported."""
        answer = self._answer(combination)
        if answer.verdict is Verdict.SUPPORTED:
            return None
        return next((reason for reason in answer.reasons if reason.verdict is answer.verdict), None)

    def refusal(self, combination: Axes) -> Reason | None:
        """The first reason why nothing that has these axes can be supported, or None."""
        return self._support.refusal(_given(combination))

    def _answer(self, combination: Axes) -> Answer:
        given = _given(combination)
        key = frozenset(given.items())
        if key not in self._answers:
            self._answers[key] = self._support.answer(given)
            self._verdicts[key] = self._answers[key].verdict
        return self._answers[key]


class Flaw(Struct, frozen=True):
    """One thing that makes a combination degraded: its topic, with the values that it spoke of."""

    rule: str
    values: tuple[tuple[str, str], ...]


def flaw_of(reason: Reason, state: State) -> Flaw:
    """A reason as what is wrong with a combination, whatever its other values are."""
    return Flaw(reason.rule, tuple((axis, state.axes.get(axis, "")) for axis in reason.axes))


def flaws(state: State) -> frozenset[Flaw]:
    """All that makes a combination degraded."""
    return frozenset(flaw_of(reason, state) for reason in state.reasons if reason.verdict is Verdict.DEGRADED)


def _given(combination: Axes) -> dict[str, str]:
    return {name: value for name, value in combination.items() if value}
