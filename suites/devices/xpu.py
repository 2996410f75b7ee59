"""Intel GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

from suites import exits, readings, timing
from suites.devices import checks, names, sysfs

if TYPE_CHECKING:
    from pathlib import Path

PREFERENCE = 20
SEEN = ()
TIMER = "perf_counter"
STATISTIC = "median"
COLLECTIVE = "xccl"
STICKY = r"DEVICE_LOST"
ERRORS = {
    r"OUT_OF_(DEVICE_|HOST_)?MEMORY|OUT_OF_RESOURCES|out of memory": exits.OUT_OF_MEMORY,
    r"DEVICE_LOST|device is in a bad state": exits.DEVICE_LOST,
    r"GPU HANG|ERROR_TIMEOUT": exits.HANG,
    r"No kernel named|INVALID_BINARY|INVALID_KERNEL_NAME|no kernel image": exits.NO_KERNEL_IMAGE,
    r"fp64 is not supported|required aspect": exits.NO_KERNEL_IMAGE,
    r"No device of requested type|DEVICE_NOT_FOUND|No XPU devices are available|no device driver": exits.DEVICE_MISSING,
    r"lib(ze_loader|sycl|ur_loader|pi_level_zero|mkl_sycl\w*)\.so[.\d]*: cannot open shared": exits.MISSING_LIBRARY,
    r"No space left on device": exits.OUT_OF_DISK,
}


def count() -> int:
    """Devices that torch can use."""
    import torch

    return torch.xpu.device_count() if hasattr(torch, "xpu") and torch.xpu.is_available() else 0


def why_missing() -> str:
    """What is known about it."""
    import torch

    built = hasattr(torch, "xpu") and getattr(torch.xpu, "_is_compiled", lambda: True)()
    return "" if built else f": torch {torch.__version__} is built without it"


def place() -> str:
    """Where tensors go."""
    return "xpu"


def places() -> List[str]:
    """Where the tensors of each device go."""
    return [f"xpu:{index}" for index in range(count())]


def exact() -> str:
    """Where fp64 works: client GPUs have none."""
    import torch

    return "xpu" if getattr(torch.xpu.get_device_properties(0), "has_fp64", False) else "cpu"


def health(needed: int = 0) -> List[str]:
    """A tiny exact computation on each device, and what else is to be said of it."""
    told: List[str] = []
    for index, name in enumerate(places()):
        checks.exact_product(name)
        free = _free(index)
        checks.enough(name, free, needed)
        throttle = conditions(index)["throttle"]
        told += readings.notes(name, free=free, whole=memory(), others=None, throttle=throttle, counters={})
    return told


def deep_health(seconds: float) -> checks.Deep:
    """What is found under load."""
    import sys

    return checks.deep(sys.modules[__name__], seconds)


def title() -> str:
    """The name that torch prints of the first device."""
    import torch

    return str(torch.xpu.get_device_properties(0).name)


def synchronise() -> None:
    """Wait for all devices."""
    import torch

    for index in range(count()):
        torch.xpu.synchronize(index)


def memory() -> int:
    """Bytes of device memory."""
    import torch

    return torch.xpu.get_device_properties(0).total_memory


def free_memory() -> Optional[int]:
    """Bytes that are free on the device that has the fewest."""
    return min((free for free in map(_free, range(count())) if free is not None), default=None)


def clear() -> None:
    """Nothing is known that its libraries keep."""


def reset_peak() -> None:
    """Forget the peak."""
    import torch

    torch.xpu.synchronize()
    torch.xpu.empty_cache()
    torch.xpu.reset_peak_memory_stats()


def peak() -> int:
    """Bytes allocated at most since the reset."""
    import torch

    return torch.xpu.max_memory_allocated()


def units() -> Optional[int]:
    """Vector engines (EUs) of what torch sees as a device: a tile, where a card has two."""
    import torch

    properties = torch.xpu.get_device_properties(0)
    return getattr(properties, "max_compute_units", None) or getattr(properties, "gpu_eu_count", None)


def conditions(index: int = 0) -> Dict[str, Any]:
    """Clock, heat, power and throttle reasons now."""
    return sysfs.intel_conditions(_folder(index))


def counters(_: int = 0) -> Dict[str, int]:
    """None that a container can read."""
    return {}


def firmware() -> str:
    """None that a container can read."""
    return ""


def samples(call: Callable[[], Any], number: int) -> List[float]:
    """Seconds of each call."""
    return timing.host_samples(call, number, synchronise)


def observe() -> Tuple[Dict[str, str], Dict[str, str]]:
    """Device and driver."""
    import torch

    properties = torch.xpu.get_device_properties(0)
    driver = str(getattr(properties, "driver_version", ""))
    axes = {"gpu": names.short(properties.name), "compute_runtime": driver}
    facts = {"gpu_name": properties.name, "gpu_memory": str(properties.total_memory), "umd": driver}
    return axes, {**facts, "gpu_units": str(units() or "")}


def _free(index: int) -> Optional[int]:
    import torch

    try:
        return int(torch.xpu.mem_get_info(index)[0])
    except (AttributeError, RuntimeError):  # torch before 2.6 cannot tell, nor can some drivers
        return None


def _folder(index: int) -> Optional[Path]:
    """The only device of Intel that is there: torch does not tell which of several one is."""
    return sysfs.device_folder("", "0x8086") if count() == 1 and index == 0 else None
