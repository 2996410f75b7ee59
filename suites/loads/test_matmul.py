"""Matrix products: square, skinny and batched, in every precision that the device has, forward and backward."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Dict, Tuple

import pytest
import torch

from suites import gradients
from suites.backends import INFERENCE_ONLY
from suites.formulas import BACKWARD, BACKWARD_TRAFFIC, MATMUL, matmul_flops, matmul_traffic
from suites.loads import capabilities
from suites.precisions import dtype, result_dtype
from suites.work import Work

if TYPE_CHECKING:
    from suites.bench import Bench

Shape = Tuple[int, ...]
LATER = pytest.mark.compiled_from("standard")
STANDARD = pytest.mark.profile("standard")
SCALED: Dict[str, Any] = {"compute": capabilities.scaled_product, "reference": capabilities.scaled_product_exact}
SLOW = 256
"""Edge above which a processor without fp16 products needs seconds for each (10 ms at 256, 5 s at 2048)."""


@pytest.mark.parametrize(
    "precision",
    ["fp32", pytest.param("tf32", marks=LATER), "bf16", pytest.param("fp16", marks=LATER)],
)
def test_square(bench: Bench, precision: str) -> None:
    """A square by a square: as fast as the device can multiply."""
    n = bench.size
    if precision == "fp16" and bench.device.place() == "cpu":
        n = min(n, SLOW)
    _product(bench, "square", (n, n), (n, n), precision)


@LATER
def test_square_fp8(bench: Bench) -> None:
    """Scaled e4m3 numbers, summed in fp32: held against the numbers that they stand for, in fp64."""
    n = _sixteens(bench.size)
    _product(bench, "square", (n, n), (n, n), "fp8", **SCALED)


@pytest.mark.parametrize(
    "precision",
    [
        "fp32",
        pytest.param("tf32", marks=LATER),
        pytest.param("bf16", marks=STANDARD),
        pytest.param("fp16", marks=STANDARD),
    ],
)
def test_skinny(bench: Bench, precision: str) -> None:
    """A few rows by a square: what generating text token by token does, bound by memory."""
    n = bench.size
    if precision == "fp16" and bench.device.place() == "cpu":
        n = min(n, SLOW)
    _product(bench, "skinny", (4, n), (n, n), precision)


@LATER
def test_skinny_fp8(bench: Bench) -> None:
    """The same of scaled e4m3 numbers, which come in sixteens."""
    n = _sixteens(bench.size)
    _product(bench, "skinny", (16, n), (n, n), "fp8", **SCALED)


@pytest.mark.parametrize(
    "precision",
    [
        "fp32",
        pytest.param("tf32", marks=LATER),
        pytest.param("bf16", marks=STANDARD),
        pytest.param("fp16", marks=STANDARD),
    ],
)
def test_batched(bench: Bench, precision: str) -> None:
    """Many small products at once."""
    n = max(16, bench.size // 4)
    if precision == "fp16" and bench.device.place() == "cpu":
        n = min(n, SLOW // 2)
    _product(bench, "batched", (8, n, n), (8, n, n), precision)


@LATER
def test_batched_fp8(bench: Bench) -> None:
    """Scaled e4m3 numbers, one product after the other: torch has no call that makes several."""
    n = _sixteens(bench.size // 4)
    _product(bench, "batched", (8, n, n), (8, n, n), "fp8", compute=_each_scaled, reference=_each_exact)


@STANDARD
def test_uneven(bench: Bench) -> None:
    """Edges that no tile divides."""
    n = bench.size
    _product(bench, "uneven", (n - 1, n + 3), (n + 3, n // 2 + 7), "fp32")


@LATER
@pytest.mark.parametrize("precision", ["fp32", pytest.param("bf16", marks=STANDARD)])
def test_gradients(bench: Bench, precision: str) -> None:
    """The backward pass: two products more."""
    if bench.backend in INFERENCE_ONLY:
        pytest.skip(f"not applicable: {bench.backend} compiles inference only")
    n = bench.size
    _product(bench, "gradients", (n, n), (n, n), precision, backward=True, drive=gradients.of_inputs)


def _sixteens(size: int) -> int:
    """The nearest edge below that products of fp8 numbers take."""
    return max(16, size // 16 * 16)


def _each_scaled(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return torch.stack([capabilities.scaled_product(*pair) for pair in zip(left, right)])  # noqa: B905 - Python 3.9


def _each_exact(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return torch.stack([capabilities.scaled_product_exact(*pair) for pair in zip(left, right)])  # noqa: B905 - the same


def _product(
    bench: Bench, kind: str, left: Shape, right: Shape, precision: str, *, backward: bool = False, **more: Any
) -> None:
    lacking = capabilities.lacking(bench, precision)
    if lacking:
        pytest.skip(lacking)
    sizes = (left[0] if len(left) == 3 else 1, left[-2], right[-1], left[-1])
    element, result = (torch.empty(0, dtype=of(precision)).element_size() for of in (dtype, result_dtype))
    kept = torch.get_float32_matmul_precision()
    if precision == "tf32" and kept != "highest":
        pytest.skip(
            f"not applicable: this cell's fp32 products are not IEEE's already ({kept}), fp32's case tells them"
        )
    with bench.device.tf32() if precision == "tf32" else nullcontext():
        bench.run(
            Work(
                load=f"matmul.{kind}",
                inputs=(
                    bench.random(*left, precision=precision, salt=1),
                    bench.random(*right, precision=precision, salt=2),
                ),
                shapes=" @ ".join("x".join(map(str, shape)) for shape in (left, right)),
                precision=precision,
                model="matmul",
                version="1",
                flops=int(matmul_flops(*sizes) * (1 + BACKWARD["matmul"] * backward)),
                bytes=matmul_traffic(*sizes, element, result) * (1 + BACKWARD_TRAFFIC * backward),
                formula=MATMUL,
                **{"compute": torch.matmul, **more},
            )
        )
