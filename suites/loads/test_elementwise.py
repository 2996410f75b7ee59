"""Element by element, and row by row: what is bound by memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

import torch
from torch.nn import functional

from suites.work import Work

if TYPE_CHECKING:
    from suites.bench import Bench


def chain(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Four operations that a compiler should make one of."""
    return torch.tanh(left * 1.5 + right) * right


def softmax(values: torch.Tensor) -> torch.Tensor:
    """Over each row."""
    return torch.softmax(values, dim=-1)


def layer_norm(values: torch.Tensor) -> torch.Tensor:
    """Over each row."""
    return functional.layer_norm(values, values.shape[-1:])


def test_chain(bench: Bench) -> None:
    """Bandwidth: bytes are those of one fused pass, so what is not fused shows as a lower figure."""
    _rows(bench, "chain", chain, 2)


def test_softmax(bench: Bench) -> None:
    """Softmax over rows."""
    _rows(bench, "softmax", softmax, 1)


def test_layer_norm(bench: Bench) -> None:
    """Layer norm over rows."""
    _rows(bench, "layer_norm", layer_norm, 1)


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
