"""The processor."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, Tuple

from suites import exits, timing

TIMER = "perf_counter"
STATISTIC = "min"  # what disturbs a processor only ever adds time
COLLECTIVE = "gloo"
ERRORS = {
    r"DefaultCPUAllocator: (can't|not enough) |Cannot allocate memory": exits.OUT_OF_MEMORY,
    r"No space left on device": exits.OUT_OF_DISK,
}


def count() -> int:
    """There is always one."""
    return 1


def why_missing() -> str:
    """Never asked: there is always one."""
    return ""


def place() -> str:
    """Where tensors go."""
    return "cpu"


def exact() -> str:
    """Where fp64 works."""
    return "cpu"


def health() -> None:
    """A tiny exact computation."""
    import torch

    ones = torch.ones(64, 64)
    if not bool((ones @ ones == 64).all()):
        raise AssertionError(f"{exits.NUMERICS}: 64x64 ones times ones is not 64 everywhere on the processor")


def synchronise() -> None:
    """A processor has done what it was given."""


def memory() -> int:
    """Bytes of main memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def reset_peak() -> None:
    """The peak of a process cannot be reset."""


def peak() -> int:
    """Bytes that the process had resident at most, from its start."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def conditions() -> Dict[str, Any]:
    """Nothing of it can be read here."""
    return dict(timing.UNREAD)


def samples(call: Callable[[], Any], number: int) -> List[float]:
    """Seconds of each call."""
    return timing.host_samples(call, number, synchronise)


def observe() -> Tuple[Dict[str, str], Dict[str, str]]:
    """Nothing that every run does not observe."""
    return {}, {}
