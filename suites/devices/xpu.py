"""Intel GPUs."""

from __future__ import annotations

import functools
import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Tuple

from suites import exits, readings, timing
from suites.devices import checks, names, products, sysfs

if TYPE_CHECKING:
    from pathlib import Path

PREFERENCE = 20
SEEN = ()
STATISTIC = "median"
COLLECTIVE = "xccl"
ACTIVITY = "XPU"
CONVOLUTIONS = "highest"
VARIABLES = ("ZE_", "SYCL_", "ONEAPI_", "UR_", "CCL_")
STICKY = r"DEVICE_LOST"
UNWRITTEN = ""
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

e4m3 = products.e4m3


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
        others = sysfs.drm_others(_address(index), os.getpid())
        told += readings.notes(name, free=free, whole=memory(), others=others, throttle=throttle, counters={})
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


def lacking(precision: str) -> Optional[str]:
    """TensorFloat-32 has a switch of its own in oneDNN's part of torch; the rest torch says itself."""
    import torch

    if precision == "tf32" and not hasattr(torch.backends.mkldnn, "allow_tf32"):
        return f"this build lacks it: torch {torch.__version__} has no switch for TensorFloat-32 on xpu"
    return None if precision in {"fp16", "bf16", "fp8"} else ""


def tensor_float() -> Optional[bool]:
    """Never by torch's general switch: see `tf32`."""
    return False


@contextmanager
def tf32() -> Iterator[None]:
    """Within it, products of fp32 may be TensorFloat-32's: torch's general switch does not reach oneDNN on a device.

    github.com/pytorch/pytorch/pull/137570 and 144240; github.com/intel/torch-xpu-ops/issues/4919.
    """
    import torch

    switches: Any = torch.backends.mkldnn
    kept = switches.allow_tf32
    switches.allow_tf32 = True
    try:
        yield
    finally:
        switches.allow_tf32 = kept


def units() -> Optional[int]:
    """Vector engines (EUs) of what torch sees as a device: a tile, where a card has two."""
    import torch

    properties = torch.xpu.get_device_properties(0)
    return getattr(properties, "max_compute_units", None) or getattr(properties, "gpu_eu_count", None)


def conditions(index: int = 0) -> Dict[str, Any]:
    """Clock, heat, power and throttle reasons now."""
    return sysfs.intel_conditions(_folder(index))


def link(index: int = 0) -> Optional[Tuple[int, int, int, int]]:
    """Generation and width of its PCIe link, now and at most."""
    return sysfs.pci_link(_folder(index))


def counters(_: int = 0) -> Dict[str, int]:
    """None: neither xe nor i915 has a documented file that counts errors of memory."""
    return {}


def firmware() -> str:
    """None that a container can read."""
    return ""


@functools.lru_cache(maxsize=1)
def timer() -> str:
    """The device's own clock, where this torch and the driver let events tell it; else the host's."""
    import torch

    if not hasattr(torch.xpu, "Event"):
        return "perf_counter"
    try:
        timing.event_samples(lambda: None, 1, torch.xpu)
    except (RuntimeError, TypeError) as error:  # torch 2.4 and 2.5 have events that tell no time
        if not re.search(r"not supported|unexpected keyword|not implemented", str(error), re.IGNORECASE):
            raise
        return "perf_counter"
    return "xpu.Event"


def samples(call: Callable[[], Any], number: int) -> List[float]:
    """Seconds of each call, by the device's own clock where it can be had."""
    import torch

    if timer() == "xpu.Event":
        return timing.event_samples(call, number, torch.xpu)
    return timing.host_samples(call, number, synchronise)


def observe() -> Tuple[Dict[str, str], Dict[str, str]]:
    """Device and driver."""
    import torch

    properties = torch.xpu.get_device_properties(0)
    driver = str(getattr(properties, "driver_version", ""))
    axes = {"gpu": names.short(properties.name), "compute_runtime": driver}
    facts = {"gpu_name": properties.name, "gpu_memory": str(properties.total_memory), "umd": driver}
    facts["gpu_link"] = readings.link_text(link())
    return axes, {**facts, "gpu_units": str(units() or "")}


def _free(index: int) -> Optional[int]:
    import torch

    try:
        return int(torch.xpu.mem_get_info(index)[0])
    except (AttributeError, RuntimeError):  # torch before 2.6 cannot tell, nor can some drivers
        return None


def _address(index: int) -> str:
    folder = _folder(index)
    return folder.resolve().name if folder else ""


def _folder(index: int) -> Optional[Path]:
    """By the PCI address in its identity, where that is made of one; else the only device of Intel that is there."""
    import torch

    told = pci_address(str(getattr(torch.xpu.get_device_properties(index), "uuid", "")))
    if told:
        return sysfs.device_folder(told, "0x8086")
    return sysfs.device_folder("", "0x8086") if count() == 1 and index == 0 else None


def pci_address(uuid: str) -> str:
    """`868011e2-0000-0000-1700-000000000000` -> `0000:17:00.0`; an empty text for an identity of another make.

    The driver makes it of vendor, device, revision, domain, bus, device and function where it has no better
    (intel/compute-runtime, generateUuidFromPciBusInfo); seen so in github.com/intel/torch-xpu-ops/issues/5258.
    """
    digits = uuid.replace("-", "")
    if len(digits) != 32 or not digits.startswith("8680"):
        return ""
    domain, bus, slot, function = digits[14:16] + digits[12:14], digits[16:18], digits[18:20], digits[20:22]
    return f"{domain}:{bus}:{slot}.{int(function, 16):x}"
