"""The bench: takes a piece of work through a backend, checks it, counts what the backend took, and then times it."""

from __future__ import annotations

import copy
import functools
import time
from collections import defaultdict
from dataclasses import replace
from operator import truediv
from typing import TYPE_CHECKING, Any, Callable, DefaultDict, Dict, List, Optional, Sequence, Tuple

import pytest
import torch

from suites import backends, compiling, expected, memory, numerics, operators, profiling, roofline, rows, timing
from suites.context import CONTEXT
from suites.exits import COMPILER_MISSING, FELL_BACK, NUMERICS, begins_with_word
from suites.fingerprint import fingerprints
from suites.formulas import TRAFFIC
from suites.precisions import dtype, in_force, result_dtype
from suites.summary import Figures
from suites.work import Compute, Labels, Work

if TYPE_CHECKING:
    from types import ModuleType

    from suites.bundle import Bundle
    from suites.cell import Cell


class Bench:
    """All that a case is given."""

    def __init__(self, *, cell: Cell, device: ModuleType, bundle: Bundle, size: int, steps: int, ranks: int) -> None:
        self.cell = cell
        self.device = device
        self.bundle = bundle
        self.size = size
        self.steps = steps
        self.ranks = ranks
        self.structures: List[Dict[str, Any]] = []
        self.uses: List[Dict[str, Any]] = []
        self.fingerprints: List[Dict[str, Any]] = []
        self.compiled: Dict[Tuple[str, str, str], Dict[str, Any]] = {}  # by load, shapes and precision
        self.figures: DefaultDict[str, Figures] = defaultdict(Figures)  # by case
        self.case = ""
        self._no_toolchain = ""

    @property
    def backend(self) -> str:
        """The compile backend of the cell."""
        return self.cell.backend

    def random(self, *shape: int, precision: str = "fp32", salt: int = 0) -> torch.Tensor:
        """Normal random numbers, the same on every device: they are drawn on the processor."""
        generator = torch.Generator().manual_seed(self.cell.seed * 1000 + salt)
        wanted = getattr(torch, self.device.e4m3()) if precision == "fp8" else dtype(precision)
        return torch.randn(*shape, generator=generator).to(wanted).to(self.device.place())

    def module(self, make: Callable[[], torch.nn.Module], precision: str = "fp32") -> torch.nn.Module:
        """A module with seeded parameters, on the device."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.cell.seed)
            made = make()
        return made.to(dtype(precision)).to(self.device.place())

    def run(self, work: Work) -> None:
        """Check the work against fp64, hold the backend to what it should take, and time it. Raises or skips.

        What is told of it names the precision that was in force; only what is counted in operations has products.
        """
        if work.flops:
            work = replace(work, precision=self._in_force(work))
        backends.ready(self.backend)
        if self._no_toolchain:
            pytest.skip(self._no_toolchain)
        exact = self._reference(work)
        if self.backend == "eager":
            plain = [one.to(result_dtype(work.precision)) for one in exact]
        else:
            plain = self._fresh(work, lambda compute: compute)[1]
        self.device.clear()
        call, result, use, first = self._compiled(work)
        self.fingerprints += fingerprints(work, result)
        if self.backend != "eager":
            numerics.hold_types(result, plain)
        error = numerics.compare(result, plain, exact, precision=work.precision, matmul=self.matmul_precision(work))
        self.compiled[work.load, work.shapes, work.precision] = compiling.told(self.backend, use)
        self.write_error(work, error)
        if self.backend != "eager":
            compiling.rows(self, work, use, *first)
        numerics.hold(error, work.precision)
        self._hold(work, use)
        self._repeat(work, call, result)
        if operators.examine(self, work, call):
            self._hold_to_its_own(work)
        kept = [one.cpu() for one in result] if work.changes_itself else []
        del exact, plain, result  # what the device holds from here on is the load's own, not its checking's
        self._time(work, call)
        again = compiling.warm(
            self, work, lambda: self._fresh(work, lambda one: backends.through(self.backend, one))[1]
        )
        if again is not None and work.changes_itself:
            self._same(work, kept, [one.cpu() for one in again])
        compiling.vary(self, work)

    def finish(self) -> None:
        """Write what holds for the whole process: on a processor, how much memory it had at most."""
        self.case = ""
        if self.device.place() == "cpu":
            whole = Labels("process", "all", "mixed", "none", "1")
            self.row(whole, "memory_peak", self.device.peak(), "bytes", statistic="max")

    def matmul_precision(self, labels: Labels) -> str:
        """How exact products of fp32 are here: a device's convolutions may be less so, whatever matmul is set to."""
        set_to = torch.get_float32_matmul_precision()
        convolves = labels.model in ("convnet", "convolution") and set_to == "highest"
        return str(self.device.CONVOLUTIONS) if convolves else set_to

    def _in_force(self, work: Work) -> str:
        return in_force(work.precision, self.matmul_precision(work), self.device.tensor_float())

    def row(self, work: Labels, metric: str, value: Optional[float], unit: str, **more: Any) -> None:
        """Write a metric row of a work, with what `rows.row` takes; AssertionError when the value is not finite.

        The device's conditions are read here where the metric must tell them and none are given; not those of samples,
        which are over.
        """
        needed = CONTEXT.get(metric, ())
        if value is not None and "conditions" in needed and "spread" not in needed and more.get("conditions") is None:
            more["conditions"] = timing.together([self.device.conditions()])
        row = rows.row(self.cell, self.device.place(), work, metric, value, unit, **more)
        try:
            self.bundle.metric(row)
        except ValueError as problem:
            raise AssertionError(f"numerics: {problem}") from None
        self.figures[self.case].add(row)

    def note(self, *texts: str) -> None:
        """Say something of the case in the table at the end."""
        self.figures[self.case].notes.extend(texts)

    def write_error(self, labels: Labels, error: numerics.Error, scope: str = "") -> None:
        """Write how far a result is from its reference, allowed or not, and how many of its values are no numbers."""
        why = error.lost and f"not measured: {error.lost}"
        for metric, value, unit, more in (
            ("error", error.result, "relative rmse", {}),
            ("error_ratio", error.ratio, "ratio", {}),
            ("error_largest", error.largest, "of the size", {}),
            ("ulp_largest", error.distance.largest, "ulp", {"statistic": "max"}),
            ("ulp_p99", error.distance.p99, "ulp", {"statistic": "p99"}),
            ("exact_share", error.distance.exact, "fraction", {"direction": "higher"}),
        ):
            self.row(labels, metric, None if why else value, unit, scope=scope, why=why, **more)
        self.row(labels, "nonfinite", error.nonfinite, "count", direction="equal", scope=scope)

    def _reference(self, work: Work) -> List[torch.Tensor]:
        place = self.device.exact()
        compute = work.reference or work.compute
        if isinstance(compute, torch.nn.Module):
            compute = copy.deepcopy(compute).to(place).double()
        return _run(work.step(compute, compute), [one.to(place).double() for one in work.inputs])

    def _fresh(self, work: Work, wrap: Callable[[Compute], Compute]) -> Tuple[Compute, List[torch.Tensor]]:
        """The step on a copy of the work's module, and the result of its first call."""
        compute = copy.deepcopy(work.compute) if isinstance(work.compute, torch.nn.Module) else work.compute
        step = work.step(wrap(compute), compute)
        return step, _run(step, list(work.inputs))

    def _compiled(self, work: Work) -> Tuple[Compute, List[torch.Tensor], backends.Use, Tuple[float, Dict[str, Any]]]:
        """The step, what its first call gave, what the backend did for it, and its seconds with their conditions."""
        before = backends.start(self.backend)
        begin = time.perf_counter()
        try:
            call, result = self._fresh(work, lambda compute: backends.through(self.backend, compute))
            self.device.synchronise()
        except Exception as error:
            if self.backend == "eager" or begins_with_word(str(error)):
                raise
            missing = backends.toolchain_missing(error) if self.backend == "inductor" else None
            if missing:
                self._no_toolchain = f"{COMPILER_MISSING}: inductor needs {missing} to build its kernels"
                pytest.skip(self._no_toolchain)
            raise AssertionError(backends.refusal(self.backend, error)) from error
        first = (time.perf_counter() - begin, timing.together([self.device.conditions(work.index)]))
        return call, result, backends.used(self.backend, before), first

    def _hold(self, work: Work, use: backends.Use) -> None:
        if self.backend == "eager":
            return
        least = expected.least(self.backend, work.load)
        unit = backends.UNIT.get(self.backend, "graphs")
        number, reasons = backends.counts(use)
        self.uses.append(
            {
                "load": work.load,
                "backend": self.backend,
                "graphs": use.graphs,
                "graph_breaks": number,
                "break_reasons": reasons,
                "taken": use.taken,
                "expected": least,
                "unit": unit,
            }
        )
        if least > 0 and use.taken <= 0:
            raise AssertionError(
                f"{FELL_BACK}: {self.backend} took 0 {unit} of {work.load}, at least {least} expected"
                f" ({use.graphs} graphs were handed to it)"
            )

    def _hold_to_its_own(self, work: Work) -> None:
        """A backend that says it took a graph, and runs what eager runs of it, took nothing."""
        self.uses[-1]["taken"] = 0
        if self.uses[-1]["expected"] > 0:
            raise AssertionError(f"{FELL_BACK}: {self.backend} runs the very operators of eager in {work.load}")

    def _repeat(self, work: Work, call: Compute, first: List[torch.Tensor]) -> None:
        """Whether the same call gives the same bits again; a step that moves its parameters needs fresh ones.

        Of a compiled one that is the step which `compiling.warm` makes: to compile it for this alone takes seconds.
        """
        if not work.changes_itself:
            self._same(work, first, _run(call, list(work.inputs)))
        elif self.backend == "eager":
            self._same(work, first, self._fresh(work, lambda compute: compute)[1])

    def _same(self, work: Work, first: List[torch.Tensor], again: List[torch.Tensor]) -> None:
        same = all(torch.equal(one, two) for one, two in zip(first, again))  # noqa: B905 - strict= is not in Python 3.9
        self.row(work, "deterministic", int(same), "0 or 1", direction="higher", samples=2)
        if not same:
            self.note("not deterministic")
            if torch.are_deterministic_algorithms_enabled():
                raise AssertionError(
                    f"{NUMERICS}: two runs of the same call differ, and deterministic algorithms were asked for"
                )

    def _time(self, work: Work, call: Compute) -> None:
        arguments = list(work.inputs)
        self.device.reset_peak()

        def once() -> None:
            with torch.no_grad():  # a training step turns gradients on for itself
                call(*arguments)

        took = timing.timed(once, self.device, self.steps, self.cell.profile, work.index)
        self.row(work, "latency", _times(took.seconds, 1e3), "ms", **rows.of_time(took, 1e3))
        for metric, amount, unit, scale, formula in (
            ("tflops", work.flops, "TFLOP/s", 1e12, work.formula),
            ("gbps", work.bytes, "GB/s", 1e9, TRAFFIC),
        ):
            if amount:
                rate = functools.partial(truediv, amount / scale)
                value = None if took.seconds is None else rate(took.seconds)
                told = {**rows.of_rate(took, rate), "formula": formula}
                self.row(work, metric, value, unit, direction="higher", **told)
        roofline.write(self, work, took)
        self._write_peaks(work, once, took.conditions)

    def _write_peaks(self, work: Work, once: Callable[[], None], conditions: Dict[str, Any]) -> None:
        more: Dict[str, Any] = {"statistic": "max", "conditions": conditions}
        if self.device.place() != "cpu":
            peak = self.device.peak()
            why = "" if peak is not None else f"not measured: {self.device.place()} keeps no peak"
            self.row(work, "memory_peak", peak, "bytes", why=why, **more)
            for metric, value in memory.peaks(memory.stats(self.device.place())).items():
                self.row(work, metric, value, "bytes", **more)
            return
        more["timer"] = "profiler"  # it sees what torch allocates in a step, not what was there before
        try:
            self.row(work, "memory_peak", profiling.allocated(once), "bytes", **more)
        except RuntimeError as error:
            self.row(work, "memory_peak", None, "bytes", why=f"not measured: the profiler: {error}", **more)


def _times(value: Optional[float], factor: float) -> Optional[float]:
    return None if value is None else value * factor


def _run(step: Compute, inputs: Sequence[torch.Tensor]) -> List[torch.Tensor]:
    """The tensors that a call returns, detached; gradients are on only where the step asks for them."""
    with torch.no_grad():
        result = step(*inputs)
    return [one.detach().clone() for one in (result if isinstance(result, (tuple, list)) else (result,))]
