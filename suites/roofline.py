"""The share of what a device can at most: of the attainable rate for each work, of the peak for a model's step.

No row where no dense rate is sourced: a fraction of a wrong peak is worse than none. The environment says which peak.
"""

from __future__ import annotations

import functools
from operator import truediv
from typing import TYPE_CHECKING, Any, Dict

from suites import formulas, rows
from suites.peaks import NoPeak, Peak, find

if TYPE_CHECKING:
    from suites.bench import Bench
    from suites.timing import Timed
    from suites.work import Work


def write(bench: Bench, work: Work, took: Timed) -> None:
    """The rows `roofline` and, of a model's step, `mfu`; each names its peak and where that is from."""
    if not work.flops and not work.bytes:
        return
    try:
        peak = find(bench.device.title(), bench.device.units())
    except NoPeak:
        return
    key = rate_key(work.precision, peak)
    rate = peak.tflops.get(key)
    least = formulas.attainable(work.flops, work.bytes, rate, peak.gbps)
    if not least or (work.flops and not rate):
        return
    bench.row(work, "roofline", **share(least, took), formula=formula(work, peak, key))
    if work.load.startswith("model.") and work.flops and rate:
        of_peak = share(formulas.attainable(work.flops, 0, rate, None), took)
        bench.row(work, "mfu", **of_peak, formula=formula(work, peak, key, roof=False))


def share(least: float, took: Timed) -> Dict[str, Any]:
    """Value, unit and validity of a fraction: one that cannot be true is kept, and said to be none."""
    told = rows.of_rate(took, functools.partial(truediv, least))
    if took.seconds is None:
        return {**told, "value": None, "unit": "fraction", "direction": "higher"}
    value, why = formulas.fraction(least, took.seconds)
    if why:
        why += " (a wrong peak or count, or data that stayed in a cache)"
    return {**told, "value": value, "unit": "fraction", "direction": "higher", "why": why or told["why"]}


def rate_key(precision: str, peak: Peak) -> str:
    """The rate that a precision runs at: where products of fp32 may be less exact, TensorFloat-32's if there is one."""
    if precision in ("fp32-high", "fp32-medium") and "tf32" in peak.tflops:
        return "tf32"
    return precision.partition("-")[0]


def formula(work: Work, peak: Peak, key: str, *, roof: bool = True) -> str:
    """How work was counted, what it is a share of, and the source of that."""
    rate = peak.tflops.get(key)
    parts = [f"{rate:.5g} TFLOP/s {key}"] if work.flops and rate else []
    parts += [f"{peak.gbps:.5g} GB/s * intensity"] if roof and work.bytes and peak.gbps else []
    limit = f"min({', '.join(parts)})" if len(parts) > 1 else parts[0]
    counted = [work.formula] if work.flops else []
    counted += [formulas.TRAFFIC] if roof and work.bytes else []
    return f"{', '.join(counted)} / {limit} of {peak.name}, {peak.source_id}"[:400]
