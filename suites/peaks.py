"""Peak rates of devices by the names that torch prints: dense, each with its source, cut down to the slice seen.

`peaks.json` is written from the orchestrator's facts (`tests/generate_peaks.py`). Traps are kept out there and here:
sparse figures are not in it, a name is matched whole before a shorter one, an A10G is no A10, a card that torch sees as
two devices is halved. A device without a sourced dense rate has no fraction of peak.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple

FILE = Path(__file__).with_name("peaks.json")
_SLICE = re.compile(r"\s+MIG\s+(?:(\d+)c\.)?(\d+)g\.(\d+)gb\S*\s*$", re.IGNORECASE)
_QUARTERS = 4
_EIGHTHS = 8  # a MIG slice's memory comes in them, or in as many parts as there are slices where those are four


class NoPeak(LookupError):  # noqa: N818 - reads as what is so
    """No rate can be told of this device; the text says why."""


@dataclass(frozen=True)
class Peak:
    """What a device, or the slice of it that torch sees, does at most.

    `tflops` maps precisions to 1e12 operations per second, dense; `gbps` is 1e9 bytes per second or None; `share` says
    how it was cut down from the whole device, or is empty; `source` is where the whole device's figures are from.
    """

    device: str
    tflops: Mapping[str, float]
    gbps: Optional[float]
    share: str
    source: str

    @property
    def source_id(self) -> str:
        """The short name of the source, in the facts and in `peaks.json`."""
        return str(next(row["source"] for _, row in _rows() if row["id"] == self.device))

    @property
    def name(self) -> str:
        """The device, and its slice if it is one: what a row's formula names."""
        return f"{self.device} ({self.share})" if self.share else self.device


def find(name: str, units: Optional[int] = None) -> Peak:
    """The peak of a device by its name and, where torch tells it, the number of its compute units. Raises NoPeak.

    A MIG slice has its SMs' share of the rates and its memory's share of the bandwidth.
    """
    plain, profile = _sliced(" ".join(name.split()))
    row = next((row for patterns, row in _rows() if any(one.search(plain) for one in patterns)), None)
    if row is None:
        raise NoPeak(f"no peak rate is known of `{name}`")
    if "source" not in row:
        raise NoPeak(f"no sourced dense rate is known of {row['id']}")
    compute, told = _compute(row, profile, units)
    memory = _memory(row, profile, compute)
    rates = {precision: rate * compute for precision, rate in row.get("tflops", {}).items()}
    whole = row.get("gbps")
    return Peak(
        device=row["id"],
        tflops=rates,
        gbps=None if whole is None else whole * memory,
        share="" if compute == memory == 1 else f"{told} of its compute, {memory:.4g} of its memory",
        source=_read()["sources"][row["source"]],
    )


def facts(name: str, units: Optional[int]) -> Dict[str, str]:
    """What a run's environment says of the peak that its fractions are of."""
    try:
        peak = find(name, units)
    except NoPeak as reason:
        return {"peak": f"none: {reason}"}
    rates = [f"{precision} {rate:.5g}" for precision, rate in peak.tflops.items()]
    bandwidth = f"{peak.gbps:.5g} GB/s" if peak.gbps else "no sourced bandwidth"
    told = f"{peak.name}: {', '.join(rates) or 'no sourced rate'} TFLOP/s dense, {bandwidth}"
    return {"peak": told, "peak_source": f"{peak.source_id}: {peak.source}"}


def _sliced(name: str) -> Tuple[str, Optional[Tuple[int, int]]]:
    """The name of the whole device, and slices and gigabytes of the MIG profile after it.

    A compute instance (`1c.4g.48gb`) has so many of the slices, and shares the memory of all.
    """
    found = _SLICE.search(name)
    if not found:
        return name, None
    instance, slices, memory = found.groups()
    return name[: found.start()], (int(instance or slices), int(memory))


def _compute(row: Mapping[str, Any], profile: Optional[Tuple[int, int]], units: Optional[int]) -> Tuple[float, str]:
    """The share of the compute units, and its text: those that torch counts, of the whole device's.

    A profile's name does not tell it: of the 132 SMs of an H100 its seventh has 16, not 19, and with a quarter of the
    memory 26 (`nvidia-smi mig -lgip` in github.com/NVIDIA/gpu-operator/pull/900 and NVIDIA/mig-parted/pull/139); only
    quarters are whole ones (MIG User Guide, A30 profiles). A partition of an MI300X has the name of the whole.
    """
    whole = row.get("compute_units")
    if units and whole:
        return min(1.0, units / whole), f"{min(units, whole)}/{whole}"
    if profile:
        slices = row.get("slices")
        if slices is None:
            raise NoPeak(f"{row['id']} is not known to be cut into slices")
        if slices != _QUARTERS:
            raise NoPeak(f"the name of a slice of {row['id']} does not tell its share of the compute units")
        return min(1.0, profile[0] / slices), f"{profile[0]}/{slices}"
    devices = row.get("torch_devices", 1)
    return 1.0 / devices, f"1/{devices}"


def _memory(row: Mapping[str, Any], profile: Optional[Tuple[int, int]], compute: float) -> float:
    """The share of the bandwidth: by the profile's memory for MIG, as much as of the compute for partitions."""
    if profile and "slice_memory_gb" in row:
        parts: int = row["slices"] if row["slices"] == _QUARTERS else _EIGHTHS
        return min(parts, max(1, round(parts * profile[1] / float(row["slice_memory_gb"])))) / parts
    devices = row.get("torch_devices", 1)
    if devices > 1:
        return 1.0 / devices if compute <= 1.0 / devices else 1.0
    return compute if "partitioned" in row else 1.0


@functools.lru_cache(maxsize=1)
def _read() -> Dict[str, Any]:
    read: Dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return read


@functools.lru_cache(maxsize=1)
def _rows() -> List[Tuple[List[re.Pattern[str]], Dict[str, Any]]]:
    return [([re.compile(one, re.IGNORECASE) for one in row["patterns"]], row) for row in _read()["devices"]]
