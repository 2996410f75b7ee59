"""NVIDIA devices. ROCm's torch answers to the same names: its own module takes what is the same from here."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

from suites import exits, readings, timing
from suites.devices import checks, names, nvml, products

PREFERENCE = 10
SEEN = ()
STATISTIC = "median"
COLLECTIVE = "nccl"
ACTIVITY = "CUDA"
CONVOLUTIONS = "high"  # cudnn may use TensorFloat-32 whatever matmul does
VARIABLES = ("CUDA_", "CUBLAS_", "CUDNN_", "NVIDIA_", "NCCL_")
STICKY = (
    # cudaError_t: after these `the process must be terminated and relaunched`
    r"illegal memory access|device-side assert|unspecified launch failure|misaligned address|illegal instruction|"
    r"invalid program counter|invalid address space|hardware stack error|uncorrectable (NVLink|ECC)|launch timed out|"
    r"GPU is lost|fallen off the bus"
)
UNWRITTEN = (
    # github.com/meta-pytorch/float8_experimental/issues/197, github.com/Comfy-Org/ComfyUI/issues/4539
    r"torch\._scaled_mm is only supported on|_scaled_mm_out_cuda is not compiled for this platform"
)
ERRORS = {
    r"out of memory|STATUS_ALLOC_FAILED": exits.OUT_OF_MEMORY,
    r"no kernel image is available|CUDA_ERROR_NO_BINARY_FOR_GPU|invalid device function": exits.NO_KERNEL_IMAGE,
    r"driver version is insufficient|driver on your system is too old|forward compatibility": exits.DRIVER_TOO_OLD,
    r"PTX was compiled with an unsupported toolchain|unsupported PTX version": exits.DRIVER_TOO_OLD,
    r"launch timed out": exits.HANG,
    r"GPU is lost|fallen off the bus|uncorrectable (NVLink|ECC)|unspecified launch failure|\bXid\b": exits.DEVICE_LOST,
    r"device-side assert|illegal memory access|hardware stack error|misaligned address": exits.DEVICE_LOST,
    r"illegal instruction|invalid program counter|invalid address space|busy or unavailable": exits.DEVICE_LOST,
    r"no CUDA-capable device|No CUDA GPUs are available|system not yet initialized": exits.DEVICE_MISSING,
    r"NCCL error|ncclUnhandledCudaError|ncclSystemError|ncclInternalError": exits.COLLECTIVE,
    r"lib(cudnn|cublas|cublasLt|nccl|cudart|cuda)\w*\.so[.\d]*: cannot open shared object": exits.MISSING_LIBRARY,
    r"unable to (open|write to) (shared memory|file <?/torch_|file .*/dev/shm)": exits.OUT_OF_SHARED_MEMORY,
    r"No space left on device.*shm": exits.OUT_OF_SHARED_MEMORY,
    r"No space left on device": exits.OUT_OF_DISK,
}
_LEAST = {"tf32": (8, 0), "bf16": (8, 0), "fp8": (8, 9)}
"""Compute capability from which devices have the precision in their matrix units."""

e4m3 = products.e4m3
tf32 = products.tf32


def count() -> int:
    """Devices that torch can use; 0 when its driver does not answer, or when they are AMD's."""
    import torch

    return torch.cuda.device_count() if torch.version.hip is None and torch.cuda.is_available() else 0


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


def places() -> List[str]:
    """Where the tensors of each device go."""
    import torch

    return [f"cuda:{index}" for index in range(torch.cuda.device_count())]


def exact() -> str:
    """Where fp64 works."""
    return "cuda"


def health(needed: int = 0) -> List[str]:
    """A tiny exact computation on each device, and what else is to be said of it."""
    told: List[str] = []
    for index, name in enumerate(places()):
        checks.exact_product(name)
        board = _board(index)
        checks.enough(name, _free(index), needed)
        told += readings.notes(
            name,
            free=_free(index),
            whole=memory(),
            others=readings.foreign(board.processes(), os.getpid()) if board else None,
            throttle=board.throttle() if board else None,
            counters=counters(index),
        )
        told += [f"{name}: its memory does not correct errors (ECC is off)"] if board and board.ecc() is False else []
    return told


def deep_health(seconds: float) -> checks.Deep:
    """What is found under load."""
    import sys

    return checks.deep(sys.modules[__name__], seconds)


def title() -> str:
    """The name that torch prints of the first device."""
    import torch

    return str(torch.cuda.get_device_name(0))


def synchronise() -> None:
    """Wait for all devices that have been used."""
    import torch

    for index in range(torch.cuda.device_count()):
        torch.cuda.synchronize(index)


def memory() -> int:
    """Bytes of device memory."""
    import torch

    return torch.cuda.get_device_properties(0).total_memory


def free_memory() -> Optional[int]:
    """Bytes that are free on the device that has the fewest."""
    return min((free for free in map(_free, range(len(places()))) if free is not None), default=None)


def clear() -> None:
    """Give back the workspaces of cuBLAS: they stay, and count to all that follows (pytorch#112258 saw +90 % of it).

    Not between a load's first call and its others: a graph that was captured may hold their addresses.
    """
    import torch

    torch.cuda.synchronize()
    clear_workspaces = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)  # noqa: SLF001 - nothing public does it
    if clear_workspaces is not None:
        clear_workspaces()


def reset_peak() -> None:
    """Forget the peak, and give back the blocks that nobody uses."""
    import torch

    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def peak() -> int:
    """Bytes allocated at most since the reset."""
    import torch

    return torch.cuda.max_memory_allocated()


def lacking(precision: str) -> Optional[str]:
    """By its compute capability; older torch has no fp8 products for all that could."""
    import torch

    least, has = _LEAST.get(precision, (0, 0)), torch.cuda.get_device_capability()
    if has >= least:
        return None if precision == "fp8" else ""
    need, told = (".".join(map(str, one)) for one in (least, has))
    return f"not applicable: {precision} needs compute capability {need}, this device has {told}"


def tensor_float() -> Optional[bool]:
    """Where it has them."""
    return not lacking("tf32")


def units() -> Optional[int]:
    """Multiprocessors."""
    import torch

    return int(torch.cuda.get_device_properties(0).multi_processor_count)


def conditions(index: int = 0) -> Dict[str, Any]:
    """Clock, heat, power and throttle reasons now."""
    board = _board(index)
    if board is None:
        return dict(timing.UNREAD)
    return {
        "clock_mhz": board.clock_mhz(),
        "temperature_c": board.temperature_c(),
        "power_w": board.power_w(),
        "throttle": board.throttle(),
        "throttled": board.throttled(),
    }


def link(index: int = 0) -> Optional[Tuple[int, int, int, int]]:
    """Generation and width of its PCIe link, now and at most."""
    board = _board(index)
    return board.link() if board else None


def counters(index: int = 0) -> Dict[str, int]:
    """Errors of its memory."""
    board = _board(index)
    return board.counters() if board else {}


def firmware() -> str:
    """Of its VBIOS."""
    board = _board(0)
    return board.firmware() if board else ""


def timer() -> str:
    """The device's own clock."""
    return "cuda.Event"


def samples(call: Callable[[], Any], number: int) -> List[float]:
    """Seconds of each call, by the device's own clock."""
    import torch

    return timing.event_samples(call, number, torch.cuda)


def observe() -> Tuple[Dict[str, str], Dict[str, str]]:
    """Device, driver and libraries."""
    import torch

    name = torch.cuda.get_device_name(0)
    properties = torch.cuda.get_device_properties(0)
    umd, umd_from = user_mode_driver()
    board = _board(0)
    axes = {"gpu": names.short(name), "driver": kernel_driver(), "partition": names.partition(name)}
    facts = {
        "gpu_name": name,
        "gpu_arch": f"sm_{properties.major}{properties.minor}",
        "gpu_memory": str(properties.total_memory),
        "gpu_units": str(units() or ""),
        "gpu_firmware": firmware(),
        "gpu_power_limit_w": f"{board.power_limit_w():g}" if board and board.power_limit_w() else "",
        "gpu_ecc": {True: "on", False: "off", None: ""}[board.ecc() if board else None],
        "gpu_link": readings.link_text(link()),
        "cudnn": str(torch.backends.cudnn.version() or ""),
        "nccl": nccl(),
        "umd": umd,
        "umd_from": umd_from,
    }
    return axes, facts


def kernel_driver() -> str:
    """The version of the kernel side of the driver, or an empty text."""
    for path, pattern in (
        ("/proc/driver/nvidia/version", r"Kernel Module(?: for \w+)?\s+([\d.]+)"),
        ("/sys/module/nvidia/version", r"([\d.]+)"),
    ):
        try:
            found = re.search(pattern, Path(path).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        if found:
            return found.group(1)
    return nvml.driver()


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


def nccl() -> str:
    """The version of the library of collectives, NCCL or RCCL, or an empty text."""
    import torch

    try:
        version = torch.cuda.nccl.version()
    except (AttributeError, RuntimeError):
        return ""
    return ".".join(map(str, version)) if isinstance(version, tuple) else str(version)


def _free(index: int) -> Optional[int]:
    """Bytes free on a device; torch's own cache counts as free."""
    import torch

    try:
        cached = torch.cuda.memory_reserved(index) - torch.cuda.memory_allocated(index)
        return int(torch.cuda.mem_get_info(index)[0]) + int(cached)
    except (AttributeError, RuntimeError):
        return None


def _board(index: int) -> Optional[nvml.Board]:
    """By the identity that torch tells, since some version, else by what the process may see."""
    import torch

    told = str(getattr(torch.cuda.get_device_properties(index), "uuid", "")) if torch.cuda.is_available() else ""
    identities, position = nvml.visible(os.environ.get("CUDA_VISIBLE_DEVICES"), index)
    return nvml.board((f"GPU-{told}", f"MIG-{told}", *identities) if told else identities, position)
