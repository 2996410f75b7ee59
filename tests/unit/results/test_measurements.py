"""Files of measurements: what is taken as it was written, and what is refused at its place."""

import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import InputError
from orchestrator.results.measurements import Pairs, Series, read_pairs, read_series


def problems(data: bytes, read: object = read_pairs) -> str:
    with pytest.raises(InputError) as refused:
        read(data, "f.csv")  # type: ignore[operator]
    return str(refused.value)


@pytest.mark.parametrize(
    "data",
    [
        b"base,head\n1,2\n3,4.5\n",
        b"\xef\xbb\xbfbase,head\r\n1,2\r\n3,4.5",
        b'"base", head\n\n +1. ,"2"\n3e0,.45E1\n\n',
    ],
)
def test_pairs_are_read_as_csv_is_written(data: bytes) -> None:
    assert read_pairs(data, "f.csv") == Pairs((1.0, 3.0), (2.0, 4.5))


@pytest.mark.parametrize(
    ("row", "place", "fact"),
    [
        ("1,nan", "f.csv:3:2", "`nan` is no measurement"),
        ("-nan,1", "f.csv:3:1", "no measurement"),
        ("1,inf", "f.csv:3:2", "no measurement"),
        ("1,-Infinity", "f.csv:3:2", "no measurement"),
        ("1e999,1", "f.csv:3:1", "larger than any number"),
        ("1,0", "f.csv:3:2", "not above 0"),
        ("1,-0.0", "f.csv:3:2", "not above 0"),
        ("1e-999,1", "f.csv:3:1", "not above 0"),
        ("-5,1", "f.csv:3:1", "not above 0"),
        ("1,", "f.csv:3:2", "`` is no measurement"),
        ("1", "f.csv:3:1", "1 column, where the header has 2"),
        ("1,2,3", "f.csv:3:1", "3 columns"),
        ("1,\uff15", "f.csv:3:2", "no measurement"),  # a full-width digit
        ("1_0,2", "f.csv:3:1", "no measurement"),
        ("0x1p3,2", "f.csv:3:1", "no measurement"),
        ("1;2", "f.csv:3:1", "1 column"),
        ("12 ms,2", "f.csv:3:1", "without a unit"),
        (f"{'1' * 500},2", "f.csv:3:1", "no measurement"),
        ("1,\x1b[31m", "f.csv:3:2", "`\\x1b[31m` is no measurement"),
    ],
)
def test_what_is_no_measurement_is_refused_at_its_place(row: str, place: str, fact: str) -> None:
    said = problems(f"base,head\n1,1\n{row}\n".encode())
    assert said.startswith(f"{place}: ")
    assert fact in said


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"base,head\n", "no measurement below the header"),
        (b"head,base\n1,2\n", "the header is `head,base`"),
        (b"1,2\n", "the header is `1,2`"),
        (b"time,value\n1,2\n", "it is to be base,head"),
        (b'base,head\n"1,2\n', "this is no CSV"),
        (b"base,head\n1,\xff\n", "f.csv:2:1: byte 0xff is not UTF-8"),
        (b"base,head\n" + b"a" * 200_000 + b",1\n", "this is no CSV"),
    ],
)
def test_what_is_no_file_of_pairs_is_refused(data: bytes, fact: str) -> None:
    assert fact in problems(data)


def test_all_problems_are_counted_and_the_first_are_shown() -> None:
    said = problems(b"base,head\n" + b"nan,1\n" * 1000)
    assert said.count("\n") == 20
    assert said.endswith("f.csv: and 980 more problems")


def test_the_times_of_a_series_stay_as_they_were_written() -> None:
    for times in ((1, 2.5, 1700000000123456789), ("2026-11-29", "2026-11-30T01:02:03"), ("2026-11-30T12:00:00Z",)):
        data = "time,value\n" + "".join(f"{time},7\n" for time in times)
        assert read_series(data.encode(), "f.csv") == Series(times, (7.0,) * len(times))


@pytest.mark.parametrize(
    ("times", "fact"),
    [
        (("2", "1"), "f.csv:3:1: `1` lies before the time above it"),
        (("2026-11-30", "2026-11-29"), "lies before"),
        (("1", "2026-11-29"), "is a time without a zone, and the one above it is a number"),
        (("2026-11-29T00:00:00", "2026-11-30T00:00:00Z"), "with a zone, and the one above it"),
        (("yesterday", "1"), "f.csv:2:1: `yesterday` is no time"),
        (("", "1"), "`` is no time"),
        (("2026-11-29\x1b12:00", "1"), "`2026-11-29\\x1b12:00` is no time"),
        (("nan", "1"), "is no time"),
        (("1e999", "1"), "is no time"),
    ],
)
def test_times_that_are_none_or_out_of_order_are_refused(times: tuple[str, ...], fact: str) -> None:
    assert fact in problems(b"time,value\n" + "".join(f"{time},7\n" for time in times).encode(), read_series)


def test_times_may_stand_still() -> None:
    assert read_series(b"time,value\n1,2\n1,3\n", "f.csv").values == (2.0, 3.0)


@given(st.lists(st.tuples(*[st.floats(min_value=5e-324, max_value=1e308)] * 2), min_size=1))
def test_what_is_written_is_read_back(pairs: list[tuple[float, float]]) -> None:
    data = "base,head\n" + "".join(f"{base!r},{head!r}\n" for base, head in pairs)
    read = read_pairs(data.encode(), "f.csv")
    assert list(zip(read.base, read.head, strict=True)) == pairs


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_whatever_the_bytes_are_there_is_an_answer_or_a_reason(data: bytes) -> None:
    for header, read in ((b"base,head\n", read_pairs), (b"time,value\n", read_series)):
        with suppress(InputError):
            found = read(header + data, "f.csv")
            numbers = [*found.base, *found.head] if isinstance(found, Pairs) else found.values
            assert all(number > 0 and math.isfinite(number) for number in numbers)
