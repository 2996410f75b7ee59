"""Spans against brute force: every version of a small grid is tried."""

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.support import spans
from orchestrator.support.spans import Release, Spans

GRID = [number for length in (1, 2, 3) for number in product(range(4), repeat=length)]
NUMBERS = st.lists(st.integers(1, 2), min_size=1, max_size=2).map(tuple)
OPERATORS = st.sampled_from(["", "==", ">=", "<=", ">", "<", "!=", "~="])
CLAUSES = st.tuples(OPERATORS, NUMBERS)
RANGES = st.lists(CLAUSES, min_size=1, max_size=3)


def held(of: Spans) -> set[Release]:
    """The versions of the grid that are in the spans."""
    return {number for number in GRID if any(low <= number and (high is None or number < high) for low, high in of)}


def begins(number: Release, start: Release) -> bool:
    return number[: len(start)] == start


def meant(operator: str, asked: Release, number: Release) -> bool:
    """What a clause says of a version, by comparing as many components as the clause names."""
    as_far = number[: len(asked)]
    said = {
        "": begins(number, asked),
        "==": begins(number, asked),
        "!=": not begins(number, asked),
        ">=": number >= asked,
        "<": number < asked,
        ">": as_far > asked,
        "<=": as_far <= asked,
        "~=": number >= asked and begins(number, asked[:-1] or asked),
    }
    return said[operator]


def written(clauses: list[tuple[str, Release]]) -> str:
    return ",".join(operator + ".".join(map(str, number)) for operator, number in clauses)


@given(RANGES)
def test_a_range_is_the_versions_that_fit_every_clause(clauses: list[tuple[str, Release]]) -> None:
    expected = {number for number in GRID if all(meant(operator, asked, number) for operator, asked in clauses)}
    assert held(spans.read(written(clauses))) == expected


@given(RANGES, RANGES)
def test_sets_of_versions_combine_as_sets(first: list[tuple[str, Release]], second: list[tuple[str, Release]]) -> None:
    left, right = spans.read(written(first)), spans.read(written(second))
    assert held(spans.intersection(left, right)) == held(left) & held(right)
    assert held(spans.union([*left, *right])) == held(left) | held(right)
    if held(left) & held(right):
        assert spans.overlap(left, right)


@given(RANGES, RANGES)
def test_within_is_sound(first: list[tuple[str, Release]], second: list[tuple[str, Release]]) -> None:
    inner, outer = spans.read(written(first)), spans.union(spans.read(written(second)))
    if spans.within(inner, outer):
        assert held(inner) <= held(outer)
        assert spans.overlap(inner, outer)
    elif inner:
        # what is not within has a part outside
        outside = spans.union([*inner, *outer])
        assert outside != outer


@given(RANGES, RANGES)
def test_a_union_is_in_order_and_touches_itself_nowhere(
    first: list[tuple[str, Release]], second: list[tuple[str, Release]]
) -> None:
    merged = spans.union([*spans.read(written(first)), *spans.read(written(second))])
    for (_, high), (low, _) in pairwise(merged):
        assert high is not None
        assert high < low


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("2.8", ["2.8", "2.8.0", "2.8.99"], ["2.7.9", "2.9", "2.80"]),
        ("12.x", ["12", "12.9"], ["11.8", "13"]),
        ("==12.*", ["12.4"], ["13.0"]),
        ("=12.4", ["12.4.1"], ["12.5"]),
        (">=2.3,<2.5", ["2.3", "2.4.1"], ["2.2", "2.5", "2.5.1"]),
        ("!=3.14.1", ["3.14.0", "3.14.2", "3.14"], ["3.14.1"]),
        (">2.3", ["2.4"], ["2.3", "2.3.9"]),
        ("<=2.3", ["2.3.9", "1"], ["2.4"]),
        ("~=2.3", ["2.3", "2.9"], ["2.2", "3.0"]),
        ("~=2", ["2.9"], ["3.0", "1.9"]),
        (" >= v2.3 , < 2.5 ", ["2.4"], ["2.5"]),
    ],
)
def test_what_people_write(text: str, inside: list[str], outside: list[str]) -> None:
    read = spans.read(text)
    for version in inside:
        number = spans.release(version)
        assert any(low <= number and (high is None or number < high) for low, high in read), version
    for version in outside:
        number = spans.release(version)
        assert not any(low <= number and (high is None or number < high) for low, high in read), version


@pytest.mark.parametrize(
    "text", ["", "two", "2.8.", ">=", "2,,3", "1.2.3.4.5.6.7", "2" * 10, "\u0663.\u0664", "2 " * 80]
)
def test_what_is_no_range_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="version"):
        spans.read(text)


def test_a_range_that_nothing_fits_is_empty() -> None:
    assert spans.read(">=3,<2") == ()
    assert not spans.within((), spans.EVERYTHING)


@pytest.mark.parametrize("text", ["2.8a", "v2", "", "2.8\n"])
def test_a_release_is_numbers_alone(text: str) -> None:
    with pytest.raises(ValueError, match="not a version"):
        spans.release(text)


def test_versions_are_ordered_by_number_and_words_come_last() -> None:
    assert list(spans.order(["2.10", "2.9", "xpu", "2.9", "2.9.1", "dev"])) == ["2.9", "2.9.1", "2.10", "dev", "xpu"]


def test_the_lowest_of_spans() -> None:
    assert spans.lowest(spans.read(">=2.3,!=2.3")) == (2, 4)
    assert spans.lowest(()) == ()
