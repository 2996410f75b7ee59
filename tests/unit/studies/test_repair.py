"""The smallest change with which a combination is supported."""

import datetime as dt
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.model import Alternative, Axes
from orchestrator.studies.aim import Aim
from orchestrator.studies.answers import Answers
from orchestrator.studies.ladder import movable
from orchestrator.studies.repair import repairs
from orchestrator.support.check import Support
from orchestrator.support.facts import load_facts
from orchestrator.vocabulary import Verdict

LADDERS = {
    "torch": ("2.8.0", "2.9.1", "2.10.0", "2.11.0"),
    "python": ("3.10", "3.11", "3.12", "3.13"),
    "driver": ("535", "580", "595"),
}
START = {"torch": "2.9.1", "python": "3.11", "driver": "535"}


def mended(answers: Answers, start: Axes, lenient: bool = False, **more: Any) -> list[Alternative]:
    return list(repairs(Aim(answers=answers, lenient=lenient), start, LADDERS, **more))


def test_one_axis_is_changed_before_two(make: SimpleNamespace) -> None:
    answers = make.answers({"floor": (("torch", "driver"), lambda torch, driver: driver == "535")})
    changes = [dict(found.change) for found in mended(answers, START)]
    assert changes == [{"driver": "580"}, {"driver": "595"}]


def test_of_two_values_the_nearer_comes_first_and_of_two_as_near_the_newer(make: SimpleNamespace) -> None:
    answers = make.answers({"pin": (("torch",), lambda torch: torch == "2.9.1")})
    changes = [found.change["torch"] for found in mended(answers, START)]
    assert changes == ["2.10.0", "2.8.0", "2.11.0"]


def test_the_image_is_changed_before_the_host(make: SimpleNamespace) -> None:
    answers = make.answers({"both": (("torch", "driver"), lambda torch, driver: (torch, driver) == ("2.9.1", "535"))})
    first = mended(answers, START)[0]
    assert dict(first.change) == {"torch": "2.10.0"}


def test_what_was_asked_for_gives_way_last(make: SimpleNamespace) -> None:
    answers = make.answers({"both": (("torch", "driver"), lambda torch, driver: (torch, driver) == ("2.9.1", "535"))})
    first = mended(answers, START, dear=frozenset({"torch"}))[0]
    assert dict(first.change) == {"driver": "580"}


def test_two_axes_move_where_one_does_not_help(make: SimpleNamespace) -> None:
    answers = make.answers(
        {
            "old": (("torch",), lambda torch: torch in {"2.9.1", "2.8.0"}),
            "floor": (("torch", "driver"), lambda torch, driver: torch == "2.10.0" and driver == "535"),
            "gone": (("torch", "python"), lambda torch, python: torch == "2.11.0" and python == "3.11"),
        }
    )
    first = mended(answers, START)[0]
    assert dict(first.change) == {"torch": "2.11.0", "python": "3.12"}


def test_where_what_stays_is_refused_nothing_is_tried(make: SimpleNamespace) -> None:
    answers = make.answers({"card": (("gpu",), lambda gpu: gpu == "V100")})
    assert mended(answers, {**START, "gpu": "V100"}) == []
    assert answers.asked == 0


def test_degraded_is_taken_when_it_is_wanted(make: SimpleNamespace) -> None:
    answers = make.answers(
        {"floor": (("driver",), lambda driver: driver == "535")}, {"old": (("driver",), lambda driver: driver != "535")}
    )
    assert mended(answers, START) == []
    first = mended(answers, START, lenient=True)[0]
    assert (dict(first.change), first.verdict) == ({"driver": "580"}, Verdict.DEGRADED)


@given(st.sets(st.tuples(*(st.sampled_from(values) for values in LADDERS.values())), max_size=40))
def test_every_repair_is_good_and_the_first_changes_fewest(
    make: SimpleNamespace, refused: set[tuple[str, ...]]
) -> None:
    names = tuple(LADDERS)
    start = dict(START)
    answers = make.answers({"table": (names, lambda *values: values in refused)})
    found = mended(answers, start)
    assert all(answers.verdict({**start, **one.change}) is Verdict.SUPPORTED for one in found)
    assert found == mended(answers, start)
    good = [values for values in product(*LADDERS.values()) if values not in refused]
    others = [sum(a != b for a, b in zip(values, start.values(), strict=True)) for values in good]
    fewest = min((count for count in others if count), default=None)
    assert (len(found[0].change) if found else None) == fewest


CARDS = {
    "torch": ("2.6.0", "2.8.0", "2.13.0", "2.15.0"),
    "torch_build": ("cu124", "cu126", "cu128", "cu132"),
    "python": ("3.9", "3.11", "3.14"),
    "driver": ("535", "580", "595"),
    "gpu": ("V100", "H100", "B200"),
}


@given(st.fixed_dictionaries({name: st.sampled_from(values) for name, values in CARDS.items()}))
@settings(max_examples=12, deadline=None)
def test_under_the_real_facts_nothing_smaller_is_passed_over(start: dict[str, str]) -> None:
    support = Support(load_facts(), on=dt.date(2026, 11, 29))
    ladders = movable(start, support.facts.values)
    first = next(repairs(Aim(answers=Answers(support)), start, ladders, most=2), None)
    changes = (
        dict(zip(names, values, strict=True))
        for count in (1, 2)
        for names in combinations(ladders, count)
        for values in product(*([value for value in ladders[name] if value != start[name]] for name in names))
    )
    best = next((change for change in changes if support.verdict({**start, **change}) is Verdict.SUPPORTED), None)
    assert (len(first.change) if first else None) == (len(best) if best else None)
