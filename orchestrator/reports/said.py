"""A reason in one line, wherever only the deciding one is told."""

from orchestrator import text
from orchestrator.model import Answer, Reason, State
from orchestrator.vocabulary import RuleKind


def deciding(said: State | Answer) -> list[Reason]:
    """The first reason of the verdict on a combination, when there is one."""
    return [reason for reason in said.reasons if reason.verdict is said.verdict][:1]


def because(reason: Reason) -> str:
    """Its topic and its sentence; of an end of life also whose it is."""
    of = f" of {', '.join(reason.axes)}" if reason.kind is RuleKind.LIFETIME and reason.axes else ""
    return f"{text.one_line(reason.rule + of, 80)}: {text.one_line(reason.because)}"
