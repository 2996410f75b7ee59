"""The profiler pass: a few steps under torch's profiler, apart from timing, as the events that `scopes` reads."""

from __future__ import annotations

import functools
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Sequence, Tuple

import torch

from suites import inductor, scopes

if TYPE_CHECKING:
    from types import ModuleType

STEP = "torchmatrix step"


@dataclass(frozen=True)
class Generated:
    """A kernel that inductor wrote for the processor: its members, what one call moves, where its tensors lay."""

    members: Tuple[str, ...]
    bytes: int
    places: Tuple[str, ...]


def profiled(
    call: Callable[[], Any], device: ModuleType, steps: int
) -> Tuple[List[scopes.Event], Dict[str, Generated]]:
    """The events of these steps, and the processor's generated kernels by their scope. RuntimeError: no profiler."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # torch 2.13 else writes two lines for each start
    loaded = "torch._inductor.codecache" in sys.modules  # to import it takes seconds, which eager need not spend
    with _named(inductor.modules() if loaded else []) as generated, _profiler(device.ACTIVITY) as profile:
        for _ in range(steps):
            with torch.autograd.profiler.record_function(STEP):
                call()
                device.synchronise()
    return _events(profile), generated


def allocated(call: Callable[[], Any]) -> int:
    """Bytes that torch gives out at most during a call on the processor, over what was there before.

    Its allocator tells the profiler of each block, and keeps no count of its own. RuntimeError: no profiler.
    """
    with torch.autograd.profiler.profile(use_kineto=True, profile_memory=True) as profile:
        call()
    results = getattr(profile, "profiler", profile).kineto_results
    blocks = [event for event in results.events() if event.name() == "[memory]"] if results is not None else []
    start = "start_ns" if blocks and hasattr(blocks[0], "start_ns") else "start_us"
    held = most = 0
    for block in sorted(blocks, key=lambda block: int(getattr(block, start)())):
        held += block.nbytes()
        most = max(most, held)
    return most


@functools.lru_cache(maxsize=None)
def nature(operator: str) -> str:
    """Whether torch makes an operator of others, or has written it for the processor; empty where it says neither."""
    try:
        names = [schema.overload_name for schema in torch._C._jit_get_schemas_for_operator(operator)]  # noqa: SLF001
        ask = torch._C._dispatch_has_kernel_for_dispatch_key  # noqa: SLF001 - nothing public tells it
    except (AttributeError, RuntimeError):
        return ""

    def has(key: str) -> bool:
        try:
            return any(ask(f"{operator}.{name}" if name else operator, key) for name in names)
        except RuntimeError:
            return False

    if has("CPU"):
        return "native"
    return "composite" if has("CompositeImplicitAutograd") else ""


def _profiler(activity: str) -> Any:
    if activity:
        from torch.profiler import ProfilerActivity, profile

        return profile(activities=[ProfilerActivity.CPU, getattr(ProfilerActivity, activity)], record_shapes=True)
    # The one that torch.profiler is made of: that one takes a second to import what only its own exports need.
    return torch.autograd.profiler.profile(use_kineto=True, record_shapes=True)


def _events(profile: Any) -> List[scopes.Event]:
    inner = getattr(profile, "profiler", profile)
    raw = inner.kineto_results.events() if inner.kineto_results is not None else []
    dtypes = {event.correlation_id(): event.dtypes() for event in raw if event.dtypes()}
    hosts = [event for event in inner.function_events if str(event.device_type).endswith("CPU")]
    ranges = [event.time_range for event in hosts if event.name == STEP]
    # Older torch makes a tensor for each range before it begins: of the profiler, not of the step.
    made = [event for event in hosts if any(one.start <= event.time_range.start <= one.end for one in ranges)]
    places = {id(event): at for at, event in enumerate(made)}
    return [
        scopes.Event(
            name=event.name,
            parent=places.get(id(event.cpu_parent), -1),
            start=event.time_range.start,
            self_ns=max(0.0, event.self_cpu_time_total) * 1e3,
            shapes=[_shape(shape) for shape in event.input_shapes or ()],
            dtypes=dtypes.get(event.id, ()),
            kernels=[(kernel.name, kernel.duration * 1e3) for kernel in event.kernels],
        )
        for event in made
    ]


def _shape(told: Any) -> Sequence[int]:
    """Of a list of tensors newer torch gives the shape of each, older torch nothing: nothing for both."""
    return told if isinstance(told, (list, tuple)) and all(isinstance(one, int) for one in told) else ()


@contextmanager
def _named(modules: Iterable[Any]) -> Iterator[Dict[str, Generated]]:
    """Within it, each kernel that inductor wrote for the processor is a range of the profiler, named by its scope.

    Its calls are plain calls into a library, which no profiler sees; what a device runs is seen by itself.
    """
    found: Dict[str, Generated] = {}
    changed: List[Tuple[Any, str, Any]] = []
    for module in modules:
        for name, value in list(vars(module).items()):
            if re.match(r"cpp_fused", name) and callable(value):
                changed.append((module, name, value))
                setattr(module, name, _ranged(value, inductor.members(name), found))
    try:
        yield found
    finally:
        for module, name, value in changed:
            setattr(module, name, value)


def _ranged(kernel: Any, members: Tuple[str, ...], found: Dict[str, Generated]) -> Callable[..., Any]:
    known: Dict[Any, str] = {}

    def call(*arguments: Any) -> Any:
        tensors = [one for one in arguments if isinstance(one, torch.Tensor)]
        key = tuple((one.shape, one.dtype) for one in tensors)
        if key not in known:
            dtypes = [str(one.dtype).replace("torch.", "") for one in tensors]
            known[key] = scopes.named(scopes.FUSED + "+".join(members), [one.shape for one in tensors], dtypes)
            found[known[key]] = Generated(
                members=members,
                bytes=sum(one.numel() * one.element_size() for one in tensors),
                places=tuple(sorted({one.device.type for one in tensors if one.dim()})),
            )
        with torch.autograd.profiler.record_function(known[key]):
            return kernel(*arguments)

    return call
