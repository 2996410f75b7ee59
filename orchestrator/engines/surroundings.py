"""The environment variables that a cell gets: these, those of its task, and no other; and whose devices it takes."""

import re
from collections.abc import Mapping

from orchestrator import axes
from orchestrator.engines.task import Task

_INTEL = re.compile(r"MAX|ARC|FLEX|PVC|BMG|[AB][357][1-9]0$")  # the last are Arc cards; A100, B300, A6000 are NVIDIA's


def variables(task: Task, *, scratch: str, path: str, cache: str = "") -> dict[str, str]:
    """Variables by name: caches and home lie under the folder `scratch`; `path` is where `suites` is imported from.

    What compilers keep for the next cell goes below `cache` where there is one.
    `USER` is set because torch names its compile cache after the user, and fails when the number has no name.
    """
    compiled = cache or f"{scratch}/cache"
    return {
        "HOME": scratch,
        "TMPDIR": scratch,
        "USER": "torchmatrix",
        "LOGNAME": "torchmatrix",
        "XDG_CACHE_HOME": f"{scratch}/cache",
        "TORCHINDUCTOR_CACHE_DIR": f"{compiled}/inductor",
        "TRITON_CACHE_DIR": f"{compiled}/triton",
        "PYTHONPATH": path,
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",
        **task.env,
    }


def platform_of(task: Task) -> str:
    """The platform whose devices the cell takes, or `cpu`."""
    return platform_in(task.cell.axes)


def platform_in(cell: axes.Axes) -> str:
    """The same of a cell's axes; what a ready image takes is told by the name of its GPU."""
    gpu = cell.get("gpu", "")
    if not gpu:
        return "cpu"
    platform = axes.platform(cell)
    if platform != "ready":
        return platform
    if gpu.upper().startswith(("MI", "GFX", "RADEON")):
        return "rocm"
    return "xpu" if _INTEL.match(gpu.upper()) else "cuda"


def visible_devices(platform: str, devices: tuple[str, ...]) -> Mapping[str, str]:
    """What tells a vendor's runtime which devices are the cell's, where the engine cannot hide the others."""
    name = {"cuda": "CUDA_VISIBLE_DEVICES", "rocm": "ROCR_VISIBLE_DEVICES", "xpu": "ZE_AFFINITY_MASK"}.get(platform)
    plain = tuple(device for device in devices if not device.startswith("/"))
    return {name: ",".join(plain)} if name and plain else {}
