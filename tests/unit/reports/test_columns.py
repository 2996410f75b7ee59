"""Tables that stay in line whatever stands in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import text
from orchestrator.reports.columns import BAR, Column, Line, fenced, pad, painted, table, width_of, wrap

SHOWN = st.text(max_size=60).map(text.one_line)
COLUMNS = (Column(name="a"), Column(name="b"), Column(name="c", optional=True), Column(name="d"))


@pytest.mark.parametrize(
    ("shown", "width"),
    [("", 0), ("abc", 3), ("\u5bbd\u5b57", 4), ("e\u0301", 1), ("\U0001f525", 2), ("\uff21", 2), ("\u0627\u0644", 2)],
)
def test_width_of(shown: str, width: int) -> None:
    assert width_of(shown) == width


@given(SHOWN, st.integers(0, 80))
def test_what_is_padded_is_as_wide_as_asked_or_whole(shown: str, width: int) -> None:
    assert width_of(pad(shown, width)) == max(width, width_of(shown))
    assert pad(shown, width).startswith(shown)


@given(SHOWN, st.integers(2, 40))
def test_wrap_loses_nothing_and_keeps_the_width(shown: str, width: int) -> None:
    lines = wrap(shown, width)
    assert "".join(lines).replace(" ", "") == shown.replace(" ", "")
    assert all(0 < width_of(line) <= width for line in lines)


def test_wrap_breaks_between_words_where_it_can() -> None:
    assert wrap("one two three", 8) == ["one two", "three"]
    assert wrap("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrap("", 4) == []


@given(SHOWN, st.integers(10, 60))
def test_what_is_fenced_stands_behind_the_bar(shown: str, width: int) -> None:
    assert all(line.startswith(BAR) for line in fenced(shown, width))


def test_a_table_is_in_line_with_wide_characters() -> None:
    rows = table(
        (Column(name="status"), Column(name="row")), [Line(values=("\u5bbd\u5b57", "x")), Line(values=("ok", "y"))], 80
    )
    assert rows == ["status  row", "\u5bbd\u5b57    x", "ok      y"]


def test_a_column_without_room_is_dropped_or_goes_below() -> None:
    line = Line(values=("one", "two" * 3, "three" * 3, "four" * 3), below=("why",), paste="run it")
    assert table(COLUMNS, [line], 80) == [
        "a    b          c                d",
        "one  twotwotwo  threethreethree  fourfourfour",
        "  | why",
        "  run it",
    ]
    assert table(COLUMNS, [line], 30) == ["a    b          d", "one  twotwotwo  fourfourfour", "  | why", "  run it"]
    assert table(COLUMNS, [line], 20) == ["a    b", "one  twotwotwo", "  | d: fourfourfour", "  | why", "  run it"]


def test_the_first_column_is_always_there() -> None:
    assert table((Column(name="a"),), [Line(values=("x" * 50,))], 20) == ["a", "x" * 50]


def test_a_table_without_rows_is_nothing() -> None:
    assert table(COLUMNS, [], 80) == []


def test_colour_is_added_to_the_first_word_and_changes_nothing_else() -> None:
    columns = (Column(name="a"), Column(name="b"))
    plain = table(columns, [Line(values=("one", "two"))], 80)
    coloured = table(columns, [Line(values=("one", "two"), colour="31")], 80)
    assert coloured[1] == "\x1b[31mone\x1b[0m  two"
    assert coloured[1].replace("\x1b[31m", "").replace("\x1b[0m", "") == plain[1]
    assert painted("x", "") == "x"
