"""AMD devices. torch's calls are those of cuda; what is observed, and what its libraries say, is AMD's own."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from suites import exits, readings
from suites.devices import checks, cuda, names, products, sysfs

PREFERENCE = 11
SEEN = ()
ANSWERS_TO = "cuda"
STATISTIC = cuda.STATISTIC
COLLECTIVE = "nccl"  # RCCL answers to this name
ACTIVITY = "CUDA"
CONVOLUTIONS = "highest"
VARIABLES = ("HIP_", "HIPBLASLT_", "HSA_", "ROCR_", "MIOPEN_", "NCCL_", "RCCL_", "CUDA_")
STICKY = (
    r"Memory access fault by GPU|GPU Hang|HSA_STATUS_ERROR_EXCEPTION|unspecified launch failure|illegal memory access|"
    r"device-side assert|hipErrorLaunchFailure|hipErrorIllegalAddress|hipErrorECCNotCorrectable"
)
UNWRITTEN = (
    # github.com/pytorch/pytorch/pull/117822, github.com/pytorch/ao/issues/1066
    r"torch\._scaled_mm is only supported on|Cannot convert ScalarType \w+ to hipDataType"
)
ERRORS = {
    r"GPU Hang|launch timed out": exits.HANG,
    r"out of memory|STATUS_ALLOC_FAILED|HSA_STATUS_ERROR_OUT_OF_RESOURCES": exits.OUT_OF_MEMORY,
    r"hipErrorNoBinaryForGpu|invalid device function|no kernel image is available": exits.NO_KERNEL_IMAGE,
    r"Cannot read .*TensileLibrary|Could not load .*TensileLibrary": exits.NO_KERNEL_IMAGE,
    r"Memory access fault|unspecified launch failure|device-side assert|illegal memory access": exits.DEVICE_LOST,
    r"HSA_STATUS_ERROR|hipErrorLaunchFailure|hipErrorIllegalAddress|ECCNotCorrectable": exits.DEVICE_LOST,
    r"No HIP GPUs are available|no ROCm-capable device|hipErrorNoDevice": exits.DEVICE_MISSING,
    r"NCCL error|ncclUnhandledCudaError|ncclSystemError|ncclInternalError": exits.COLLECTIVE,
    r"lib(amdhip64|hip\w*|rocblas|MIOpen|rccl|hsa-runtime64)\.so[.\d]*: cannot open shared": exits.MISSING_LIBRARY,
    **{pattern: word for pattern, word in cuda.ERRORS.items() if "No space" in pattern or "shared memory" in pattern},
}

tf32 = products.tf32
place = cuda.place
places = cuda.places
exact = cuda.exact
synchronise = cuda.synchronise
memory = cuda.memory
clear = cuda.clear
reset_peak = cuda.reset_peak
peak = cuda.peak
units = cuda.units
title = cuda.title
timer = cuda.timer
samples = cuda.samples
free_memory = cuda.free_memory


def count() -> int:
    """Devices that torch can use."""
    import torch

    return torch.cuda.device_count() if torch.version.hip is not None and torch.cuda.is_available() else 0


def why_missing() -> str:
    """What is known about it."""
    import torch

    return "" if torch.version.hip is not None else f": torch {torch.__version__} is built without it"


def health(needed: int = 0) -> List[str]:
    """A tiny exact computation on each device, and what else is to be said of it."""
    told: List[str] = []
    for index, name in enumerate(places()):
        checks.exact_product(name)
        free = sysfs.amd_free(_folder(index))
        checks.enough(name, free, needed)
        others = readings.foreign(sysfs.kfd_processes(_address(index)), os.getpid())
        told += readings.notes(name, free=free, whole=memory(), others=others, throttle=None, counters=counters(index))
    return told


def deep_health(seconds: float) -> checks.Deep:
    """What is found under load."""
    import sys

    return checks.deep(sys.modules[__name__], seconds)


def lacking(precision: str) -> Optional[str]:
    """By the architecture: matrix units for TensorFloat-32 are in gfx94x alone, for fp8 in it, gfx95x and gfx12.

    rocm.docs.amd.com/projects/hipBLASLt, data type support; torch computes in the former since 2.7
    (github.com/pytorch/pytorch/pull/144145), and some releases only where HIPBLASLT_ALLOW_TF32 is 1 (removed by
    github.com/pytorch/pytorch/pull/162998): those say that the switch is off however it is set.
    """
    import torch

    arch = _arch()
    if precision == "fp8" and not arch.startswith(("gfx94", "gfx95", "gfx12")):
        return f"not applicable: fp8 needs gfx94x, gfx95x or gfx12, this device is {arch}"
    if precision != "tf32":
        return None if precision in {"fp16", "bf16", "fp8"} else ""
    if not arch.startswith("gfx94"):
        return f"not applicable: TensorFloat-32 needs gfx94x, this device is {arch}"
    if tuple(map(int, re.findall(r"\d+", torch.__version__)[:2])) < (2, 7):
        return f"this build lacks it: torch {torch.__version__} computes no TensorFloat-32 on ROCm"
    with tf32():
        on = bool(torch.backends.cuda.matmul.allow_tf32)
    return "" if on else "not applicable: this torch allows TensorFloat-32 only where HIPBLASLT_ALLOW_TF32 is 1"


def tensor_float() -> Optional[bool]:
    """Where it has them, and this torch uses them."""
    return not lacking("tf32")


def e4m3() -> str:
    """gfx94x multiplies numbers without a negative zero, later devices those of everyone else (hipBLASLt, as above)."""
    return "float8_e4m3fnuz" if _arch().startswith("gfx94") else products.E4M3


def conditions(index: int = 0) -> Dict[str, Any]:
    """Clock, heat and power now, and on MI300 and later how long it was throttled."""
    return sysfs.amd_conditions(_folder(index))


def link(index: int = 0) -> Optional[Tuple[int, int, int, int]]:
    """Generation and width of its PCIe link, now and at most."""
    return sysfs.pci_link(_folder(index))


def counters(index: int = 0) -> Dict[str, int]:
    """Errors that its RAS features count."""
    return sysfs.amd_counters(_folder(index))


def firmware() -> str:
    """Of its VBIOS."""
    return sysfs.amd_firmware(_folder(0))


def observe() -> Tuple[Dict[str, str], Dict[str, str]]:
    """Device, driver and libraries."""
    import torch

    name = torch.cuda.get_device_name(0)
    properties = torch.cuda.get_device_properties(0)
    umd, umd_from = cuda.user_mode_driver()
    mode = sysfs.amd_partition(_folder(0))
    partition = mode if mode and mode != "SPX" else "whole"
    facts = {
        "gpu_name": name,
        "gpu_arch": getattr(properties, "gcnArchName", ""),
        "gpu_memory": str(properties.total_memory),
        "gpu_units": str(units() or ""),
        "gpu_firmware": firmware(),
        "gpu_link": readings.link_text(link()),
        "miopen": str(torch.backends.cudnn.version() or ""),
        "nccl": cuda.nccl(),
        "umd": umd,
        "umd_from": umd_from,
    }
    return {"gpu": names.short(name), "driver": _driver(), "partition": partition}, facts


def _arch() -> str:
    import torch

    return str(getattr(torch.cuda.get_device_properties(0), "gcnArchName", "")).split(":", 1)[0] or "unknown"


def _driver() -> str:
    """The version of amdgpu's own package, or an empty text: the kernel's own amdgpu has none."""
    try:
        found = re.search(r"([\d.]+)", Path("/sys/module/amdgpu/version").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    return found.group(1) if found else ""


def _address(index: int) -> str:
    folder = _folder(index)
    return folder.resolve().name if folder else ""


def _folder(index: int) -> Optional[Path]:
    """By the PCI address that torch tells, since some version; else the only device of AMD that is there."""
    import torch

    properties = torch.cuda.get_device_properties(index) if torch.cuda.is_available() else None
    bus = getattr(properties, "pci_bus_id", None)
    if bus is None:
        return sysfs.device_folder("", "0x1002")
    domain, slot = getattr(properties, "pci_domain_id", 0), getattr(properties, "pci_device_id", 0)
    return sysfs.device_folder(f"{domain:04x}:{bus:02x}:{slot:02x}.0", "0x1002")
