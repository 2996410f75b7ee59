"""What is there: full version texts by axis, and facts beside them. Nothing here is copied from what was asked for."""

from __future__ import annotations

import datetime as dt
import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional

from suites import peaks
from suites.devices import NAMES, adapter, experience

if TYPE_CHECKING:
    from types import ModuleType

COMPANIONS = {
    "triton": ("triton", "pytorch-triton", "pytorch-triton-rocm", "pytorch-triton-xpu", "triton-rocm", "triton-xpu"),
    "torchvision": ("torchvision",),
    "torchaudio": ("torchaudio",),
    "torchao": ("torchao",),
    "numpy": ("numpy",),
    "openvino": ("openvino",),
    "torch_tensorrt": ("torch-tensorrt",),
    "ipex": ("intel-extension-for-pytorch",),
    "onnxruntime": ("onnxruntime", "onnxruntime-gpu"),
    "onnxscript": ("onnxscript",),
}
"""Axis -> the distributions that can stand for it."""

_PREFIXES = (
    *("TORCH", "PYTORCH_", "ATEN_", "OPENVINO_", "TRITON_"),
    *(prefix for name in NAMES for prefix in adapter(name).VARIABLES),
)
_EXACT = (
    *("LD_LIBRARY_PATH", "LD_PRELOAD", "MALLOC_ARENA_MAX", "PYTHONHASHSEED", "PYTHONOPTIMIZE"),
    *("USE_LIBUV", "CC", "CXX"),
)
_OURS = re.compile(r"_CACHE_(DIR|PATH)$|_EXTENSIONS_DIR$")  # scratch of this run, another in each
_SECRET = re.compile(r"TOKEN|SECRET|PASSW|KEY|CREDENTIAL", re.IGNORECASE)


def environment(torch: Optional[ModuleType], device: Optional[ModuleType], run: Mapping[str, str]) -> Dict[str, Any]:
    """The content of environment.json. `run` are the run axes as they were set; torch is None where it cannot load."""
    axes = {**machine(), **companions(), **run}
    facts = {**processor(), **variables()}
    if torch is not None:
        axes.update(torch_axes(torch))
        facts.update(switches(torch))
    if device is not None:
        more_axes, more_facts = device.observe()
        axes.update(more_axes)
        facts.update(more_facts)
        facts.update(of_adapter(device))
    return {
        "schema_version": 1,
        "started": dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        "axes": {name: value for name, value in axes.items() if value},
        "facts": {name: value for name, value in facts.items() if value},
    }


def of_adapter(device: ModuleType) -> Dict[str, str]:
    """What every adapter tells: its memory, what it is at most, and on what the adapter itself was ever run."""
    free = device.free_memory()
    return {
        "device_adapter": f"{device.__name__.rsplit('.', 1)[-1]}: {experience(device)}",
        "device_memory": str(device.memory()),
        "device_memory_free": "" if free is None else str(free),
        **peaks.facts(device.title(), device.units()),
    }


def machine() -> Dict[str, str]:
    """Python and the system around it."""
    return {
        "python": platform.python_version(),
        "base": base(_read("/etc/os-release")),
        "host_arch": platform.machine(),
        "glibc": _glibc(),
    }


def base(os_release: str) -> str:
    """`debian12` from the text of /etc/os-release; the codename where a release has no number yet."""
    fields: Dict[str, str] = dict(re.findall(r'^([A-Z_]+)="?([^"\n]*)"?$', os_release, re.MULTILINE))
    release = fields.get("VERSION_ID") or fields.get("VERSION_CODENAME", "")
    return fields.get("ID", "") + release


def torch_axes(torch: ModuleType) -> Dict[str, str]:
    """Version, build and origin of torch."""
    return {
        "torch": str(torch.__version__),
        "torch_build": torch_build(str(torch.__version__), torch.version),
        # Debian's pip puts what it installs into a dist-packages too, below /usr/local.
        "torch_from": "distribution" if str(torch.__file__).startswith("/usr/lib/python3") else "wheel",
    }


def torch_build(version: str, built: Any) -> str:
    """cpu, cuXYZ, rocmX.Y or xpu, from what torch says that it was built with."""
    if getattr(built, "hip", None):
        return "rocm" + ".".join(str(built.hip).split(".")[:2])
    if getattr(built, "cuda", None):
        return "cu" + "".join(str(built.cuda).split(".")[:2])
    return "xpu" if getattr(built, "xpu", None) or version.endswith("+xpu") else "cpu"


def companions() -> Dict[str, str]:
    """The installed companions: axis -> version."""
    from importlib import metadata

    found = {}
    for axis, distributions in COMPANIONS.items():
        for distribution in distributions:
            try:
                found[axis] = metadata.version(distribution)
            except metadata.PackageNotFoundError:
                continue
            break
    return {axis: version for axis, version in found.items() if version}


def processor() -> Dict[str, str]:
    """The processor, its memory and its kernel."""
    info = _read("/proc/cpuinfo")
    model = re.search(r"^(?:model name|Processor|cpu)\s*:\s*(.+)$", info, re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu_model": model.group(1) if model else platform.processor(),
        "cpu_count": str(os.cpu_count()),
        "cpu_usable": str(usable),
        "memory": str(int(memory.group(1)) * 1024) if memory else "",
        "kernel": platform.release(),
    }


def switches(torch: ModuleType) -> Dict[str, str]:
    """What decides how fast and how exact torch computes, whoever set it."""
    texts = {
        "torch_threads": torch.get_num_threads(),
        "torch_matmul_precision": torch.get_float32_matmul_precision(),
        "cuda_matmul_allow_tf32": _quiet(lambda: torch.backends.cuda.matmul.allow_tf32),
        "cudnn_allow_tf32": _quiet(lambda: torch.backends.cudnn.allow_tf32),
        "cuda_matmul_fp32_precision": _quiet(lambda: torch.backends.cuda.matmul.fp32_precision),
        "cudnn_conv_fp32_precision": _quiet(lambda: torch.backends.cudnn.conv.fp32_precision),
        "mkldnn_matmul_fp32_precision": _quiet(lambda: torch.backends.mkldnn.matmul.fp32_precision),
        "mkldnn": _quiet(torch.backends.mkldnn.is_available),
        "cpu_capability": _quiet(lambda: str(torch.backends.cpu.get_cpu_capability())),
        "git_version": getattr(torch.version, "git_version", ""),
    }
    return {name: str(value) for name, value in texts.items() if value not in (None, "")}


def variables() -> Dict[str, str]:
    """The environment variables that matter, by an allow-list: the rest is nobody's business, secrets least of all."""
    return {
        f"env.{name}": value
        for name, value in sorted(os.environ.items())
        if (name.startswith(_PREFIXES) or name in _EXACT) and not _SECRET.search(name) and not _OURS.search(name)
    }


def _quiet(ask: Any) -> Any:
    """What this torch says, or None where it has no such switch."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ask()
        except Exception:  # noqa: BLE001 - a fact that cannot be had is left out, whatever this torch raises
            return None


def _glibc() -> str:
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").replace("glibc ", "")
    except (AttributeError, ValueError, OSError):
        return ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
