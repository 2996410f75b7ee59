from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.matrix import quantities

count, number = quantities.count(1, 100), quantities.number(0, 1e6)


@pytest.mark.parametrize(
    ("parse", "written", "value"),
    [
        (quantities.duration, "90s", 90.0),
        (quantities.duration, "20m", 1200.0),
        (quantities.duration, "1.5h", 5400.0),
        (quantities.duration, "168h", 604800.0),
        (quantities.size, "512MiB", 512 << 20),
        (quantities.size, "16GiB", 16 << 30),
        (quantities.size, "1.5GiB", 3 << 29),
        (quantities.size, "64TiB", 64 << 40),
        (quantities.percent, "3%", 0.03),
        (quantities.percent, "0.5%", 0.005),
        (quantities.percent, "100%", 1.0),
        (count, "1", 1),
        (count, "100", 100),
        (number, "0", 0.0),
        (number, "19.2", 19.2),
        (quantities.date, "2028-02-29", "2028-02-29"),
        (quantities.url, "https://example.org/a/1?b=c#d", "https://example.org/a/1?b=c#d"),
        (quantities.url, "http://localhost:8080", "http://localhost:8080"),
        (quantities.flag, "true", True),
        (quantities.flag, "false", False),
    ],
)
def test_what_is_read(parse: Callable[[str], object], written: str, value: object) -> None:
    assert parse(written) == value


@pytest.mark.parametrize(
    ("parse", "written", "reason"),
    [
        (quantities.duration, "0s", "it must be from 1s to 168h"),
        (quantities.duration, "169h", "it must be from 1s to 168h"),
        (quantities.duration, "20", "it takes a duration, such as 90s, 20m or 2h"),
        (quantities.duration, "10q", "it takes a duration, such as 90s, 20m or 2h"),
        (quantities.duration, "-5m", "it takes a duration, such as 90s, 20m or 2h"),
        (quantities.duration, "1e400s", "it takes a duration, such as 90s, 20m or 2h"),
        (quantities.duration, "m", "it takes a duration, such as 90s, 20m or 2h"),
        (quantities.duration, "5m\n", "it takes a duration, such as 90s, 20m or 2h"),
        (quantities.duration, "٣m", "it takes a duration, such as 90s, 20m or 2h"),
        (quantities.size, "0GiB", "it must be from 1MiB to 64TiB"),
        (quantities.size, "65TiB", "it must be from 1MiB to 64TiB"),
        (quantities.size, "16GB", "it takes a size, such as 512MiB or 16GiB"),
        (quantities.size, "nan GiB", "it takes a size, such as 512MiB or 16GiB"),
        (quantities.percent, "0%", "it must be more than 0% and at most 100%"),
        (quantities.percent, "101%", "it must be more than 0% and at most 100%"),
        (quantities.percent, "3", "it takes a percentage, such as 3%"),
        (count, "0", "it must be from 1 to 100"),
        (count, "101", "it must be from 1 to 100"),
        (count, "1.5", "it takes a whole number, such as 8"),
        (count, "1" * 5000, "it takes a whole number, such as 8"),
        (number, "1e400", "it takes a number, such as 19.2"),
        (number, "inf", "it takes a number, such as 19.2"),
        (number, "1000001", "it must be from 0 to 1e+06"),
        (quantities.date, "2027-02-30", "there is no such day in the calendar"),
        (quantities.date, "20270228", "it takes a date, such as 2027-03-01"),
        (quantities.date, "2027-W01", "it takes a date, such as 2027-03-01"),
        (quantities.url, "javascript:alert(1)", "it takes an address that begins with http:// or https://"),
        (quantities.url, "https://", "it takes an address that begins with http:// or https://"),
        (quantities.url, "https://a/\u202e", "it takes an address that begins with http:// or https://"),
        (quantities.flag, "yes", "it takes true or false"),
    ],
)
def test_what_is_refused(parse: Callable[[str], object], written: str, reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse(written)
    assert str(caught.value) == reason


NAMED = (quantities.duration, quantities.size, quantities.percent, quantities.date, quantities.url, quantities.flag)
PARSERS = (*NAMED, count, number)


@given(st.sampled_from(PARSERS), st.text(max_size=20) | st.text("0123456789.smhGiB%-", max_size=12))
def test_any_text_is_a_value_or_a_reason(parse: Callable[[str], object], written: str) -> None:
    reason = ""
    try:
        parse(written)
    except ValueError as error:
        reason = str(error)
    assert reason == "" or reason.startswith(("it ", "there is no such day"))
