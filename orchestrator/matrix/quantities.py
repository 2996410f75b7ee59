"""Quantities as people write them. Each function takes text and gives a value, or ValueError with what is wrong."""

import datetime as dt
import re
from collections.abc import Callable

_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,6})?", re.ASCII)
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_BYTES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_URL = re.compile(r"https?://[A-Za-z0-9.-]{1,253}(?::\d{1,5})?(?:/[!-~]{0,1000})?", re.ASCII)

DAY = 86400.0


def number(low: float, high: float) -> Callable[[str], float]:
    """A parser of plain decimal numbers from `low` to `high`."""

    def parse(written: str) -> float:
        if not _NUMBER.fullmatch(written):
            raise ValueError("it takes a number, such as 19.2")
        return _within(float(written), low, high, f"from {low:g} to {high:g}")

    return parse


def count(low: int, high: int) -> Callable[[str], int]:
    """A parser of whole numbers from `low` to `high`."""

    def parse(written: str) -> int:
        if not re.fullmatch(r"\d{1,9}", written, re.ASCII):
            raise ValueError("it takes a whole number, such as 8")
        return int(_within(int(written), low, high, f"from {low} to {high}"))

    return parse


def duration(written: str) -> float:
    """Seconds from `90s`, `20m` or `1.5h`; at most seven days."""
    value, unit = _split(written, _SECONDS, "a duration, such as 90s, 20m or 2h")
    return _within(value * _SECONDS[unit], 1.0, 7 * DAY, "from 1s to 168h")


def size(written: str) -> int:
    """Bytes from `512MiB` or `16GiB`; from 1 MiB to 64 TiB."""
    value, unit = _split(written, _BYTES, "a size, such as 512MiB or 16GiB")
    return int(_within(value * _BYTES[unit], 1 << 20, 64 << 40, "from 1MiB to 64TiB"))


def percent(written: str) -> float:
    """A fraction from `3%`: 0.03; more than 0 % and at most 100 %."""
    value, _ = _split(written, {"%": 1.0}, "a percentage, such as 3%")
    return _within(value, 1e-6, 100.0, "more than 0% and at most 100%") / 100.0


def date(written: str) -> str:
    """An ISO date, as it is written; it must be in the calendar."""
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", written, re.ASCII):
        raise ValueError("it takes a date, such as 2027-03-01")
    try:
        dt.date.fromisoformat(written)
    except ValueError:
        raise ValueError("there is no such day in the calendar") from None
    return written


def url(written: str) -> str:
    """An http or https address, as it is written."""
    if not _URL.fullmatch(written):
        raise ValueError("it takes an address that begins with http:// or https://")
    return written


def flag(written: str) -> bool:
    """`true` or `false`."""
    if written not in {"true", "false"}:
        raise ValueError("it takes true or false")
    return written == "true"


def _split(written: str, units: "dict[str, float] | dict[str, int]", form: str) -> tuple[float, str]:
    unit = next((unit for unit in units if written.endswith(unit)), "")
    if not unit or not _NUMBER.fullmatch(written.removesuffix(unit)):
        raise ValueError(f"it takes {form}")
    return float(written.removesuffix(unit)), unit


def _within(value: float, low: float, high: float, allowed: str) -> float:
    if not low <= value <= high:
        raise ValueError(f"it must be {allowed}")
    return value
