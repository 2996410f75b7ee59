"""Which of a ready image's variables a cell gets: how things in it are found stays, what steers our run goes. Pure.

What a cell computes with is its axes: of the variables that torch, its compilers and the libraries below it read,
those count that the row's `env` names, none that an image brings. Left out likewise is what makes the loader, a shell,
Python, pytest or a profiler load something else, what names devices, and what names a place to write to. Production's
torch finds its libraries and its compilers' tools by LD_LIBRARY_PATH and others; these stay.
"""

import re
from collections.abc import Mapping, Sequence

from orchestrator import text

LIBRARIES = "LD_LIBRARY_PATH"
# Where a vendor's image has its libraries and the tools that compilers start: without them its torch is another one.
_FOUND_BY = frozenset(
    (
        *(LIBRARIES, "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "HIP_PATH", "HIP_CLANG_PATH", "HIP_DEVICE_LIB_PATH"),
        *("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "TRITON_CUOBJDUMP_PATH", "TRITON_NVDISASM_PATH"),
        *("TRITON_CUDACRT_PATH", "TRITON_CUDART_PATH", "TRITON_CUPTI_INCLUDE_PATH", "TRITON_LIBCUDA_PATH"),
    )
)
_OF_A_RELEASE = re.compile(r"[A-Z0-9]+_VERSION", re.ASCII)  # CUDA_VERSION and its like: read by people alone
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_FAMILIES = (
    *("LD_", "GCONV_", "GLIBC_", "MALLOC_", "OPENSSL_", "PYTHON", "PYTEST_", "BASH_", "TORCHMATRIX_", "XDG_"),
    *("TORCH", "PYTORCH", "ATEN_", "THP_", "TP_", "LRU_CACHE_"),  # torch
    *("TRITON", "AOT", "OPENVINO_", "OV_", "IPEX_", "DISABLE_"),  # what compiles for it
    *("CUDA_", "CUBLAS", "CUDNN", "NCCL_", "GLOO_", "CCL_", "GPU_"),
    *("HIP", "HSA_", "AMD_", "ROCBLAS_", "ROCR_", "MIOPEN_", "RCCL_", "TENSILE_"),
    *("ZE_", "ZES_", "ZET_", "ZEL_", "SYCL_", "UR_", "IGC_", "ONEAPI_DEVICE_", "ONEDNN_", "DNNL_", "MKL_"),
    *("OMP_", "GOMP_", "KMP_", "OPENBLAS_", "GOTO_", "BLIS_", "FLEXIBLAS"),
    *("ROCP", "ROCTRACER", "CUPTI_", "KINETO_", "INTEL_JIT_", "INTEL_LIBITTNOTIFY"),  # what tools are loaded by
)
_EXACT = frozenset(
    (
        *("ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "CDPATH", "LOCPATH", "NLSPATH"),
        *("HOME", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP", "PWD", "OLDPWD", "HF_HOME", "MPLCONFIGDIR"),
        *("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_TF32_OVERRIDE"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "HOSTALIASES", "RES_OPTIONS", "SSLKEYLOGFILE"),
        "OPENCL_LAYERS",
    )
)
_ELSEWHERE = re.compile(r"INJECTION|_CACHE(_DIR|_PATH)?$|_EXTENSIONS_DIR$")  # a tool to load, a place to write to
_PLAIN = frozenset({"PATH", "LANG", "LANGUAGE", "TZ", "TERM", "DEBIAN_FRONTEND", LIBRARIES})  # nothing to tell of
_TOLD = 60  # variables that are named; the others are counted


def left_out(env: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the image's variables that a cell does not get."""
    return tuple(name for name in env if name and _steers(name))  # one without a name cannot be taken away


def _steers(name: str) -> bool:
    if name in _FOUND_BY or _OF_A_RELEASE.fullmatch(name):
        return False
    plain = name.upper()
    return (
        _NAME.fullmatch(name) is None
        or plain in _EXACT
        or plain.startswith(_FAMILIES)
        or _ELSEWHERE.search(plain) is not None
    )


def told(env: Mapping[str, str]) -> tuple[str, ...]:
    """A line on what is left out, on the library path, and on what else stays. Values may be secrets: names alone."""
    gone = left_out(env)
    stays = sorted(name for name in env if name not in gone and name not in _PLAIN and not name.startswith("LC_"))
    lines = []
    if gone:
        lines.append(f"variables of the image that are left out: {names(gone)}")
    if env.get(LIBRARIES):
        lines.append(f"the image's {LIBRARIES} is kept: {text.one_line(env[LIBRARIES], 200)}")
    if stays:
        lines.append(f"variables of the image that are kept: {names(stays)}")
    return tuple(lines)


def names(variables: Sequence[str]) -> str:
    """Names of variables on one line, each as text that we did not write; of very many the rest is counted."""
    listed = [text.one_line(name, 60) for name in sorted(variables)]
    more = [f"and {len(listed) - _TOLD} more"] if len(listed) > _TOLD else []
    return ", ".join((*listed[:_TOLD], *more))
