"""What is asked of `check`, as words and as lines."""

import contextlib
import datetime as dt
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.cli import asked
from orchestrator.errors import InputError


def test_words_are_a_mapping_and_a_value_may_hold_the_sign() -> None:
    assert asked.pairs(["torch=2.13.0", "env=A=1", "gpu="]) == {"torch": "2.13.0", "env": "A=1", "gpu": ""}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["torch"], "`torch` is not KEY=VALUE"),
        (["=2.13.0"], "`=2.13.0` is not KEY=VALUE"),
        (["torch=2.13.0", "torch=2.13.0"], "`torch` is given twice"),
        (["\x1b[2Jtorch"], "`\\x1b[2Jtorch` is not"),
    ],
)
def test_a_word_that_is_none_is_named(words: list[str], says: str) -> None:
    with pytest.raises(InputError) as error:
        asked.pairs(words)
    assert says in str(error.value)


def test_a_day_is_read() -> None:
    assert asked.day("2028-02-29") == dt.date(2028, 2, 29)


@pytest.mark.parametrize("word", ["", "tomorrow", "2027-02-29", "20270101", "2027-W01-1", "2027-01-01\n", "2027-1-1"])
def test_what_is_no_day_is_told(word: str) -> None:
    with pytest.raises(InputError, match="is not a date"):
        asked.day(word)


def test_values_stay_what_they_were_written_as() -> None:
    line = b'{"python": 3.10, "gpus": 8, "big": 1e400, "flag": true, "none": null, "list": ["a"], "map": {"b": 12.0}}'
    assert asked.combination(line) == {
        "python": "3.10",
        "gpus": "8",
        "big": "1e400",
        "flag": True,
        "none": None,
        "list": ["a"],
        "map": {"b": "12.0"},
    }


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"torch=2.13.0",
        b"[]",
        b'"text"',
        b"null",
        b"{",
        b'{"a": NaN}',
        b'{"a": "1", "a": "2"}',
        b'{"a": {"b": 1, "b": 2}}',
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        None,
    ],
)
def test_a_bad_line_says_why(line: bytes | None) -> None:
    with pytest.raises(InputError, match="line"):
        asked.combination(line)


@given(st.dictionaries(st.text(), st.text() | st.booleans() | st.lists(st.text())))
def test_what_was_written_is_read(combo: dict[str, object]) -> None:
    assert asked.combination(json.dumps(combo).encode()) == combo


@given(st.binary())
def test_no_line_breaks_the_reader(line: bytes) -> None:
    with contextlib.suppress(InputError):
        asked.combination(line)


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line and not line.endswith(b"\r"))))
def test_every_line_comes_once_in_order(whole: list[bytes]) -> None:
    stream = io.BytesIO(b"".join(line + b"\n" for line in whole))
    assert list(asked.lines(stream)) == whole


def test_the_last_line_needs_no_end_and_windows_ends_are_no_part() -> None:
    assert list(asked.lines(io.BytesIO(b"a\r\n\r\nb"))) == [b"a", b"", b"b"]


def test_a_line_without_end_is_dropped_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked, "MAX_LINE", 8)
    long = b"x" * 30
    assert list(asked.lines(io.BytesIO(long + b"\nshort\n" + long))) == [None, b"short", None]
    assert list(asked.lines(io.BytesIO(b"1234567\n12345678\nx"))) == [b"1234567", None, b"x"]
