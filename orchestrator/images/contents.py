"""Runs inside an image (any Python from 3.7) and prints what is there, as one JSON line behind a mark.

It imports nothing of torchmatrix: its text is handed to the image's interpreter. `argv[1:]` are package names.
"""

from __future__ import annotations  # an image may have an old Python

import importlib
import json
import os
import platform
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

MARK = "torchmatrix-observed:"
DEADLINE_S = 120


def observed(packages: list[str]) -> dict[str, str]:
    """Axis or package name -> version, in full."""
    torch = importlib.import_module("torch")
    found = {
        "python": platform.python_version(),
        "host_arch": platform.machine(),
        "glibc": platform.libc_ver()[1],
        "base": base(),
        "torch": str(torch.__version__),
        "torch_build": build(torch),
        "torch_from": "distribution" if str(torch.__file__).startswith("/usr/lib/python3") else "wheel",
        "torch_arch_list": architectures(torch),
        "interpreter": sys.executable,
        "user": f"{os.getuid()}:{os.getgid()}",
    }
    for package in packages:
        version = version_of(package)
        if version:
            found["package " + package] = version
    return found


def build(torch: ModuleType) -> str:
    """The build of a torch, by what it was compiled against."""
    if getattr(torch.version, "hip", None):
        return "rocm" + ".".join(str(torch.version.hip).split(".")[:2])
    if torch.version.cuda:
        return "cu" + str(torch.version.cuda).replace(".", "")
    return "xpu" if getattr(torch.version, "xpu", None) or "+xpu" in str(torch.__version__) else "cpu"


def architectures(torch: ModuleType) -> str:
    """What a torch was compiled for, as `torch.cuda.get_arch_list()` has it where there is a GPU; this needs none."""
    flags = getattr(getattr(torch, "_C", None), "_cuda_getArchFlags", None)
    return str(flags() or "") if flags is not None else ""


def base() -> str:
    """The distribution and its release, as the axis writes it."""
    try:
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    pairs = dict(line.strip().replace('"', "").split("=", 1) for line in lines if "=" in line)
    return pairs.get("ID", "") + pairs.get("VERSION_ID", "")


def version_of(package: str) -> str:
    """The installed version of a package, or an empty text."""
    try:
        metadata = importlib.import_module("importlib.metadata")
    except ImportError:
        return ""
    try:
        return str(metadata.version(package))
    except metadata.PackageNotFoundError:
        return ""


if __name__ == "__main__":
    signal.alarm(DEADLINE_S)
    line = MARK + json.dumps(observed(sys.argv[1:]))
    # A library of torch may crash when the interpreter ends, which says nothing about what the image contains.
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
    os._exit(0)
