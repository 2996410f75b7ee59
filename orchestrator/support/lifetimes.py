"""Ends of life: until when a component has its maintainer's support."""

from collections.abc import Iterator

from orchestrator.support.facts import Facts
from orchestrator.support.question import Question
from orchestrator.support.said import Said, filled
from orchestrator.vocabulary import Verdict

_OF_ANY_DEVICE = {"driver", "os", "gpu_vendor"}  # an end for one class of devices is none of the branch


class Lifetimes:
    """The end-of-life rows of the facts."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._branches: dict[str, str] = {}

    def said(self, question: Question, on: str) -> Iterator[Said]:
        """The end of life of each component that was named; past it on the day `on`, it is outside vendor support."""
        for table in self._facts.lifetime_tables:
            for row in table.sure(question):
                until = row.until or ""
                source, as_of = self._facts.source(row)
                template = row.because or (table.rule.no if on and until < on else table.rule.yes)
                yield Said(
                    kind=table.rule.kind,
                    rule=table.rule.name,
                    rank=table.rule.rank,
                    verdict=Verdict.DEGRADED if on and until < on else Verdict.SUPPORTED,
                    axes=question.given(tuple(row.when)),
                    because=filled(template, {**question.texts, "until": until}),
                    source=source,
                    as_of=as_of,
                    until=until,
                    proves=False,
                )

    def end_of_branch(self, branch: str) -> str:
        """The day on which a driver branch ends, or an empty text when none is known."""
        if not self._branches:
            for row in self._facts.lifetimes:
                named, day = row.when.get("driver"), row.until or ""
                if isinstance(named, str) and row.when.keys() <= _OF_ANY_DEVICE:
                    self._branches[named] = min(self._branches.get(named, day), day)
        return self._branches.get(branch, "")
