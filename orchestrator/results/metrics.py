"""`metrics.jsonl` of a bundle: the rows that can be believed, and how many were rejected and why.

A figure that is not one (NaN, an infinity, a text, a negative size) would pass every later comparison, because each
comparison with NaN is false: it is rejected here, counted, and never repaired. JSON has no NaN and no Infinity, and
msgspec refuses a number that is too large for one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

import msgspec
from msgspec import Struct

from orchestrator import text
from orchestrator.formats import MetricRow, Spread
from orchestrator.results import context
from orchestrator.results.files import MIB

MAX_BYTES = 64 * MIB
MAX_LINE = 64 << 10
MAX_ROWS = 200_000
_ROUNDING = 1e-9  # of a value: a rate and its samples are divided one by one


class Metrics(Struct, frozen=True, kw_only=True):
    """The rows of a bundle in their order; `rejected` counts the others by reason."""

    rows: tuple[MetricRow, ...] = ()
    rejected: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()
    problem: str = ""


def read_metrics(data: bytes, cell: str) -> Metrics:
    """The rows of one cell from the bytes of its file, whatever the bytes are."""
    *whole, half = data.split(b"\n")
    decoder = msgspec.json.Decoder(MetricRow, strict=True)
    rows: list[MetricRow] = []
    rejected: Counter[str] = Counter()
    for written in whole[:MAX_ROWS]:
        row, reason = _read_row(decoder, written, cell)
        if row is None:
            rejected[reason] += 1
        else:
            rows.append(row)
    units = _units(rows)
    kept = [row for row in rows if len(units[_key(row)]) == 1]
    if len(kept) < len(rows):
        rejected["its metric has mixed units"] += len(rows) - len(kept)
    notes = [f"{text.counting(sum(rejected.values()), 'metric row')} rejected: {_told(rejected)}"] if rejected else []
    once = list(dict.fromkeys(kept))
    if len(once) < len(kept):
        notes.append(f"{text.counting(len(kept) - len(once), 'metric row')} stood there twice")
    if half:
        notes.append("half a metric row at the end was left out")
    problem = f"it has more than {MAX_ROWS} rows" if len(whole) > MAX_ROWS else ""
    return Metrics(rows=tuple(once), rejected=dict(rejected), notes=tuple(notes), problem=problem)


def _read_row(decoder: msgspec.json.Decoder[MetricRow], written: bytes, cell: str) -> tuple[MetricRow | None, str]:
    if len(written) > MAX_LINE:
        return None, f"longer than {MAX_LINE} bytes"
    try:
        row = decoder.decode(written.decode())
    except msgspec.ValidationError as error:
        return None, _short(str(error))
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None, "no JSON (NaN and Infinity are none)"
    reason = "it names another cell" if row.cell != cell else _nonsense(row)
    return (None, reason) if reason else (row, "")


def _nonsense(row: MetricRow) -> str:
    """Why a row of the right form cannot be meant, or an empty text."""
    if row.value is not None and row.value < 0:
        return "its value is negative: every figure here is a size"
    if row.valid and row.value is None:
        return "it is called valid and has no value"
    if row.valid == bool(row.why.strip()):
        return "it is called valid and says why it is not" if row.valid else "it is called invalid and does not say why"
    if row.value is not None and row.spread is not None and not _within(row.value, row.statistic, row.spread):
        return "its value and its spread cannot be of the same samples"
    lacks = context.lacking(row)
    return f"{row.metric} lacks its {' and '.join(lacks)}" if lacks else ""


def _within(value: float, statistic: str, spread: Spread) -> bool:
    """Whether the quantiles are in order, and the value no less than all samples nor, as their median, above most."""
    ordered = (spread.minimum, spread.p5, spread.p50, spread.p95, spread.p99)
    room = _ROUNDING * (abs(value) + abs(spread.p99))
    return (
        all(low <= high + room for low, high in pairwise(ordered))
        and spread.minimum <= value + room
        and (statistic != "median" or value <= spread.p99 + room)
    )


def _short(message: str) -> str:
    """The words of msgspec without the part that differs from row to row."""
    return message.replace("Object ", "").replace(" - at `$.", ": `").replace("`$.", "`")


def _key(row: MetricRow) -> tuple[str, ...]:
    return (row.metric, row.load, row.model, row.shapes, row.precision, row.device, row.statistic, row.scope)


def _units(rows: Iterable[MetricRow]) -> Mapping[tuple[str, ...], set[str]]:
    units: dict[tuple[str, ...], set[str]] = {}
    for row in rows:
        units.setdefault(_key(row), set()).add(row.unit)
    return units


def _told(rejected: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} ({count})" for reason, count in sorted(rejected.items()))
