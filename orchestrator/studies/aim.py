"""What a study is content with, and what stands in the way of it."""

from msgspec import Struct

from orchestrator.model import Axes, Reason, State
from orchestrator.studies.answers import Answers, Flaw, flaw_of, flaws
from orchestrator.vocabulary import Verdict


class Aim(Struct, frozen=True, kw_only=True):
    """Supported is good. So is degraded where all that is wrong was so before (`borne`), or may be so (`lenient`)."""

    answers: Answers
    borne: frozenset[Flaw] = frozenset()
    lenient: bool = False

    def is_good(self, combination: Axes) -> bool:
        """Whether vendors say enough of a combination."""
        verdict = self.answers.verdict(combination)
        if verdict is Verdict.DEGRADED:
            return self.lenient or flaws(self.answers.state(combination)) <= self.borne
        return verdict is Verdict.SUPPORTED

    def stands_against(self, combination: Axes, others: frozenset[str]) -> bool:
        """Whether something is wrong with a combination that has nothing to do with the other axes.

        No change of those mends it: a reason holds as long as the axes do that it spoke of.
        """
        state = self.answers.state(combination)
        return any(self._is_bad(each, state) and each.axes and not others & set(each.axes) for each in state.reasons)

    def _is_bad(self, reason: Reason, state: State) -> bool:
        if reason.verdict is Verdict.DEGRADED:
            return not self.lenient and flaw_of(reason, state) not in self.borne
        return reason.verdict is Verdict.UNSUPPORTED
