"""Scopes: what a profiler saw, told by operator and shapes. No torch here, so any device's traces can be replayed.

A scope is an operator with the shapes and dtypes of its tensors, or the members of a fused kernel with the same; never
the name of a kernel, which changes when fusion does. On a device, kernels are what the device ran for an operator. A
processor has none: there, the kernels are the generated functions of inductor and those operators that do the work
themselves. What only makes views, allocates or hands on is summed in one scope, and what is no operator in another.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

MOST = 200  # scopes of a load; the rest is summed
OTHER = "other"
HOUSEKEEPING = "housekeeping"
OUTSIDE = "outside operators"
FUSED = "fused "
LONGEST = 380  # characters of a scope

_OPERATOR = re.compile(r"^(?!autograd::|profiler::)\w+::\w+(\.\w+)?$")
_GENERATED = re.compile(r"^(triton|cpp|mps)_(\w{3}_)?fused")
_HOST_COPY = re.compile(r"^Memcpy (HtoD|DtoH)", re.IGNORECASE)
_COPIES = frozenset({"aten::copy_", "aten::fill_", "aten::zero_"})
_VIEWS = re.compile(
    r"aten::(?:"
    r"alias|as_strided_?|broadcast_to|chunk|contiguous|detach|detach_|diagonal|empty|empty_like|"
    r"empty_strided|expand|expand_as|flatten|lift_fresh|movedim|narrow|new_empty|new_empty_strided|"
    r"numpy_T|permute|reshape|_reshape_alias|resize_|resize_as_|resolve_conj|resolve_neg|result_type|"
    r"select|set_|slice|split|split_with_sizes|squeeze|squeeze_|swapaxes|t|transpose|unbind|unflatten|"
    r"unsqueeze|unsqueeze_|_unsafe_view|view|view_as|_to_cpu"
    r")"
)
_DTYPES = {
    "double": "float64",
    "float": "float32",
    "c10::Half": "float16",
    "c10::BFloat16": "bfloat16",
    "c10::Float8_e4m3fn": "float8_e4m3fn",
    "c10::Float8_e4m3fnuz": "float8_e4m3fnuz",
    "c10::Float8_e5m2": "float8_e5m2",
    "c10::Float8_e5m2fnuz": "float8_e5m2fnuz",
    "long int": "int64",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "short int": "int16",
    "signed char": "int8",
    "unsigned char": "uint8",
    "c10::complex<float>": "complex64",
    "c10::complex<double>": "complex128",
}


class Event(NamedTuple):
    """One call that the profiler saw; `parent` is its caller's place in the list, -1 for none; times in ns.

    `kernels` are what the device ran for it: name and time.
    """

    name: str
    parent: int
    start: float
    self_ns: float
    shapes: Sequence[Sequence[int]] = ()
    dtypes: Sequence[str] = ()
    kernels: Sequence[Tuple[str, float]] = ()


@dataclass
class Scope:
    """What one scope did in all profiled steps together."""

    name: str
    calls: List[Tuple[float, float]] = field(default_factory=list)
    kernels: Dict[str, int] = field(default_factory=Counter)
    copies: int = 0

    def steps_ns(self, steps: int) -> List[float]:
        """The time in each step; where the calls are no whole number for a step, its mean as the one value."""
        times = [spent for _, spent in sorted(self.calls)]
        whole = len(times) // steps
        if not whole or len(times) % steps:
            return [sum(times) / steps]
        return [sum(times[at * whole : (at + 1) * whole]) for at in range(steps)]


def normalised(kernel: str) -> str:
    """A kernel's name without what changes from build to build: template arguments, tile sizes, counters, hashes."""
    name = kernel.replace("(anonymous namespace)::", "")
    previous = ""
    while previous != name:  # innermost brackets first
        previous, name = name, re.sub(r"<[^<>]*>|\([^()]*\)", "", name)
    name = re.sub(r"[<(].*$", "", name)  # a name that was cut leaves a bracket open
    name = name.split(" [", 1)[0].strip()
    name = re.sub(r"^(?:static |inline |void |auto )+", "", name).strip()
    if name.startswith(("Memcpy", "Memset")):
        return name
    words = name.split("_")
    kept = [word for at, word in enumerate(words) if at == 0 or not _is_counter(word)]
    return re.sub(r"\d+(?:x\d+)+", "", "_".join(kept)).rstrip("_") or kernel[:LONGEST]


def _is_counter(word: str) -> bool:
    """A number, a tile size, the `0d1d2de` of older triton, or a hash."""
    if re.fullmatch(r"\d+(x\d+)*|(\d+(de|d|e|c))+", word):
        return True
    if re.fullmatch(r"(b?f(8|16|32|64))+", word):  # dtypes: f32f32f32 is hexadecimal, too
        return False
    return re.fullmatch(r"[0-9a-f]{8,}", word) is not None and any(char.isdigit() for char in word)


def named(operator: str, shapes: Sequence[Sequence[int]], dtypes: Sequence[str]) -> str:
    """`aten::mm(float32[8x4],float32[4x8])`: only tensors that have a dimension; long ones end in a hash."""
    told = [
        f"{_DTYPES.get(dtype, dtype)}[{'x'.join(map(str, shape))}]"
        for shape, dtype in zip(shapes, [*dtypes, *[""] * (len(shapes) - len(dtypes))])  # noqa: B905 - Python 3.9
        if shape
    ]
    return short(f"{operator}({','.join(told)})")


def short(text: str) -> str:
    """The text, or its beginning and a hash of all of it."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - 13]}#{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def scopes(
    events: Sequence[Event],
    *,
    on_device: bool,
    nature: Callable[[str], str] = lambda _: "",
    members: Callable[[str], Sequence[str]] = lambda _: (),
) -> List[Scope]:
    """What each scope did. `nature` of an operator is `composite`, `native` (for a processor) or empty: not known.

    `members` gives the operators in a generated kernel, by the kernel's name.
    """
    made: Dict[str, Scope] = {}
    if on_device:
        for event in events:
            _of_device(made, event, members)
    else:
        _of_host(made, events, nature)
    return _bounded(made)


def generated(name: str) -> bool:
    """Whether inductor gave a kernel this name."""
    return _GENERATED.match(name) is not None


def is_operator(name: str) -> bool:
    """Whether an event is an operator's, not a range that somebody named."""
    return _OPERATOR.match(name) is not None


def fallbacks(events: Sequence[Event]) -> Set[str]:
    """Operators that a device gave to the processor by torch's own fallback: it takes their inputs there itself."""
    found = set()
    for event in events:
        if event.name == "aten::_to_cpu":
            at = event.parent
            while at >= 0 and not is_operator(events[at].name):
                at = events[at].parent
            found.add(events[at].name if at >= 0 else event.name)
    return found


def _scope(made: Dict[str, Scope], name: str) -> Scope:
    return made.setdefault(name, Scope(name))


def _of_device(made: Dict[str, Scope], event: Event, members: Callable[[str], Sequence[str]]) -> None:
    """What the device ran for one event: the event's own scope, or that of a generated kernel which it only holds."""
    spent: Dict[str, float] = {}
    for kernel, took in event.kernels:
        name = OUTSIDE
        kind = event.name if generated(event.name) else kernel
        if generated(kind):
            name = named(FUSED + "+".join(members(kind)), event.shapes, event.dtypes)
        elif is_operator(event.name):
            name = named(event.name, event.shapes, event.dtypes)
        scope = _scope(made, name)
        scope.copies += bool(_HOST_COPY.match(kernel))
        scope.kernels[normalised(kernel)] += 1
        spent[name] = spent.get(name, 0.0) + took
    for name, took in spent.items():
        _scope(made, name).calls.append((event.start, took))


def _of_host(made: Dict[str, Scope], events: Sequence[Event], nature: Callable[[str], str]) -> None:
    """A processor's kernels, each with the time of what it called that is none itself; and what is left."""
    working = _that_work(events, nature)
    spent: Dict[int, float] = {}
    for at, event in enumerate(events):
        owner = at
        while owner >= 0 and owner not in working:
            owner = events[owner].parent
        if owner >= 0:
            spent[owner] = spent.get(owner, 0.0) + event.self_ns
        else:
            rest = _scope(made, HOUSEKEEPING if is_operator(event.name) else OUTSIDE)
            rest.calls.append((event.start, event.self_ns))
    for at in working:
        event = events[at]
        fused = event.name.startswith(FUSED)
        scope = _scope(made, event.name if fused else named(event.name, event.shapes, event.dtypes))
        scope.kernels[event.name.split("(", 1)[0]] += 1
        scope.calls.append((event.start, spent[at]))


def _that_work(events: Sequence[Event], nature: Callable[[str], str]) -> Set[int]:
    """Places of the events that are a processor's kernels.

    Those of generated kernels, and operators below which there is no other; one that torch has written for a processor
    counts also with copies below it (a bias that is copied into the result before a product is added). What is done
    with numbers alone is none.
    """
    deepest_first = sorted(range(len(events)), key=_depths(events).__getitem__, reverse=True)
    below: Dict[int, Set[str]] = {}
    working: Set[int] = set()
    for at in deepest_first:
        event, inner = events[at], below.get(at, set())
        mine = event.name.startswith(FUSED)
        if is_operator(event.name) and any(event.shapes) and not _VIEWS.fullmatch(event.name):
            kind = nature(event.name)
            mine = kind != "composite" and (not inner or (kind == "native" and inner <= _COPIES))
        if mine:
            working.add(at)
            inner = inner | {event.name}
        if event.parent >= 0:
            below.setdefault(event.parent, set()).update(inner)
    return working


def _depths(events: Sequence[Event]) -> List[int]:
    depths = [-1] * len(events)
    for place in range(len(events)):
        chain = []
        at = place
        while at >= 0 and depths[at] < 0:
            chain.append(at)
            at = events[at].parent
        depth = depths[at] if at >= 0 else -1
        for at in reversed(chain):
            depth += 1
            depths[at] = depth
    return depths


def _bounded(made: Dict[str, Scope]) -> List[Scope]:
    """At most so many, chosen by what is exact: who spent more time differs from run to run."""
    ordered = sorted(made.values(), key=lambda scope: (not scope.kernels, -len(scope.calls), scope.name))
    kept, rest = ordered[:MOST], ordered[MOST:]
    if rest:
        kept, rest = ordered[: MOST - 1], ordered[MOST - 1 :]
        other = Scope(OTHER)
        for scope in rest:
            other.calls += scope.calls
            other.copies += scope.copies
            other.kernels.update(scope.kernels)  # a Counter adds
        kept.append(other)
    return sorted(kept, key=lambda scope: scope.name)


def per_step(total: int, steps: int) -> Tuple[int, Optional[str]]:
    """A count for one step; and, where it is no whole number, what to tell instead of rounding it silently."""
    if total % steps == 0:
        return total // steps, None
    return max(1, total // steps), f"{total} in {steps} steps"
