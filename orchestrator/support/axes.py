"""Which axes `check` reads beside those of cells, and in which form each is compared."""

import re
from collections.abc import Mapping
from typing import Literal

from orchestrator import axes
from orchestrator.axes import AXES, Grammar, Where

Vendor = Literal["nvidia", "amd", "intel"]

_VERSIONS = frozenset(
    name for name, axis in AXES.items() if axis.grammar in {Grammar.PYPI, Grammar.DOTTED, Grammar.PYTHON}
)
# An axis that every installation has: not given it may still decide. Any other axis that is not given is not there.
INHERENT = frozenset(
    {
        *("torch", "torch_build", "python", "channel", "host_arch", "os", "distro", "glibc"),
        *("gpu", "gpu_arch", "gpu_class", "gfx_as"),
        *("driver", "driver_cuda", "cuda_runtime", "amdgpu_driver", "rocm_userspace"),
    }
)
VENDOR_OF: Mapping[str, Vendor] = {
    **dict.fromkeys(("driver_cuda", "cuda_runtime", "cuda_toolkit", "container_cuda", "cuda_compat"), "nvidia"),
    **dict.fromkeys(("rocm_userspace", "amdgpu_driver", "gfx_as", "hsa_override"), "amd"),
    **dict.fromkeys(("oneapi", "intel_sycl_rt", "compute_runtime", "level_zero"), "intel"),
}
# Packages that a user names to know whether they fit: an answer that says nothing of them is no answer.
COMPANIONS = frozenset(
    name for name, axis in AXES.items() if axis.package and axis.where is Where.IMAGE and name != "torch"
) | {"tensorrt", "ext", "cudnn", "cudnn_runtime", "nccl", "xformers"}

_CUDA_BUILD = re.compile(r"cu(\d{1,2})(\d)", re.ASCII)


# Axes that no one gives and that rules may speak of: they follow from what was given.
DERIVED = frozenset(
    {
        *("gfx_as", "override_family", "partition_known", "nccl_packages", "nccl_cuda", "nccl_nvls", "cxx11_abi"),
        *("ld_library_path", "triton_ptxas", "ext_name", "ext_torch", "ext_cuda", "ext_glibc", "ext_cxx11_abi"),
    }
)


def is_version(name: str) -> bool:
    """Whether values of the axis are versions, and not words."""
    return name in _VERSIONS or (name in AXES and AXES[name].grammar is Grammar.VERSION)


def cuda_of_build(build: str) -> str:
    """The CUDA version that a build of torch brings: cu130 has 13.0; an empty text for a build of another platform."""
    found = _CUDA_BUILD.fullmatch(build)
    return f"{found[1]}.{found[2]}" if found else ""


def vendor_of_build(build: str) -> Vendor | None:
    """Whose devices a build of torch runs on; None for a CPU build and for what is no build."""
    match axes.platform({"torch_build": build}):
        case "cuda":
            return "nvidia"
        case "rocm":
            return "amd"
        case "xpu":
            return "intel"
        case _:
            return None
