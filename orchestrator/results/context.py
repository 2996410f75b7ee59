"""Context: what the row of each metric must tell beside its value, or nobody can say what the figure is of.

The suite holds what it writes to a table of its own, since it imports nothing of ours; a conformance test holds the two
tables together, and the schema of metric rows is made from this one.
"""

import re
from collections.abc import Mapping
from typing import Any

from orchestrator.formats import MetricRow

_TIMED = ("timer", "statistic", "conditions")
_SAMPLED = (*_TIMED, "spread")
_COUNTED = (*_SAMPLED, "formula")

CONTEXT: Mapping[str, tuple[str, ...]] = {
    "latency": _SAMPLED,
    "operator_time": (*_SAMPLED, "scope"),
    "tflops": _COUNTED,
    "gbps": _COUNTED,
    "roofline": (*_COUNTED, "source"),
    "mfu": (*_COUNTED, "source"),
    "algbw": _COUNTED,
    "busbw": _COUNTED,
    "pair_gbps": (*_SAMPLED, "scope"),
    "straggler": _SAMPLED,
    "compile_cold": ("timer", "conditions"),
    "compile_cached": ("timer", "conditions"),
    "compile_warm": ("timer", "conditions"),
    "sustained": (*_TIMED, "formula"),
    "copy": (*_TIMED, "formula"),
    "link": (*_TIMED, "formula"),
    "host_to_device": (*_TIMED, "formula"),
    "device_to_host": (*_TIMED, "formula"),
    "memory_peak": ("conditions",),
    "memory_allocated": ("conditions",),
    "memory_reserved": ("conditions",),
    "memory_requested": ("conditions",),
    "memory_inactive_split": ("conditions",),
    "memory_growth": ("conditions",),
    "fragmentation": ("conditions",),
}
"""Metric -> the keys that say something in each of its rows that has a value; `source` is that of a peak, in `formula`.

A metric that is not here is a count or an error: what every row has says all of it.
"""

NOTHING: Mapping[str, Any] = {
    "timer": "none",
    "statistic": "exact",
    "spread": None,
    "conditions": None,
    "formula": "",
    "scope": "",
}
"""What stands in a key that says nothing."""

SOURCE = r" / .+ of .+, [^\s,]+$"
"""The end of a fraction's formula: the rate it is a share of, whose it is, and the short name of where that is from."""


def lacking(row: MetricRow) -> tuple[str, ...]:
    """The keys that a row must tell and does not; of a row without a value none."""
    if row.value is None:
        return ()
    said = {key: getattr(row, key) != nothing for key, nothing in NOTHING.items()}
    said["source"] = re.search(SOURCE, row.formula) is not None
    return tuple(key for key in CONTEXT.get(row.metric, ()) if not said[key])


def conditional() -> list[dict[str, Any]]:
    """The same as conditions of a JSON Schema, one for each key that a metric may have to tell."""
    keys = sorted({key for needed in CONTEXT.values() for key in needed})
    return [
        {
            "if": {
                "properties": {
                    "metric": {"enum": [metric for metric, needed in CONTEXT.items() if key in needed]},
                    "value": {"type": "number"},
                }
            },
            "then": _asked(key),
        }
        for key in keys
    ]


def _asked(key: str) -> dict[str, Any]:
    if key == "source":
        return {"properties": {"formula": {"pattern": SOURCE}}}
    return {"properties": {key: {"not": {"const": NOTHING[key]}}}}
