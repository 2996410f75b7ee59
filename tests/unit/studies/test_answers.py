"""Asking vendors: each combination once, empty values left out."""

from types import SimpleNamespace

from orchestrator.studies.answers import flaw_of, flaws
from orchestrator.vocabulary import Verdict


def test_a_combination_is_asked_once(make: SimpleNamespace) -> None:
    answers = make.answers({"old": (("torch",), lambda torch: torch == "2.6.0")})
    assert answers.verdict({"torch": "2.6.0"}) is Verdict.UNSUPPORTED
    assert answers.verdict({"torch": "2.6.0", "cuda_compat": ""}) is Verdict.UNSUPPORTED
    assert answers.state({"torch": "2.6.0"}).verdict is Verdict.UNSUPPORTED
    assert answers.asked == 1
    assert answers.verdict({"torch": "2.7.0"}) is Verdict.SUPPORTED
    assert answers.asked == 2


def test_an_empty_value_is_an_axis_left_out(make: SimpleNamespace) -> None:
    answers = make.answers({"none": (("cuda_compat",), lambda compat: True)})
    assert answers.verdict({"cuda_compat": ""}) is Verdict.SUPPORTED
    assert answers.state({"torch": "2.6.0", "cuda_compat": ""}).axes == {"torch": "2.6.0"}
    assert answers.refusal({"cuda_compat": ""}) is None
    assert answers.refusal({"cuda_compat": "13.0"}) is not None


def test_what_is_against_it_is_the_reason_of_its_verdict(make: SimpleNamespace) -> None:
    answers = make.answers(
        {"old": (("torch",), lambda torch: torch == "2.6.0")}, {"slow": (("torch",), lambda torch: True)}
    )
    assert answers.against({"torch": "2.6.0"}).rule == "old"
    assert answers.against({"torch": "2.7.0"}).rule == "slow"
    assert make.answers({"old": (("torch",), lambda torch: torch == "2.6.0")}).against({"torch": "2.7.0"}) is None


def test_a_flaw_is_known_again_whatever_else_changes(make: SimpleNamespace) -> None:
    answers = make.answers({}, {"ended": (("driver",), lambda driver: driver in {"535", "550"})})
    before = answers.state({"driver": "535", "torch": "2.6.0"})
    assert flaws(before) == flaws(answers.state({"driver": "535", "torch": "2.7.0"}))
    assert flaws(before) != flaws(answers.state({"driver": "550", "torch": "2.6.0"}))
    assert flaw_of(before.reasons[0], before).values == (("driver", "535"),)
    assert flaws(answers.state({"driver": "580"})) == frozenset()
