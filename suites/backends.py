"""Compile backends: how a load goes through one, and how much of it the backend really took over."""

from __future__ import annotations

import functools
import gc
import importlib.util
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional, Tuple

import torch

from suites import exits, inductor

_PACKAGE = {"openvino": ("openvino", "openvino.torch"), "torch_tensorrt": ("torch_tensorrt", "torch_tensorrt")}
"""Backend -> the package that registers it, and the module to import for that."""

INFERENCE_ONLY = frozenset({"openvino", "torch_tensorrt"})
EAGER_BY_DESIGN = frozenset({"aot_eager", "aot_eager_decomp_partition", "aot_ts", "pre_dispatch_eager", "ts"})
"""Backends of torch's own for looking for faults: they take a graph over, and run the operators that eager runs."""
UNIT = {"inductor": "graphs", "openvino": "partitions", "torch_tensorrt": "engines"}

_COUNTER = "torchmatrix"  # a key among dynamo's counters, so that they are cleared together

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
    """What became of one load in a backend.

    `skipped` are frames that dynamo gave back to Python; `fused` are the members of each kernel, and `left` the
    operators that the compiler left to torch: both None where the backend does not tell. `cached` are hits and misses
    of the cache of compiled graphs, None where there is none.
    """

    graphs: int
    breaks: Dict[str, int]
    taken: int
    skipped: int = 0
    fused: Optional[Tuple[Tuple[str, ...], ...]] = None
    left: Optional[Tuple[str, ...]] = None
    cached: Optional[Tuple[int, int]] = None


def known() -> Tuple[str, ...]:
    """The backends that torch knows here, and those that `ready` would import; none where there is no torch.compile."""
    if not hasattr(torch, "compile"):
        return ()
    from torch._dynamo import list_backends

    return tuple(sorted({*_PACKAGE, *list_backends(exclude_tags=())}))


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


def through(backend: str, compute: Callable[..., Any], dynamic: Optional[bool] = None) -> Callable[..., Any]:
    """The computation as it runs in a backend; `dynamic` as torch.compile takes it."""
    if backend == "eager":
        return compute
    if backend == "openvino":
        # OpenVINO computes in bf16 where the processor can, unless told: the numbers would then depend on the machine.
        options: Dict[str, Any] = {"config": {"INFERENCE_PRECISION_HINT": "f32"}}
        return torch.compile(compute, backend=backend, options=options, dynamic=dynamic)
    return torch.compile(compute, backend=backend if backend in UNIT else _watched(backend), dynamic=dynamic)


def is_vague(backend: str) -> bool:
    """Whether nothing but the operators that it runs tells what a backend has done with the graphs that it took."""
    return backend != "eager" and backend not in UNIT and backend not in EAGER_BY_DESIGN


def start(backend: str) -> int:
    """Forget what was compiled before; returns what the backend has taken so far, for `used`."""
    if backend == "eager":
        return 0
    from torch._dynamo import reset
    from torch._dynamo.utils import counters

    reset()
    counters.clear()
    inductor.found_cache()
    return _taken(backend)


def used(backend: str, before: int) -> Use:
    """What dynamo and the backend did since `start` returned `before`."""
    if backend == "eager":
        return Use(graphs=0, breaks={}, taken=0, left=())
    from torch._dynamo.utils import counters

    breaks: Counter[str] = Counter()  # two texts of torch's may be one reason: they differ by the place in the code
    for reason, number in counters["graph_break"].items():
        breaks[_reason(str(reason))] += int(number)
    frames = counters["frames"]
    fused, left = _made(backend, before)
    return Use(
        graphs=int(counters["stats"]["unique_graphs"]),
        breaks=dict(breaks),
        taken=_taken(backend) - before,
        skipped=max(0, int(frames["total"]) - int(frames["ok"])),
        fused=fused,
        left=left,
        cached=inductor.cache_hits(counters) if backend == "inductor" else None,
    )


def _reason(text: str) -> str:
    """Why a graph was broken, on one line: its title, and the explanation that newer torch puts under it."""
    lines = [line.strip() for line in text.strip().splitlines()] or [""]
    told = next((line.partition(":")[2].strip() for line in lines if line.startswith("Explanation:")), "")
    return (f"{lines[0]}: {told}" if told else lines[0])[:300]


def _made(backend: str, before: int) -> Tuple[Optional[Tuple[Tuple[str, ...], ...]], Optional[Tuple[str, ...]]]:
    """The members of each kernel since then, and what was left to torch, where the backend tells."""
    if backend == "inductor":
        texts = inductor.sources(before)
        if texts is None:
            return None, None
        left = {name for text in texts for name in inductor.left_to_torch(text)}
        return tuple(kernel for text in texts for kernel in inductor.kernels(text)), tuple(sorted(left))
    if backend == "openvino":
        return _in_openvino(before), None
    return None, None


def _in_openvino(before: int) -> Optional[Tuple[Tuple[str, ...], ...]]:
    """The operators in each node that OpenVINO runs: it keeps the names that they had in the graph."""
    from openvino.frontend.pytorch.torchdynamo import execute

    try:
        nodes = [
            (int(info["execOrder"].value), str(info["originalLayersNames"].value))
            for model in list(execute.compiled_cache.values())[before:]
            for info in (node.get_rt_info() for node in model.get_runtime_model().get_ordered_ops())
        ]
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
        return None
    told = (tuple(dict.fromkeys(re.findall(r"aten\.(\w+)\.", names))) for _, names in nodes)
    return tuple(kernel for kernel in told if kernel)


def _taken(backend: str) -> int:
    """How much the backend has taken since the process began, counted where it keeps what it made."""
    if backend == "inductor":
        return len(inductor.modules())
    if backend == "openvino":
        from openvino.frontend.pytorch.torchdynamo import execute

        return len(execute.compiled_cache)
    if backend == "torch_tensorrt":
        names = {"TorchTensorRTModule", "PythonTorchTensorRTModule"}
        return sum(type(thing).__name__ in names for thing in gc.get_objects())
    from torch._dynamo.utils import counters

    return int(counters["stats"]["unique_graphs"]) - int(counters[_COUNTER]["as it came"])


def _watched(backend: str) -> Callable[..., Any]:
    """A backend that keeps nothing which could be counted: each graph that it gives back as it came is."""
    from torch._dynamo.backends.registry import lookup_backend
    from torch._dynamo.utils import counters

    compiler: Callable[..., Any] = lookup_backend(backend)

    def watched(graph: Any, inputs: Any, **options: Any) -> Any:
        made = compiler(graph, inputs, **options)
        counters[_COUNTER]["as it came"] += _is_itself(made, graph)
        return made

    return watched


def _is_itself(made: Any, graph: Any) -> bool:
    """Whether what a backend made of a graph is the graph's module, or a method of it."""
    while isinstance(made, functools.partial):
        made = made.func
    return made is graph or getattr(made, "__self__", None) is graph


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
