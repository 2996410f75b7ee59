"""What the tests of this room share: a vendor of a few rules, made by hand, and matrices written as text."""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.matrix.document import load
from orchestrator.model import Answer, Matrix, Reason
from orchestrator.studies.answers import Answers
from orchestrator.vocabulary import RuleKind, Verdict

TODAY = dt.date(2026, 11, 29)
Rule = Callable[[Mapping[str, Any]], bool]


def reason(rule: str, verdict: Verdict, axes: tuple[str, ...] = ()) -> Reason:
    return Reason(
        kind=RuleKind.INTERVAL, rule=rule, axes=axes, verdict=verdict, because=rule, source="a test", as_of="2026-01-01"
    )


class Vendor:
    """Refuses what one of its rules refuses, calls degraded what one of the others names, supports the rest.

    A rule is a list of axes and a function of their values: it speaks only where all of them are given.
    """

    def __init__(self, refused: Mapping[str, Any], degraded: Mapping[str, Any] | None = None) -> None:
        self._rules = [(name, Verdict.UNSUPPORTED, *rule) for name, rule in refused.items()]
        self._rules += [(name, Verdict.DEGRADED, *rule) for name, rule in (degraded or {}).items()]

    def verdict(self, combo: Mapping[str, Any]) -> Verdict:
        return self.answer(combo).verdict

    def answer(self, combo: Mapping[str, Any]) -> Answer:
        said = [
            reason(name, verdict, axes)
            for name, verdict, axes, speaks in self._rules
            if all(axis in combo for axis in axes) and speaks(*(combo[axis] for axis in axes))
        ]
        verdict = said[0].verdict if said else Verdict.SUPPORTED
        return Answer(verdict=verdict, reasons=tuple(said), supported_until=None)

    def refusal(self, combo: Mapping[str, Any]) -> Reason | None:
        found = self.answer(combo)
        return found.reasons[0] if found.verdict is Verdict.UNSUPPORTED else None


def number(value: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", value)))


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """Makes vendors and what asks them; `number` is what orders two versions."""

    def answers(refused: Mapping[str, Any], degraded: Mapping[str, Any] | None = None) -> Answers:
        return Answers(Vendor(refused, degraded))  # type: ignore[arg-type]

    return SimpleNamespace(answers=answers, number=number, today=TODAY)


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Matrix]:
    """The Matrix of a text."""

    def read(text: str) -> Matrix:
        file = tmp_path / "matrix.yaml"
        file.write_text(text)
        return load(file)

    return read
