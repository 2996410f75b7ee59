"""What compiling cost and came to: cold and warm, kernels and fusions, fallbacks, recompiles for other sizes."""

from __future__ import annotations

import copy
import hashlib
import logging
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import torch

from suites import backends, inductor
from suites.devices import sticky

if TYPE_CHECKING:
    from suites.bench import Bench
    from suites.work import Labels, Work

# By the beginning of a load's name: the dimension that varies from batch to batch, and whether in each input.
_VARIES: Sequence[Tuple[str, int, bool]] = (("matmul.", -2, False), ("attention.", -2, True), ("", 0, True))
_REASON = 300  # characters


@dataclass(frozen=True)
class Recompiles:
    """How often a computation was compiled again for `sizes` further sizes, and what guard each time had failed.

    `taken` is what the backend took of it in all sizes: where it took nothing, there was nothing to compile again.
    """

    number: int
    sizes: int
    reasons: Tuple[str, ...]
    taken: int

    @property
    def for_each_size(self) -> bool:
        """Whether no compiled code served two sizes."""
        return self.sizes > 1 and self.number >= self.sizes


def told(backend: str, use: backends.Use) -> Dict[str, Any]:
    """What the structure of a load says of its first compiling, by the keys that it has there; `note` adds the rest."""
    skipped = [f"{use.skipped} frames left to Python"] if use.skipped else []
    return {
        "graphs": use.graphs,
        "graph_breaks": sum(use.breaks.values()),
        "break_reasons": sorted(use.breaks),
        "fused": [list(kernel) for kernel in use.fused or ()],
        "fallbacks": [*(use.left or ()), *skipped],
        "fallbacks_unknown": _silent(backend) if use.left is None else "",
    }


def rows(bench: Bench, work: Work, use: backends.Use, seconds: float, conditions: Dict[str, Any]) -> None:
    """Write what the first compiling of a work cost and came to; `seconds` and `conditions` are of its first call."""
    clock = {"timer": "perf_counter", "conditions": conditions}
    kept = _kept(bench.backend, use)
    if kept:
        bench.row(work, "compile_cold", None, "s", why=f"not measured: {kept}", **clock)
        bench.row(work, "compile_cached", seconds, "s", **clock)
    else:
        bench.row(work, "compile_cold", seconds, "s", **clock)
    bench.row(work, "graphs", use.graphs, "count", direction="equal")
    bench.row(work, "graph_breaks", sum(use.breaks.values()), "count")
    bench.note(*(f"graph break: {next(iter(reason.splitlines()), '')[:_REASON]}" for reason in sorted(use.breaks)))
    bench.row(work, "taken", use.taken, backends.UNIT.get(bench.backend, "graphs"), direction="equal")
    silent = _silent(bench.backend)
    number = None if use.fused is None else len(use.fused)
    bench.row(work, "kernels", number, "count", direction="equal", why="" if use.fused is not None else silent)
    fallbacks = None if use.left is None else len(use.left) + use.skipped
    bench.row(work, "fallbacks", fallbacks, "count", why="" if use.left is not None else silent)


def warm(bench: Bench, work: Work, again: Callable[[], List[torch.Tensor]]) -> Optional[List[torch.Tensor]]:
    """Compile once more, with all that the first time left in the caches; `again` makes the step and calls it.

    Returns what that call gave, None where nothing is compiled.
    """
    if bench.backend == "eager":
        return None
    before = backends.start(bench.backend)
    begin = time.perf_counter()
    result = again()
    bench.device.synchronise()
    seconds = time.perf_counter() - begin
    cached = backends.used(bench.backend, before).cached
    bench.row(work, "compile_warm", seconds, "s", timer="perf_counter")
    silent = "" if cached else f"not known: {bench.backend} counts none with torch {torch.__version__}"
    hits, misses = cached or (None, None)
    bench.row(work, "cache_hits", hits, "count", direction="higher", why=silent)
    bench.row(work, "cache_misses", misses, "count", why=silent)
    return result


def vary(bench: Bench, work: Work) -> None:
    """Compile a work for further sizes, where the profile leaves time for it: each load, but for a training step's."""
    if bench.backend == "eager" or bench.cell.profile == "smoke" or work.drive:
        return
    compute = copy.deepcopy(work.compute) if isinstance(work.compute, torch.nn.Module) else work.compute
    try:
        shapes = resized(work.load, work.inputs)
        with torch.no_grad():
            for inputs in shapes[1:]:
                work.compute(*inputs)
    except (RuntimeError, ValueError, TypeError, IndexError, AssertionError) as error:
        if sticky(bench.device, str(error)):
            raise
        why = f"not applicable: torch itself takes no other size: {_first_line(error)}"
        bench.row(work, "recompiles", None, "count", why=why)
        return
    try:
        note(bench, work, probe(bench.backend, compute, shapes))
    except Exception as error:
        if sticky(bench.device, str(error)):
            raise
        bench.row(work, "recompiles", None, "count", why=backends.refusal(bench.backend, error))


def probe(
    backend: str, compute: Callable[..., Any], shapes: Sequence[Sequence[torch.Tensor]], dynamic: Optional[bool] = None
) -> Recompiles:
    """Call a computation with the inputs of the first shape, then those of each further one."""
    from torch._dynamo.utils import counters

    before = backends.start(backend)
    call = backends.through(backend, compute, dynamic)
    with torch.no_grad(), _reasons() as reasons:
        call(*shapes[0])
        first, begun = int(counters["frames"]["ok"]), len(reasons)
        for inputs in shapes[1:]:
            call(*inputs)
    number = int(counters["frames"]["ok"]) - first
    taken = backends.used(backend, before).taken
    return Recompiles(number=number, sizes=len(shapes) - 1, reasons=tuple(reasons[begun:]), taken=taken)


def resized(load: str, inputs: Sequence[torch.Tensor]) -> List[Tuple[torch.Tensor, ...]]:
    """The inputs of a load, and the same in three further sizes of the dimension that varies in it."""
    dim, each = next((dim, each) for beginning, dim, each in _VARIES if load.startswith(beginning))
    size = inputs[0].shape[dim]
    sizes = (size // 2, size * 3 // 4, size // 4) if size >= 8 else (size + 1, size + 2, size + 4)

    def one(tensor: torch.Tensor, to: int) -> torch.Tensor:
        copies = -(-to // tensor.shape[dim])
        return torch.cat([tensor] * copies, dim).narrow(dim, 0, to).contiguous()

    further = [
        tuple(one(tensor, to) if each or not place else tensor for place, tensor in enumerate(inputs)) for to in sizes
    ]
    return [tuple(inputs), *further]


def note(bench: Bench, work: Work, again: Recompiles) -> None:
    """Write how often a work was compiled again, and keep why."""
    bench.row(work, "recompiles", again.number, "count", samples=again.sizes)
    keep(bench, work, {"recompiles": again.number, "recompile_reasons": list(again.reasons)})


def keep(bench: Bench, labels: Labels, told: Dict[str, Any]) -> None:
    """Put something into the structure of a load; of one that is not profiled it is all that stands there."""
    key = (labels.load, labels.shapes, labels.precision)
    bench.compiled.setdefault(key, {}).update(told)
    if not any((one["load"], one["shapes"], one["precision"]) == key for one in bench.structures):
        named = {"load": labels.load, "shapes": labels.shapes, "precision": labels.precision, "backend": bench.backend}
        nothing = {"launches": 0, "kernels_sha256": hashlib.sha256().hexdigest(), "scopes": []}
        unknown = "" if "fallbacks" in told else "not measured: nothing is asked of this load but its compiling"
        bench.structures.append({**named, **nothing, "fused": [], "fallbacks": [], "fallbacks_unknown": unknown})


def _silent(backend: str) -> str:
    return f"not known: {backend} does not tell it with torch {torch.__version__}"


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:_REASON]


def _kept(backend: str, use: backends.Use) -> str:
    """Why the first compiling was not from nothing, or nothing."""
    hits, misses = use.cached or (0, 0)
    if hits:
        return f"the compile cache had {hits} of {hits + misses} graphs"
    there = backend == "inductor" and inductor.found_cache()
    return "the compile cache of an earlier run is there" if there else ""


@contextmanager
def _reasons() -> Iterator[List[str]]:
    """A list that grows by the reason of each recompile, as torch logs it; it stays empty where torch logs none."""
    found: List[str] = []

    class Reader(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines = [line.strip().lstrip("- ") for line in record.getMessage().splitlines() if line.strip()]
            # The first line names the function, the second announces guards; the newest code's guard is the third.
            found.append(next(iter(lines[2:]), lines[0] if lines else "")[:_REASON])

    set_logs = getattr(getattr(torch, "_logging", None), "set_logs", None)
    if set_logs is None:
        yield found
        return
    set_logs(recompiles=True)
    names = [name for name in list(logging.root.manager.loggerDict) if name.endswith(".__recompiles")]
    loggers, reader = [logging.getLogger(name) for name in names], Reader(logging.DEBUG)
    for logger in loggers:
        logger.addHandler(reader)
        logger.propagate = False
    try:
        yield found
    finally:
        for logger in loggers:
            logger.removeHandler(reader)
            logger.propagate = True
        set_logs()
