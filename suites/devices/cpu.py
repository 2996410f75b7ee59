"""The processor."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

from suites import exits, readings, timing
from suites.devices import checks, products

PREFERENCE = 100  # the last: it is always there
SEEN = ("x86_64",)
STATISTIC = "min"  # what disturbs a processor only ever adds time
COLLECTIVE = "gloo"
ACTIVITY = ""
CONVOLUTIONS = "highest"
VARIABLES = ("ONEDNN_", "DNNL_", "MKL_", "KMP_", "OMP_", "GOMP_", "GLOO_")
STICKY = ""
UNWRITTEN = ""
ERRORS = {
    r"DefaultCPUAllocator: (can't|not enough) |Cannot allocate memory": exits.OUT_OF_MEMORY,
    r"No space left on device": exits.OUT_OF_DISK,
}

e4m3 = products.e4m3
tensor_float = products.untold
tf32 = products.tf32


def count() -> int:
    """There is always one."""
    return 1


def why_missing() -> str:
    """Never asked: there is always one."""
    return ""


def place() -> str:
    """Where tensors go."""
    return "cpu"


def places() -> List[str]:
    """There is one."""
    return ["cpu"]


def exact() -> str:
    """Where fp64 works."""
    return "cpu"


def health(needed: int = 0) -> List[str]:
    """A tiny exact computation, and how much memory is left."""
    checks.exact_product("cpu")
    free = free_memory()
    checks.enough("cpu", free, needed)
    return readings.notes("cpu", free=free, whole=memory(), others=None, throttle=None, counters={})


def deep_health(seconds: float) -> checks.Deep:
    """What is found under load."""
    import sys

    return checks.deep(sys.modules[__name__], seconds)


def title() -> str:
    """No peak rate is looked up by a processor's name."""
    return "processor"


def synchronise() -> None:
    """A processor has done what it was given."""


def memory() -> int:
    """Bytes of main memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def free_memory() -> Optional[int]:
    """Bytes that programs can have without swapping; the container's limit where that is less."""
    free = [_available(_read("/proc/meminfo")), _limit(_read("/sys/fs/cgroup/memory.max"))]
    return min((one for one in free if one is not None), default=None)


def clear() -> None:
    """Its libraries keep nothing that counts."""


def reset_peak() -> None:
    """The peak of a process cannot be reset."""


def peak() -> int:
    """Bytes that the process had resident at most, from its start."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def lacking(precision: str) -> Optional[str]:
    """Torch has products in the narrow precisions since some version each, and says so."""
    if precision == "tf32":
        return "not applicable: TensorFloat-32 is not asked of a processor"
    return None if precision in {"fp16", "bf16", "fp8"} else ""


def units() -> Optional[int]:
    """Not counted: what a core does is no unit of peak rate."""
    return None


def conditions(_: int = 0) -> Dict[str, Any]:
    """The mean clock of the processors that may be used; the rest needs the host's rights."""
    return {**timing.UNREAD, "clock_mhz": _clock(_read("/proc/cpuinfo"))}


def link(_: int = 0) -> Optional[Tuple[int, int, int, int]]:
    """None that can be read."""
    return None


def counters(_: int = 0) -> Dict[str, int]:
    """None that a container can read."""
    return {}


def firmware() -> str:
    """The microcode."""
    found = re.search(r"^microcode\s*:\s*(\S+)", _read("/proc/cpuinfo"), re.MULTILINE)
    return found.group(1) if found else ""


def timer() -> str:
    """The host's clock, around each call."""
    return "perf_counter"


def samples(call: Callable[[], Any], number: int) -> List[float]:
    """Seconds of each call."""
    return timing.host_samples(call, number, synchronise)


def observe() -> Tuple[Dict[str, str], Dict[str, str]]:
    """Its microcode."""
    return {}, {"cpu_firmware": firmware()}


def _clock(cpuinfo: str) -> Optional[float]:
    """The mean of `cpu MHz`; x86 only."""
    clocks = [float(one) for one in re.findall(r"^cpu MHz\s*:\s*([\d.]+)", cpuinfo, re.MULTILINE)]
    return sum(clocks) / len(clocks) if clocks else None


def _available(meminfo: str) -> Optional[int]:
    found = re.search(r"^MemAvailable:\s*(\d+) kB", meminfo, re.MULTILINE)
    return int(found.group(1)) * 1024 if found else None


def _limit(text: str) -> Optional[int]:
    return int(text) if text.strip().isdecimal() else None


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
