"""Element by element, and row by row: what is bound by memory, and functions where they are known to go wrong."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Callable, Dict

import pytest
import torch
from torch.nn import functional

from suites.work import Work

if TYPE_CHECKING:
    from suites.bench import Bench

LATER = pytest.mark.compiled_from("standard")


def chain(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Four operations that a compiler should make one of."""
    return torch.tanh(left * 1.5 + right) * right


def softmax(values: torch.Tensor) -> torch.Tensor:
    """Over each row."""
    return torch.softmax(values, dim=-1)


def layer_norm(values: torch.Tensor) -> torch.Tensor:
    """Over each row."""
    return functional.layer_norm(values, values.shape[-1:])


REDUCTIONS: Dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sum.rows": lambda values: values.sum(-1),
    "sum.whole": lambda values: values.sum(),
    "max.rows": lambda values: values.amax(-1),
    "max.whole": lambda values: values.amax(),
    "var.rows": lambda values: values.var(-1),
    "var.whole": lambda values: values.var(),
}
RANGES = {
    # Where a short cut shows: function, from, to.
    "exp.near_one": (torch.exp, -1.0, 1.0),
    "exp.near_overflow": (torch.exp, 80.0, 88.5),
    "exp.near_zero": (torch.exp, -87.0, -80.0),
    "log.near_one": (torch.log, 0.9, 1.1),
    "log.tiny": (torch.log, 1.2e-38, 1e-37),
    "tanh.small": (torch.tanh, -1e-3, 1e-3),  # (e^2x - 1) / (e^2x + 1) loses three digits here
    "tanh.large": (torch.tanh, 3.0, 50.0),  # and is infinity over infinity at the end of this
    "erf.near_zero": (torch.erf, -1e-3, 1e-3),  # 1 - what is nearly 1 loses four digits here
    "erf.small": (torch.erf, -0.1, 0.1),
    "erf.large": (torch.erf, 0.5, 10.0),
    "sin.turn": (torch.sin, -3.2, 3.2),
    "sin.far": (torch.sin, 1e4, 1e5),  # where a turn that is not taken off exactly is lost
}


ERF = "https://github.com/pytorch/pytorch/issues/198183"
"""On x86 torch's own vectors compute erf to 1.5e-7 of one, however small it is (Abramowitz and Stegun 7.1.26)."""


def _approximates_erf(bench: Bench) -> bool:
    """Whether erf is that of ERF: in inductor's kernels, and in a torch without MKL, as Debian's 2.6 is."""
    if bench.device.place() != "cpu" or platform.machine() != "x86_64":
        return False
    return bench.backend == "inductor" or (not torch.backends.mkl.is_available() and torch.__version__ >= "2.6")


def test_chain(bench: Bench) -> None:
    """Bandwidth: bytes are those of one fused pass, so what is not fused shows as a lower figure."""
    _rows(bench, "chain", chain, 2)


def test_softmax(bench: Bench) -> None:
    """Softmax over rows."""
    _rows(bench, "softmax", softmax, 1)


def test_layer_norm(bench: Bench) -> None:
    """Layer norm over rows."""
    _rows(bench, "layer_norm", layer_norm, 1)


@LATER
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction(bench: Bench, name: str) -> None:
    """Along rows and over all; of numbers of one sign, since a sum that cancels has no relative error."""
    rows, length = 4 * bench.size, bench.size
    values = bench.random(rows, length, salt=5).abs()
    results = rows if name.endswith("rows") else 1
    _elements(bench, name, REDUCTIONS[name], values, 4 * (values.numel() + results))


@LATER
@pytest.mark.parametrize("name", RANGES)
def test_function(bench: Bench, request: pytest.FixtureRequest, name: str) -> None:
    """A function over a range in which it is known to go wrong."""
    if name == "erf.near_zero" and _approximates_erf(bench):
        request.applymarker(pytest.mark.xfail(raises=AssertionError, reason=ERF))
    function, low, high = RANGES[name]
    values = torch.linspace(low, high, 64 * bench.size, dtype=torch.float64).float().to(bench.device.place())
    _elements(bench, name, function, values, 8 * values.numel())


def _elements(
    bench: Bench, name: str, compute: Callable[..., torch.Tensor], values: torch.Tensor, traffic: int
) -> None:
    bench.run(
        Work(
            load=f"elementwise.{name}",
            compute=compute,
            inputs=(values,),
            shapes="x".join(map(str, values.shape)),
            precision="fp32",
            model=name,
            version="1",
            bytes=traffic,
        )
    )


def _rows(bench: Bench, kind: str, compute: Callable[..., torch.Tensor], operands: int) -> None:
    shape = (4 * bench.size, bench.size)
    bench.run(
        Work(
            load=f"elementwise.{kind}",
            compute=compute,
            inputs=tuple(bench.random(*shape, salt=salt) for salt in range(operands)),
            shapes="x".join(map(str, shape)),
            precision="fp32",
            model=kind,
            version="1",
            bytes=4 * shape[0] * shape[1] * (operands + 1),
        )
    )
