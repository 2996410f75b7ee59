"""Ends of life, and the day that is asked about: before one, on it, after it."""

from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.model import Answer
from orchestrator.support.check import Support
from orchestrator.support.lifetimes import Lifetimes
from orchestrator.vocabulary import RuleKind, Verdict

END = date(2026, 6, 30)


def rules(world: SimpleNamespace) -> list[Any]:
    fits = world.rule(world.row({"torch": "2.8"}, {"python": ">=3.9"}))
    ends = world.rule(
        world.row({"python": "3.9"}, until="2026-06-30"),
        world.row({"python": "3.10"}, until="2027-06-30"),
        world.row({"driver": "535", "gpu_vendor": "nvidia"}, until="2026-06-01"),
        world.row({"driver": "535", "os": "linux"}, until="2026-05-01"),
        world.row({"driver": "535", "gpu_class": "geforce"}, until="2020-01-01"),
        world.row({"torch": "2.8", "python": "3.9"}, until="2028-01-01"),
        name="ends",
        kind=RuleKind.LIFETIME,
        yes="python {python} is kept until {until}",
        no="python {python} ended on {until}",
    )
    return [fits, ends]


def on(world: SimpleNamespace, day: date | None, **axes: str) -> Answer:
    return Support(world.facts(*rules(world)), on=day).answer({"torch": "2.8.0", **axes})


@pytest.mark.parametrize(
    ("day", "verdict"),
    [
        (None, Verdict.SUPPORTED),
        (date(2026, 6, 29), Verdict.SUPPORTED),
        (END, Verdict.SUPPORTED),
        (date(2026, 7, 1), Verdict.DEGRADED),
    ],
)
def test_past_its_end_a_component_is_outside_vendor_support(
    world: SimpleNamespace, day: date | None, verdict: Verdict
) -> None:
    answer = on(world, day, python="3.9")
    assert (answer.verdict, answer.supported_until) == (verdict, "2026-06-30")
    ended = [reason.because for reason in answer.reasons if reason.rule == "ends"]
    said = "python 3.9 ended on 2026-06-30" if verdict is Verdict.DEGRADED else "python 3.9 is kept until 2026-06-30"
    assert said in ended


def test_the_first_end_of_all_components_is_told(world: SimpleNamespace) -> None:
    assert on(world, None, python="3.10").supported_until == "2027-06-30"
    assert on(world, None, python="3.12").supported_until is None


def test_an_end_of_what_was_not_named_is_not_told(world: SimpleNamespace) -> None:
    assert on(world, None).supported_until is None
    assert on(world, None, python=">=3.9").supported_until is None


def test_an_end_of_life_makes_nothing_supported(world: SimpleNamespace) -> None:
    answer = Support(world.facts(rules(world)[1])).answer({"torch": "2.8.0", "python": "3.9"})
    assert (answer.verdict, answer.supported_until) == (Verdict.UNKNOWN, "2026-06-30")


def test_the_end_of_a_branch_is_its_first_and_that_of_no_class_alone(world: SimpleNamespace) -> None:
    lifetimes = Lifetimes(world.facts(*rules(world)))
    assert lifetimes.end_of_branch("535") == "2026-05-01"
    assert lifetimes.end_of_branch("550") == ""
