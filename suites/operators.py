"""Operators: what a load's step is made of, counted exactly and timed one by one, apart from the timing of the whole.

Two passes after the first call: an eager one (`dispatched`), which tells where each operator's tensors lay and what it
costs, and one under the profiler (`profiling`). On a processor there are no device kernels; what stands for them, and
for launches, is said in `scopes`.
"""

from __future__ import annotations

import copy
import hashlib
import statistics
from collections import Counter
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Sequence, Tuple

import torch

from suites import backends, dispatched, inductor, profiling, scopes, timing
from suites.exits import FELL_BACK

if TYPE_CHECKING:
    from types import ModuleType

    from suites.bench import Bench
    from suites.work import Work

STEPS = {"smoke": 3, "standard": 5, "deep": 10}  # profiled
WARM = 2  # calls before: the second call of a compiled training step may still compile
LEAST_SHARE = 0.005  # of the step: below it an operator has no row of its own (statistics notes, margin of operators)
_MATMUL = {"aten::mm": 2, "aten::bmm": 2, "aten::addmm": 3, "aten::baddbmm": 3}  # how many tensors a product takes


def examine(bench: Bench, work: Work, call: Callable[..., Any]) -> bool:
    """Keep the structure of a work in the bench and write its rows; `call` is the step.

    Whether a backend that nothing else is known of runs the very operators that eager runs. AssertionError when an
    operator ran elsewhere than on the device that was asked for.
    """
    steps = STEPS[bench.cell.profile]
    place = bench.device.place()

    def once(step: Callable[..., Any]) -> Any:
        with torch.no_grad():  # a training step turns gradients on for itself
            return step(*work.inputs)

    eager = call if bench.backend == "eager" else _uncompiled(work)
    seen = dispatched.seen(lambda: once(eager), place)
    for _ in range(WARM):
        once(call)
    before = bench.device.conditions(work.index)
    try:
        events, generated = profiling.profiled(lambda: once(call), bench.device, steps)
    except RuntimeError as error:
        _refuse(bench, seen.elsewhere)
        bench.row(work, "launches", None, "count", direction="equal", why=f"not measured: the profiler: {error}")
        return False
    found = _found(bench.device, events)
    elsewhere = [
        *seen.elsewhere,
        *(f"{operator} on cpu" for operator in sorted(scopes.fallbacks(events))),
        *(f"{name} on {there}" for name, one in generated.items() for there in one.places if there != _kind(place)),
    ]
    structure = _structure(bench, work, found, seen, generated, steps)
    structure["fallbacks"] = sorted(set(elsewhere))
    bench.structures.append(structure)
    if not structure["launches"]:
        why = "not measured: the profiler saw no kernel"
        bench.row(work, "launches", None, "count", direction="equal", samples=steps, timer="profiler", why=why)
    else:
        bench.row(work, "launches", structure["launches"], "count", direction="equal", samples=steps, timer="profiler")
    _times(bench, work, found, steps, timing.together([before, bench.device.conditions(work.index)]))
    _refuse(bench, elsewhere)
    if not backends.is_vague(bench.backend):
        return False
    plain = _found(bench.device, profiling.profiled(lambda: once(eager), bench.device, steps)[0])
    return bool(_calls(found)) and _calls(found) == _calls(plain)


def _found(device: ModuleType, events: Sequence[scopes.Event]) -> List[scopes.Scope]:
    return scopes.scopes(
        events,
        on_device=bool(device.ACTIVITY),
        nature=profiling.nature,
        members=inductor.members,
    )


def _calls(found: Sequence[scopes.Scope]) -> Dict[str, int]:
    """How often each operator that did work was called."""
    return {scope.name: len(scope.calls) for scope in found if scope.kernels}


def told(structures: Sequence[Dict[str, Any]], compiled: Dict[Tuple[str, str, str], Dict[str, Any]]) -> List[Any]:
    """The structures with what is known of each load's compiling; the fallbacks of both stand together."""
    loads = []
    for one in structures:
        other = compiled.get((one["load"], one["shapes"], one["precision"]), {})
        both = sorted({*one["fallbacks"], *other.get("fallbacks", ())})
        unknown = other.get("fallbacks_unknown") or one.get("fallbacks_unknown", "")
        # What the compiler says it fused is whole; what the profiler saw of it on a device is not.
        fused = other.get("fused") or one["fused"]
        known = {"fallbacks": both or (None if unknown else []), "fallbacks_unknown": unknown}
        loads.append({**one, **other, **known, "fused": sorted(map(list, fused))})
    return loads


def _structure(
    bench: Bench,
    work: Work,
    found: Sequence[scopes.Scope],
    seen: dispatched.Seen,
    generated: Dict[str, profiling.Generated],
    steps: int,
) -> Dict[str, Any]:
    """The keys of the bundle's LoadStructure."""
    kernels: Counter[str] = Counter()
    unstable: List[str] = []
    rows = []
    for scope in found:
        calls, odd = scopes.per_step(len(scope.calls), steps)
        multiset = {name: scopes.per_step(number, steps) for name, number in sorted(scope.kernels.items())}
        kernels.update({name: number for name, (number, _) in multiset.items()})
        odd = odd or next((odd for _, odd in multiset.values() if odd), None)
        if odd and scope.kernels:
            unstable.append(f"{scope.name}: {odd}")
        flops, moved = _cost(scope.name, seen, generated)
        rows.append(
            {
                "scope": scope.name,
                "calls": calls,
                "self_ns": round(sum(spent for _, spent in scope.calls) / steps),
                "kernels": [{"name": name, "count": number} for name, (number, _) in multiset.items()],
                "flops": flops * calls,
                "bytes": moved * calls,
            }
        )
    text = "\n".join(f"{number} {name}" for name, number in sorted(kernels.items()))
    copies, odd = scopes.per_step(sum(scope.copies for scope in found), steps)
    if odd:
        unstable.append(f"copies: {odd}")
    names = {name for name in kernels if name.startswith(scopes.FUSED)}
    return {
        "load": work.load,
        "shapes": work.shapes,
        "precision": work.precision,
        "backend": bench.backend,
        "launches": sum(kernels.values()) - copies,
        "kernels_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "scopes": rows,
        "fused": [name[len(scopes.FUSED) :].split("+") for name in sorted(names)],
        "copies": copies,
        "flops": seen.flops,
        "formula": seen.formula,
        "unstable": unstable,
    }


def _cost(scope: str, seen: dispatched.Seen, generated: Dict[str, profiling.Generated]) -> Tuple[int, int]:
    """Operations and bytes of one call, 0 where they are not known."""
    if scope in generated:
        return 0, generated[scope].bytes
    if scope in seen.costs:
        return seen.costs[scope]
    operator, _, arguments = scope.partition("(")
    tensors = arguments.rstrip(")").split(",")
    number = _MATMUL.get(operator)
    if number and len(tensors) == number + 1:  # compiled code gives the result's place with the arguments
        return seen.costs.get(f"{operator}({','.join(tensors[:number])})", (0, 0))
    return 0, 0


def _times(bench: Bench, work: Work, found: Sequence[scopes.Scope], steps: int, conditions: Dict[str, Any]) -> None:
    whole = sum(sum(spent for _, spent in scope.calls) for scope in found)
    one = min if bench.device.STATISTIC == "min" else statistics.median
    for scope in found:
        if not whole or sum(spent for _, spent in scope.calls) < LEAST_SHARE * whole:
            continue
        times = [spent / 1e3 for spent in scope.steps_ns(steps)]
        statistic = "mean" if len(times) < steps else bench.device.STATISTIC
        bench.row(
            work,
            "operator_time",
            one(times),
            "us",
            statistic=statistic,
            samples=steps,
            warmup=WARM,
            timer="profiler",
            scope=scope.name,
            spread=timing.spread(times),
            conditions=conditions,
        )


def _refuse(bench: Bench, elsewhere: Sequence[str]) -> None:
    if elsewhere:
        raise AssertionError(f"{FELL_BACK}: {', '.join(elsewhere[:5])}, where {bench.device.place()} was asked for")


def _uncompiled(work: Work) -> Callable[..., Any]:
    compute = copy.deepcopy(work.compute) if isinstance(work.compute, torch.nn.Module) else work.compute
    return work.step(compute, compute)


def _kind(place: str) -> str:
    return torch.device(place).type
