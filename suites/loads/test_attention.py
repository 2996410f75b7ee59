"""Attention: by its formula, and by torch's fused call where this torch has it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Callable

import pytest
import torch
from torch.nn import functional

from suites.formulas import attention_flops
from suites.work import Work

if TYPE_CHECKING:
    from suites.bench import Bench

_HEADS, _WIDTH = 4, 64


def by_formula(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """softmax(q k^T / sqrt(d)) v."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return torch.softmax(scores, dim=-1) @ value


def by_formula_causal(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """The same, each position seeing only itself and those before it."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    ahead = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
    return torch.softmax(scores.masked_fill(ahead, float("-inf")), dim=-1) @ value


def fused(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Torch's own call."""
    return functional.scaled_dot_product_attention(query, key, value)


def fused_causal(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Torch's own call, causal."""
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True)


@pytest.mark.parametrize("mask", ["full", "causal"])
def test_formula(bench: Bench, mask: str) -> None:
    """The formula, written out."""
    _attention(bench, "formula", by_formula_causal if mask == "causal" else by_formula, mask, "fp32")


@pytest.mark.parametrize(("mask", "precision"), [("full", "fp32"), ("causal", "fp32"), ("causal", "bf16")])
def test_sdpa(bench: Bench, mask: str, precision: str) -> None:
    """torch.nn.functional.scaled_dot_product_attention, against the formula in fp64."""
    if not hasattr(functional, "scaled_dot_product_attention"):
        pytest.skip(f"torch {torch.__version__.split('a')[0]} has no scaled_dot_product_attention")
    _attention(bench, "sdpa", fused_causal if mask == "causal" else fused, mask, precision)


def _attention(bench: Bench, kind: str, compute: Callable[..., torch.Tensor], mask: str, precision: str) -> None:
    shape = (1, _HEADS, bench.size, _WIDTH)
    causal = mask == "causal"
    bench.run(
        Work(
            load=f"attention.{kind}.{mask}",
            compute=compute,
            reference=by_formula_causal if causal else by_formula,
            inputs=tuple(bench.random(*shape, precision=precision, salt=salt) for salt in (1, 2, 3)),
            shapes="x".join(map(str, shape)),
            precision=precision,
            model="attention",
            version="1",
            flops=attention_flops(1, _HEADS, bench.size, _WIDTH, causal),
        )
    )
