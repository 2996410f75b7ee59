"""Matrix products: square, skinny and batched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Tuple

import pytest
import torch

from suites.formulas import matmul_flops
from suites.work import Work

if TYPE_CHECKING:
    from suites.bench import Bench

Shape = Tuple[int, ...]


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_square(bench: Bench, precision: str) -> None:
    """A square by a square: as fast as the device can multiply."""
    n = bench.size
    _product(bench, "square", (n, n), (n, n), precision, matmul_flops(1, n, n, n))


def test_skinny(bench: Bench) -> None:
    """A few rows by a square: what generating text token by token does, bound by memory."""
    n = bench.size
    _product(bench, "skinny", (4, n), (n, n), "fp32", matmul_flops(1, 4, n, n))


def test_batched(bench: Bench) -> None:
    """Many small products at once."""
    n = max(16, bench.size // 4)
    _product(bench, "batched", (8, n, n), (8, n, n), "fp32", matmul_flops(8, n, n, n))


def _product(bench: Bench, kind: str, left: Shape, right: Shape, precision: str, flops: int) -> None:
    bench.run(
        Work(
            load=f"matmul.{kind}",
            compute=torch.matmul,
            inputs=(
                bench.random(*left, precision=precision, salt=1),
                bench.random(*right, precision=precision, salt=2),
            ),
            shapes=" @ ".join("x".join(map(str, shape)) for shape in (left, right)),
            precision=precision,
            model="matmul",
            version="1",
            flops=flops,
        )
    )
