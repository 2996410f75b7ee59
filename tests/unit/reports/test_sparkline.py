"""Numbers as one line of text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.reports.sparkline import sparkline


@pytest.mark.parametrize(
    ("numbers", "lines"),
    [
        ([], []),
        ([5.0], ["▄"]),
        ([1.0, 1.0], ["▄▄"]),
        ([0.0, 1.0, 7.0], ["▁▂█"]),
        ([1.0, 1.0, 9.0, 9.0, 1.0, 1.0], ["▁█▁"]),
    ],
)
def test_the_lowest_number_is_the_lowest_bar(numbers: list[float], lines: list[str]) -> None:
    assert sparkline(numbers, 3) == lines


def test_a_mark_stands_below_the_bar_that_holds_its_point() -> None:
    assert sparkline([float(at // 50) for at in range(100)], 10, [50, 99]) == ["▁▁▁▁▁█████", "     ^   ^"]


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=200), st.integers(1, 90), st.data())
def test_bars_are_as_many_as_there_is_room_for(numbers: list[float], width: int, data: st.DataObject) -> None:
    marks = data.draw(st.lists(st.integers(0, len(numbers) - 1), max_size=5))
    line, *below = sparkline(numbers, width, marks)
    assert len(line) == min(len(numbers), width)
    assert all(len(one) <= len(line) and one.count("^") <= len(marks) for one in below)
    assert bool(below) == bool(marks)
