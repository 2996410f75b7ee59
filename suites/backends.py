"""Compile backends: how a load goes through one, and how much of it the backend really took over."""

from __future__ import annotations

import gc
import importlib.util
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional, Tuple

import torch

from suites import exits

_PACKAGE = {"openvino": ("openvino", "openvino.torch"), "torch_tensorrt": ("torch_tensorrt", "torch_tensorrt")}
"""Backend -> the package that registers it, and the module to import for that."""

INFERENCE_ONLY = frozenset({"openvino", "torch_tensorrt"})
UNIT = {"inductor": "graphs", "openvino": "partitions", "torch_tensorrt": "engines"}

_LACKING = {
    r"InvalidCxxCompiler|No working C\+\+ compiler|No such file or directory: '\S*\+\+\S*'": "a C++ compiler",
    r"Failed to find C compiler|Compiler: \S+ is not found|No such file or directory: 'g?cc'": "a C compiler",
    r"Python\.h: No such file": "Python.h (the headers of this Python)",
    r"fatal error: '?(?:torch|ATen|c10)/\S+ (?:No such )?file": "the C++ headers of torch",
    r"No module named '(?:setuptools|distutils)": "setuptools",
}
"""Text of inductor's error -> what is missing."""


@dataclass(frozen=True)
class Use:
    """What became of one load in a backend."""

    graphs: int
    breaks: Dict[str, int]
    taken: int


def ready(backend: str) -> None:
    """Make a backend known to torch. AssertionError when there is no such backend here."""
    if backend == "eager":
        return
    if not hasattr(torch, "compile"):
        raise AssertionError(f"{exits.REFUSED}: torch {torch.__version__} has no torch.compile, {backend} needs it")
    package, module = _PACKAGE.get(backend, ("", ""))
    if package and importlib.util.find_spec(package) is None:
        raise AssertionError(f"{exits.MISSING_PACKAGE}: backend {backend} needs {package}, which is not installed")
    if module:
        importlib.import_module(module)
    from torch._dynamo import list_backends

    known = list_backends(exclude_tags=())
    if backend not in known:
        raise AssertionError(
            f"{exits.REFUSED}: torch {torch.__version__} knows no backend {backend}: {', '.join(known)}"
        )


def through(backend: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """The computation as it runs in a backend."""
    if backend == "eager":
        return compute
    if backend == "openvino":
        # OpenVINO computes in bf16 where the processor can, unless told: the numbers would then depend on the machine.
        options: Dict[str, Any] = {"config": {"INFERENCE_PRECISION_HINT": "f32"}}
        return torch.compile(compute, backend=backend, options=options)
    return torch.compile(compute, backend=backend)


def start(backend: str) -> int:
    """Forget what was compiled before; returns what the backend has taken so far, for `used`."""
    if backend == "eager":
        return 0
    from torch._dynamo import reset
    from torch._dynamo.utils import counters

    reset()
    counters.clear()
    return _taken(backend)


def used(backend: str, before: int) -> Use:
    """What dynamo and the backend did since `start` returned `before`."""
    if backend == "eager":
        return Use(graphs=0, breaks={}, taken=0)
    from torch._dynamo.utils import counters

    breaks = {str(reason).strip().splitlines()[0][:300]: number for reason, number in counters["graph_break"].items()}
    return Use(graphs=int(counters["stats"]["unique_graphs"]), breaks=breaks, taken=_taken(backend) - before)


def _taken(backend: str) -> int:
    """How much the backend has taken since the process began, counted where it keeps what it made."""
    if backend == "inductor":
        from torch._inductor.codecache import PyCodeCache

        cache: Any = PyCodeCache  # older torch keeps a dictionary `cache` instead of a list
        modules = cache.modules if hasattr(cache, "modules") else cache.cache.values()
        return sum(hasattr(module, "call") for module in modules)  # kernels have none, graphs do
    if backend == "openvino":
        from openvino.frontend.pytorch.torchdynamo import execute

        return len(execute.compiled_cache)
    if backend == "torch_tensorrt":
        names = {"TorchTensorRTModule", "PythonTorchTensorRTModule"}
        return sum(type(thing).__name__ in names for thing in gc.get_objects())
    from torch._dynamo.utils import counters

    return int(counters["stats"]["unique_graphs"])


def toolchain_missing(error: BaseException) -> Optional[str]:
    """What inductor's toolchain lacks, when that is why it failed."""
    text = f"{type(error).__name__}: {error}"
    return next((what for pattern, what in _LACKING.items() if re.search(pattern, text)), None)


def refusal(backend: str, error: BaseException) -> str:
    """The first line of a failure to compile."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and line.strip() != "ERROR:"]
    return f"{exits.REFUSED}: {backend}: {' '.join(lines[:2])[:300] or type(error).__name__}"


def counts(use: Use) -> Tuple[int, Tuple[str, ...]]:
    """Graph breaks and their reasons, sorted."""
    return sum(use.breaks.values()), tuple(sorted(use.breaks))
