"""Spans of time ahead."""

import datetime as dt

import pytest

from orchestrator.errors import InputError
from orchestrator.studies.horizon import day_after


@pytest.mark.parametrize(
    ("span", "day"),
    [
        ("90d", "2027-02-27"),
        ("1d", "2026-11-30"),
        ("12m", "2027-11-29"),
        ("1m", "2026-12-29"),
        ("2m", "2027-01-29"),
        ("2y", "2028-11-29"),
    ],
)
def test_a_span_is_added_to_the_day(span: str, day: str) -> None:
    assert day_after(dt.date(2026, 11, 29), span).isoformat() == day


@pytest.mark.parametrize(
    ("today", "span", "day"),
    [("2027-01-31", "1m", "2027-02-28"), ("2028-02-29", "1y", "2029-02-28"), ("2027-12-31", "2m", "2028-02-29")],
)
def test_a_day_that_the_month_has_not_is_its_last(today: str, span: str, day: str) -> None:
    assert day_after(dt.date.fromisoformat(today), span).isoformat() == day


@pytest.mark.parametrize("span", ["", "12", "m", "0m", "-3d", "1.5y", "12 m", "12w", "٣m", "9999y"])
def test_what_is_no_span_is_refused(span: str) -> None:
    with pytest.raises(InputError):
        day_after(dt.date(2026, 11, 29), span)
