"""Bits against a walk over every row."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.support import conditions
from orchestrator.support.conditions import Fit
from orchestrator.support.selector import Selector, bits, indices

VALUES = {
    "torch": ["2.7", "2.8", "2.8.0", ">=2.7", "<2.8"],
    "torch_build": ["cu126", "cu128", "cpu"],
    "python": ["3.12", "3.13t", ">=3.12"],
    "numpy": ["1.26", "2.0", ">=2"],
}
ONE_OF_EACH = {axis: st.sampled_from(values) for axis, values in VALUES.items()}
WHENS = st.lists(st.fixed_dictionaries({}, optional=ONE_OF_EACH), max_size=12)
ASKED = st.fixed_dictionaries({}, optional=ONE_OF_EACH)


@given(WHENS, ASKED)
def test_a_selection_is_what_a_walk_over_the_rows_finds(
    world: SimpleNamespace, whens: list[dict[str, str]], asked: dict[str, str]
) -> None:
    question = world.question(asked)
    sure, possible = [], []
    for number, when in enumerate(whens):
        fits = [
            conditions.fit(question.values[axis], conditions.read(axis, condition))
            if axis in question.values
            else Fit.MAYBE
            if question.may_have(axis)
            else Fit.NO
            for axis, condition in when.items()
        ]
        sure += [number] if all(fit is Fit.YES for fit in fits) else []
        possible += [number] if Fit.NO not in fits else []
    selector = Selector(whens)
    for _ in range(2):  # the second time from what was remembered
        found = selector.select(question)
        assert [list(indices(each)) for each in found] == [sure, possible]


def test_a_package_that_nobody_named_is_not_there_and_a_torch_that_nobody_named_may_be_any(
    world: SimpleNamespace,
) -> None:
    selector = Selector([{"torch": "2.8"}, {"numpy": "2.0"}, {}])
    sure, possible = selector.select(world.question())
    assert list(indices(sure)) == [2]
    assert list(indices(possible)) == [0, 2]


def test_an_axis_can_be_left_out_of_account(world: SimpleNamespace) -> None:
    selector = Selector([{"torch": "2.7", "torch_build": "cu128"}, {"torch": "2.8", "torch_build": "cpu"}])
    asked = world.question(torch="2.9", torch_build="cu128")
    assert selector.select(asked) == (0, 0)
    assert selector.select(asked, without="torch")[1] == 0b01


def test_bits_and_back() -> None:
    flags = [True, False, False, True, True]
    assert list(indices(bits(flags))) == [0, 3, 4]
    assert list(indices(0)) == []
