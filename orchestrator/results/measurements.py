"""Measurements that somebody wrote down: a CSV file of pairs, or of a series, every number of it held to what it is."""

import csv
import datetime as dt
import io
import math
import re
from collections.abc import Iterator

from msgspec import Struct

from orchestrator import text
from orchestrator.errors import InputError, InputErrors

MAX_BYTES = 1 << 28
PAIRS = ("base", "head")
SERIES = ("time", "value")
_SHOWN = 20
_LONGEST = 64  # characters of a number or a time
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ISO = re.compile(r"[0-9TZW:+., -]+")
_Time = float | int | str


class Pairs(Struct, frozen=True):
    """As many measurements of head as of base, all positive and finite."""

    base: tuple[float, ...]
    head: tuple[float, ...]


class Series(Struct, frozen=True):
    """Positive, finite measurements in the order of their times, which are as they were written."""

    times: tuple[_Time, ...]
    values: tuple[float, ...]


class _Problems:
    """What is wrong with a file: all of it counted, the first places kept."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self.first: list[InputError] = []

    def add(self, fact: str, line: int, column: int, hint: str = "") -> None:
        self.count += 1
        if self.count <= _SHOWN:
            self.first.append(InputError(fact, place=f"{self.name}:{line}:{column}", hint=hint))

    def refuse(self) -> None:
        """InputErrors when there was any: nothing is said of a file of which a part is left out."""
        if self.count > len(self.first):
            more = text.counting(self.count - len(self.first), "more problem")
            self.first.append(InputError(f"and {more}", place=self.name))
        if self.first:
            raise InputErrors(self.first)


def read_pairs(data: bytes, name: str) -> Pairs:
    """The pairs of a CSV file with the header `base,head`; InputErrors has what is wrong with it, place by place."""
    problems = _Problems(name)
    base, head = [], []
    for line, fields in _rows(data, PAIRS, problems):
        base.append(_measurement(fields[0], line, 1, problems))
        head.append(_measurement(fields[1], line, 2, problems))
    problems.refuse()
    return Pairs(tuple(base), tuple(head))


def read_series(data: bytes, name: str) -> Series:
    """The series of a CSV file with the header `time,value`; InputErrors has what is wrong with it, place by place.

    A time is a number, or a date or time in ISO 8601; all are of one kind, and none lies before the one above it.
    """
    problems = _Problems(name)
    times: list[_Time] = []
    values: list[float] = []
    before: tuple[str, float] | None = None
    for line, fields in _rows(data, SERIES, problems):
        values.append(_measurement(fields[1], line, 2, problems))
        written = fields[0].strip()
        if (now := _moment(written)) is None:
            problems.add(f"{_quoted(written)} is no time", line, 1, "a number, or ISO 8601 as in 2026-11-30T12:00:00Z")
            continue
        if before and before[0] != now[0]:
            problems.add(f"{_quoted(written)} is {now[0]}, and the one above it is {before[0]}", line, 1)
        elif before and now[1] < before[1]:
            problems.add(f"{_quoted(written)} lies before the time above it", line, 1, "the oldest point comes first")
        before = now
        times.append(_as_written(written))
    problems.refuse()
    return Series(tuple(times), tuple(values))


def _rows(data: bytes, header: tuple[str, str], problems: _Problems) -> Iterator[tuple[int, list[str]]]:
    """The line and the two fields of each row below the header; blank lines are none."""
    rows = csv.reader(io.StringIO(_decoded(data, problems), newline=""), strict=True)
    seen = 0
    try:
        for fields in rows:
            if not fields or fields == [""]:
                continue
            seen += 1
            if seen == 1:
                if [field.strip() for field in fields] != list(header):
                    found = _quoted(",".join(fields))
                    problems.add(f"the header is {found}", rows.line_num, 1, f"it is to be {','.join(header)}")
                    return
            elif len(fields) != len(header):
                has = text.counting(len(fields), "column")
                problems.add(f"{has}, where the header has {len(header)}", rows.line_num, 1)
            else:
                yield rows.line_num, fields
    except csv.Error as error:
        problems.add(f"this is no CSV: {error}", rows.line_num, 1)
        return
    if not seen:
        problems.add("the file is empty", 1, 1, f"its first line is the header {','.join(header)}")
    elif seen == 1:
        problems.add("there is no measurement below the header", 1, 1)


def _decoded(data: bytes, problems: _Problems) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fact, place = f"byte 0x{data[error.start]:02x} is not UTF-8", f"{problems.name}:{line}:1"
        raise InputError(fact, place=place, hint="save the file as UTF-8") from None


def _measurement(written: str, line: int, column: int, problems: _Problems) -> float:
    """The number; what is none, or no measurement of which a ratio could be taken, is a problem and NaN."""
    plain = written.strip()
    number = float(plain) if len(plain) <= _LONGEST and _NUMBER.fullmatch(plain) else math.nan
    if math.isnan(number):
        unit = "write the number alone, without a unit" if _NUMBER.match(plain) else ""
        problems.add(f"{_quoted(written)} is no measurement", line, column, unit)
    elif math.isinf(number):
        problems.add(f"{_quoted(written)} is larger than any number that can be held", line, column)
    elif number <= 0:
        problems.add(f"{_quoted(written)} is not above 0: no change can be a share of it", line, column)
    return number


def _moment(written: str) -> tuple[str, float] | None:
    """Of what kind a time is, and a number to order it by; None when it is no time."""
    if len(written) > _LONGEST:
        return None
    if _NUMBER.fullmatch(written):
        return ("a number", float(written)) if math.isfinite(float(written)) else None
    if not _ISO.fullmatch(written):  # Python takes any character between date and time
        return None
    try:
        moment = dt.datetime.fromisoformat(written)
        if moment.tzinfo is None:
            return "a time without a zone", moment.replace(tzinfo=dt.UTC).timestamp()
        return "a time with a zone", moment.timestamp()
    except (ValueError, OverflowError):
        return None


def _as_written(written: str) -> _Time:
    """A number as a number, whole when it was written so: a time in nanoseconds has more digits than a float."""
    if not _NUMBER.fullmatch(written):
        return written
    return int(written) if written.lstrip("+-").isdecimal() else float(written)


def _quoted(written: str) -> str:
    return f"`{text.shown(written)}`"
