"""The smallest change with which a combination is supported."""

from itertools import product
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model import Alternative, Axes
from orchestrator.studies.answers import Answers
from orchestrator.studies.repair import repairs
from orchestrator.vocabulary import Verdict

LADDERS = {
    "torch": ("2.8.0", "2.9.1", "2.10.0", "2.11.0"),
    "python": ("3.10", "3.11", "3.12", "3.13"),
    "driver": ("535", "580", "595"),
}
START = {"torch": "2.9.1", "python": "3.11", "driver": "535"}


def mended(answers: Answers, start: Axes, verdict: Verdict = Verdict.SUPPORTED, **more: Any) -> list[Alternative]:
    return list(repairs(answers, start, LADDERS, lambda other: answers.verdict(other) is verdict, **more))


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
    first = mended(answers, START, Verdict.DEGRADED)[0]
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
