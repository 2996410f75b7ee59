"""Context: what the row of each metric must tell beside its value. The orchestrator holds what it reads to the same."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Tuple

_TIMED = ("timer", "statistic", "conditions")
_SAMPLED = (*_TIMED, "spread")
_COUNTED = (*_SAMPLED, "formula")
_MEMORY = ("conditions",)

CONTEXT: Mapping[str, Tuple[str, ...]] = {
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
    **dict.fromkeys(("compile_cold", "compile_cached", "compile_warm"), ("timer", "conditions")),
    **dict.fromkeys(("sustained", "copy", "link", "host_to_device", "device_to_host"), (*_TIMED, "formula")),
    **dict.fromkeys(("memory_peak", "memory_allocated", "memory_reserved", "memory_requested"), _MEMORY),
    **dict.fromkeys(("memory_inactive_split", "memory_growth", "fragmentation"), _MEMORY),
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


def lacking(row: Mapping[str, Any]) -> List[str]:
    """The keys that a row must tell and does not; of a row without a value none."""
    if row["value"] is None:
        return []
    said: Dict[str, bool] = {key: row[key] != nothing for key, nothing in NOTHING.items()}
    said["source"] = re.search(SOURCE, row["formula"]) is not None
    return [key for key in CONTEXT.get(row["metric"], ()) if not said[key]]
