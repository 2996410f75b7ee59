"""NVIDIA and AMD devices: ROCm's torch answers to the same names, with a hip version."""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

from suites import exits, timing
from suites.devices import names

TIMER = "cuda.Event"
STATISTIC = "median"
COLLECTIVE = "nccl"  # ROCm's RCCL answers to this name
ERRORS = {
    r"out of memory": exits.OUT_OF_MEMORY,
    r"no kernel image is available|hipErrorNoBinaryForGpu|invalid device function": exits.NO_KERNEL_IMAGE,
    r"driver version is insufficient|driver on your system is too old|forward compatibility": exits.DRIVER_TOO_OLD,
    r"GPU is lost|fallen off the bus|uncorrectable (NVLink|ECC)|unspecified launch failure": exits.DEVICE_LOST,
    r"device-side assert|illegal memory access|HSA_STATUS_ERROR|hardware stack error": exits.DEVICE_LOST,
    r"unable to (open|write to) (shared memory|file .*/dev/shm)": exits.OUT_OF_SHARED_MEMORY,
    r"No space left on device.*shm": exits.OUT_OF_SHARED_MEMORY,
    r"No space left on device": exits.OUT_OF_DISK,
}


def count() -> int:
    """Devices that torch can use; 0 when its driver does not answer."""
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def why_missing() -> str:
    """What torch says about it."""
    import torch

    if torch.version.cuda is None and torch.version.hip is None:
        return f": torch {torch.__version__} is built without it"
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:
        return f": {str(error).splitlines()[0]}"
    return ""


def place() -> str:
    """Where tensors go."""
    return "cuda"


def exact() -> str:
    """Where fp64 works."""
    return "cuda"


def health() -> None:
    """A tiny exact computation on each device."""
    import torch

    for index in range(count()):
        ones = torch.ones(64, 64, device=f"cuda:{index}")
        if not bool((ones @ ones == 64).all()):
            raise AssertionError(f"{exits.NUMERICS}: 64x64 ones times ones is not 64 everywhere on device {index}")


def synchronise() -> None:
    """Wait for the device."""
    import torch

    torch.cuda.synchronize()


def memory() -> int:
    """Bytes of device memory."""
    import torch

    return torch.cuda.get_device_properties(0).total_memory


def reset_peak() -> None:
    """Forget the peak, and the workspaces that would count to it."""
    import torch

    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def peak() -> int:
    """Bytes allocated at most since the reset."""
    import torch

    return torch.cuda.max_memory_allocated()


def conditions() -> Dict[str, Any]:
    """Nothing of it can be read here."""
    return dict(timing.UNREAD)


def samples(call: Callable[[], Any], number: int) -> List[float]:
    """Seconds of each call, by a pair of events: the device's own clock, caches warm."""
    import torch

    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(number)]
    for start, end in pairs:
        start.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(end) / 1e3 for start, end in pairs]


def observe() -> Tuple[Dict[str, str], Dict[str, str]]:
    """Device, driver and libraries."""
    import torch

    name = torch.cuda.get_device_name(0)
    properties = torch.cuda.get_device_properties(0)
    umd, umd_from = user_mode_driver()
    axes = {"gpu": names.short(name), "driver": kernel_driver(), "partition": names.partition(name)}
    facts = {
        "gpu_name": name,
        "gpu_arch": getattr(properties, "gcnArchName", "") or f"sm_{properties.major}{properties.minor}",
        "gpu_memory": str(properties.total_memory),
        "cudnn": str(torch.backends.cudnn.version() or ""),
        "nccl": _nccl(),
        "umd": umd,
        "umd_from": umd_from,
    }
    return axes, facts


def kernel_driver() -> str:
    """The version of the kernel side of the driver, or an empty text."""
    for path, pattern in (
        ("/proc/driver/nvidia/version", r"Kernel Module(?: for \w+)?\s+([\d.]+)"),
        ("/sys/module/nvidia/version", r"([\d.]+)"),
        ("/sys/module/amdgpu/version", r"([\d.]+)"),
    ):
        try:
            found = re.search(pattern, Path(path).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        if found:
            return found.group(1)
    return _nvml_driver()


def _nvml_driver() -> str:
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        text = ctypes.create_string_buffer(96)
        if nvml.nvmlInit_v2() == 0 and nvml.nvmlSystemGetDriverVersion(text, 96) == 0:
            return text.value.decode(errors="replace")
    except (OSError, AttributeError):
        pass
    return ""


def user_mode_driver() -> Tuple[str, str]:
    """Version and path of the user-mode driver that this process has loaded, empty where none is."""
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "", ""
    found = re.search(r"(/\S*/(?:libcuda|libhsa-runtime64)\.so[.\d]*)$", maps, re.MULTILINE)
    if not found:
        return "", ""
    path = os.path.realpath(found.group(1))
    version = re.search(r"\.so\.(\d[\d.]*)$", path)
    return (version.group(1) if version else ""), path


def _nccl() -> str:
    import torch

    try:
        version = torch.cuda.nccl.version()
    except (AttributeError, RuntimeError):
        return ""
    return ".".join(map(str, version)) if isinstance(version, tuple) else str(version)
