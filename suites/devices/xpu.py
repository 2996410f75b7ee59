"""Intel GPUs."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

from suites import exits, timing
from suites.devices import names

TIMER = "perf_counter"
STATISTIC = "median"
COLLECTIVE = "xccl"
ERRORS = {
    r"OUT_OF_(DEVICE|HOST)_MEMORY|out of memory": exits.OUT_OF_MEMORY,
    r"DEVICE_LOST": exits.DEVICE_LOST,
    r"No kernel named|INVALID_BINARY|no kernel image": exits.NO_KERNEL_IMAGE,
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


def exact() -> str:
    """Where fp64 works: client GPUs have none."""
    import torch

    return "xpu" if getattr(torch.xpu.get_device_properties(0), "has_fp64", False) else "cpu"


def health() -> None:
    """A tiny exact computation on each device."""
    import torch

    for index in range(count()):
        ones = torch.ones(64, 64, device=f"xpu:{index}")
        if not bool((ones @ ones == 64).all()):
            raise AssertionError(f"{exits.NUMERICS}: 64x64 ones times ones is not 64 everywhere on device {index}")


def synchronise() -> None:
    """Wait for the device."""
    import torch

    torch.xpu.synchronize()


def memory() -> int:
    """Bytes of device memory."""
    import torch

    return torch.xpu.get_device_properties(0).total_memory


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


def conditions() -> Dict[str, Any]:
    """Nothing of it can be read here."""
    return dict(timing.UNREAD)


def samples(call: Callable[[], Any], number: int) -> List[float]:
    """Seconds of each call."""
    return timing.host_samples(call, number, synchronise)


def observe() -> Tuple[Dict[str, str], Dict[str, str]]:
    """Device and driver."""
    import torch

    properties = torch.xpu.get_device_properties(0)
    driver = str(getattr(properties, "driver_version", ""))
    axes = {"gpu": names.short(properties.name), "compute_runtime": driver}
    return axes, {"gpu_name": properties.name, "gpu_memory": str(properties.total_memory), "umd": driver}
