"""Element by element, and row by row: what is bound by memory, and functions where they are known to go wrong."""

from __future__ import annotations

import datetime as dt
import platform
from contextlib import nullcontext
from typing import TYPE_CHECKING, Callable, Dict

import pytest
import torch
from torch.nn import functional

from suites.devices import products
from suites.known import KnownIssue, excused
from suites.work import Work

if TYPE_CHECKING:
    from suites.bench import Bench

LATER = pytest.mark.compiled_from("standard")
PRECISIONS = pytest.mark.parametrize(
    "precision", ["fp32", pytest.param("bf16", marks=LATER), pytest.param("fp16", marks=LATER)]
)


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


ERF = KnownIssue(
    because="on x86 torch's own vectors compute erf to 1.5e-7 of one, however small it is (Abramowitz, Stegun 7.1.26)",
    link="https://github.com/pytorch/pytorch/issues/198183",
    most=1e-3,  # 1.5e-7 of results of 6e-4
    until=dt.date(2027, 5, 31),
)


def _approximates_erf(bench: Bench) -> bool:
    """Whether erf is that of ERF: in inductor's kernels, and in a torch without MKL, as Debian's 2.6 is."""
    if bench.device.place() != "cpu" or platform.machine() != "x86_64":
        return False
    return bench.backend == "inductor" or (not torch.backends.mkl.is_available() and torch.__version__ >= "2.6")


def test_chain(bench: Bench) -> None:
    """Bandwidth: bytes are those of one fused pass, so what is not fused shows as a lower figure."""
    _rows(bench, "chain", chain, 2)


@PRECISIONS
def test_softmax(bench: Bench, precision: str) -> None:
    """Softmax over rows."""
    _rows(bench, "softmax", softmax, 1, precision)


@PRECISIONS
def test_layer_norm(bench: Bench, precision: str) -> None:
    """Layer norm over rows."""
    _rows(bench, "layer_norm", layer_norm, 1, precision)


@LATER
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_reduction(bench: Bench, precision: str, name: str) -> None:
    """Along rows and over all; of numbers of one sign, since a sum that cancels has no relative error."""
    if (precision, name) == ("fp16", "sum.whole"):
        pytest.skip("not applicable: the sum of all is more than fp16 can hold")
    rows, length = 4 * bench.size, bench.size
    values = bench.random(rows, length, precision=precision, salt=5).abs()
    results = rows if name.endswith("rows") else 1
    traffic = values.element_size() * (values.numel() + results)
    _elements(bench, name, REDUCTIONS[name], values, traffic, precision)


@LATER
@pytest.mark.parametrize("name", RANGES)
def test_function(bench: Bench, request: pytest.FixtureRequest, name: str) -> None:
    """A function over a range in which it is known to go wrong."""
    function, low, high = RANGES[name]
    values = torch.linspace(low, high, 64 * bench.size, dtype=torch.float64).float().to(bench.device.place())
    known = name == "erf.near_zero" and _approximates_erf(bench)
    with excused(request, ERF) if known else nullcontext():
        _elements(bench, name, function, values, 8 * values.numel())


def _elements(
    bench: Bench,
    name: str,
    compute: Callable[..., torch.Tensor],
    values: torch.Tensor,
    traffic: int,
    precision: str = "fp32",
) -> None:
    _needs(bench, compute, values[:16])
    bench.run(
        Work(
            load=f"elementwise.{name}",
            compute=compute,
            inputs=(values,),
            shapes="x".join(map(str, values.shape)),
            precision=precision,
            model=name,
            version="1",
            bytes=traffic,
        )
    )


def _rows(
    bench: Bench, kind: str, compute: Callable[..., torch.Tensor], operands: int, precision: str = "fp32"
) -> None:
    shape = (4 * bench.size, bench.size)
    inputs = tuple(bench.random(*shape, precision=precision, salt=salt) for salt in range(operands))
    _needs(bench, compute, *(one[:16] for one in inputs))
    bench.run(
        Work(
            load=f"elementwise.{kind}",
            compute=compute,
            inputs=inputs,
            shapes="x".join(map(str, shape)),
            precision=precision,
            model=kind,
            version="1",
            bytes=inputs[0].element_size() * shape[0] * shape[1] * (operands + 1),
        )
    )


def _needs(bench: Bench, compute: Callable[..., torch.Tensor], *few: torch.Tensor) -> None:
    """A skip where this torch has the function, but not for numbers of this dtype: older ones lack fp16's."""
    try:
        compute(*few)
    except RuntimeError as error:
        if not products.unwritten(bench.device, str(error)):
            raise
        pytest.skip(f"this build lacks it: {str(error).strip().splitlines()[0][:200]}")
