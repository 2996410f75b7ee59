"""Timing: seconds of calls by the host's clock, and how samples become one figure."""

from __future__ import annotations

import statistics
import time
from typing import Any, Callable, List, Sequence


def host_samples(call: Callable[[], Any], number: int, synchronise: Callable[[], None]) -> List[float]:
    """Seconds of each of `number` calls; the device is waited for before and after each."""
    taken = []
    for _ in range(number):
        synchronise()
        start = time.perf_counter()
        call()
        synchronise()
        taken.append(time.perf_counter() - start)
    return taken


def one_figure(samples: Sequence[float], statistic: str) -> float:
    """The minimum or the median of the samples."""
    return min(samples) if statistic == "min" else statistics.median(samples)
