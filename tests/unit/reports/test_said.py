"""A reason in one line."""

from orchestrator.model import Reason, State
from orchestrator.reports.said import because, deciding
from orchestrator.vocabulary import RuleKind, Verdict


def reason(kind: RuleKind, verdict: Verdict, because: str = "it ended") -> Reason:
    return Reason(kind=kind, rule="topic", axes=("base",), verdict=verdict, because=because, source="", as_of="")


def test_an_end_of_life_says_whose() -> None:
    assert because(reason(RuleKind.LIFETIME, Verdict.DEGRADED)) == "topic of base: it ended"
    assert because(reason(RuleKind.PIN, Verdict.DEGRADED)) == "topic: it ended"


def test_it_is_one_line_whatever_is_in_it() -> None:
    assert because(reason(RuleKind.PIN, Verdict.DEGRADED, "a\x1b[31m\nb")) == "topic: a b"


def test_the_deciding_reason_is_the_first_of_the_verdict() -> None:
    reasons = (
        reason(RuleKind.PIN, Verdict.SUPPORTED, "yes"),
        reason(RuleKind.PIN, Verdict.DEGRADED, "first"),
        reason(RuleKind.PIN, Verdict.DEGRADED, "second"),
    )
    state = State(axes={}, verdict=Verdict.DEGRADED, reasons=reasons, supported_until=None)
    assert [each.because for each in deciding(state)] == ["first"]
    assert deciding(State(axes={}, verdict=Verdict.UNKNOWN, reasons=reasons, supported_until=None)) == []
