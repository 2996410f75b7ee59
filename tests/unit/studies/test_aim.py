"""What is good enough, and what no change of other axes mends."""

from types import SimpleNamespace

from orchestrator.studies.aim import Aim
from orchestrator.studies.answers import flaws

OLD = {"driver": "535", "torch": "2.6.0"}


def test_degraded_is_good_where_it_was_so_before_or_all_is_allowed(make: SimpleNamespace) -> None:
    answers = make.answers(
        {"gone": (("torch",), lambda torch: torch == "2.5.0")},
        {"ended": (("driver",), lambda driver: driver == "535"), "slow": (("torch",), lambda torch: torch == "2.8.0")},
    )
    borne = flaws(answers.state(OLD))
    for combination, strict, bearing, lenient in (
        ({"driver": "580", "torch": "2.6.0"}, True, True, True),
        (OLD, False, True, True),
        ({"driver": "535", "torch": "2.8.0"}, False, False, True),
        ({"driver": "535", "torch": "2.5.0"}, False, False, False),
    ):
        assert Aim(answers=answers).is_good(combination) is strict
        assert Aim(answers=answers, borne=borne).is_good(combination) is bearing
        assert Aim(answers=answers, lenient=True).is_good(combination) is lenient


def test_what_is_wrong_stands_while_the_axes_do_that_it_spoke_of(make: SimpleNamespace) -> None:
    answers = make.answers(
        {"floor": (("driver", "torch"), lambda driver, torch: driver == "535" and torch == "2.8.0")},
        {"ended": (("driver",), lambda driver: driver == "535")},
    )
    bad = {"driver": "535", "torch": "2.8.0"}
    assert not Aim(answers=answers).stands_against(bad, frozenset({"driver"}))
    assert Aim(answers=answers).stands_against(bad, frozenset({"torch"}))
    assert not Aim(answers=answers, lenient=True).stands_against(bad, frozenset({"torch"}))
    assert Aim(answers=answers, lenient=True).stands_against(bad, frozenset({"python"}))
    assert not Aim(answers=answers).stands_against({"driver": "580", "torch": "2.8.0"}, frozenset())
