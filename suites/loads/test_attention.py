"""Attention: by its formula, by torch's fused call, and by each of the kernels under that call where it is here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

import pytest
import torch
from torch.nn import functional

from suites import gradients
from suites.backends import INFERENCE_ONLY
from suites.formulas import (
    ATTENTION,
    ATTENTION_CAUSAL,
    BACKWARD,
    BACKWARD_TRAFFIC,
    attention_flops,
    attention_traffic,
)
from suites.loads import attention_kernels
from suites.precisions import dtype
from suites.work import Work

if TYPE_CHECKING:
    from suites.bench import Bench

_HEADS, _WIDTH = 4, 64
LATER = pytest.mark.compiled_from("standard")
STANDARD = pytest.mark.profile("standard")


@pytest.mark.parametrize("mask", ["full", "causal"])
def test_formula(bench: Bench, mask: str) -> None:
    """The formula, written out."""
    _attention(bench, "formula", attention_kernels.formula(mask), mask, "fp32")


@pytest.mark.parametrize(("mask", "precision"), [("full", "fp32"), ("causal", "fp32"), ("causal", "bf16")])
def test_sdpa(bench: Bench, mask: str, precision: str) -> None:
    """torch.nn.functional.scaled_dot_product_attention, against the formula in fp64."""
    _fused(bench, "sdpa", mask, precision)


@LATER
@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize(
    ("kernel", "precision"),
    [
        ("math", "fp32"),
        ("flash", "bf16"),
        ("flash", "fp16"),
        ("efficient", "fp32"),
        ("cudnn", "bf16"),
    ],
)
def test_kernel(bench: Bench, kernel: str, precision: str, mask: str) -> None:
    """Each kernel that the call can choose, forced."""
    _needs_sdpa()
    with attention_kernels.forced(bench, kernel, precision):
        _fused(bench, kernel, mask, precision)


@LATER
@pytest.mark.parametrize("groups", [2, pytest.param(4, marks=STANDARD)])
def test_grouped(bench: Bench, groups: int) -> None:
    """Several query heads share a key and a value."""
    _needs_sdpa()
    _attention(
        bench,
        f"grouped{groups}",
        attention_kernels.grouped(_HEADS // groups),
        "causal",
        "fp32",
        heads=_HEADS // groups,
        reference=attention_kernels.grouped_exact(_HEADS // groups),
    )


@LATER
@pytest.mark.parametrize(("queries", "keys"), [(1, 333), (100, 77), (129, 65), (65, 129)])
def test_lengths(bench: Bench, queries: int, keys: int) -> None:
    """Lengths that differ, and that no tile divides: pytorch#191937 was wrong for some, and silent."""
    _fused(bench, "lengths", "full", "fp32", queries=queries, keys=keys)


@LATER
@pytest.mark.parametrize("queries", [63, 129])
def test_causal_lengths(bench: Bench, queries: int) -> None:
    """The same under a mask, where both lengths agree: releases of torch differ on which corner it is drawn from."""
    _fused(bench, "lengths", "causal", "fp32", queries=queries, keys=queries)


@LATER
@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("precision", ["fp32", pytest.param("bf16", marks=STANDARD)])
def test_gradients(bench: Bench, mask: str, precision: str) -> None:
    """The gradients of query, key and value."""
    if bench.backend in INFERENCE_ONLY:
        pytest.skip(f"not applicable: {bench.backend} compiles inference only")
    _fused(bench, "gradients", mask, precision, drive=gradients.of_inputs, backward=True)


def _needs_sdpa() -> None:
    if not hasattr(functional, "scaled_dot_product_attention"):
        pytest.skip(f"torch {torch.__version__.split('a')[0]} has no scaled_dot_product_attention")


def _fused(bench: Bench, kind: str, mask: str, precision: str, **more: Any) -> None:
    _needs_sdpa()
    _attention(bench, kind, attention_kernels.fused(mask), mask, precision, **more)


def _attention(  # noqa: PLR0913 - attention has many sides
    bench: Bench,
    kind: str,
    compute: Callable[..., torch.Tensor],
    mask: str,
    precision: str,
    *,
    queries: Optional[int] = None,
    keys: Optional[int] = None,
    heads: int = _HEADS,
    backward: bool = False,
    **more: Any,
) -> None:
    """`heads` are those of key and value."""
    queries = queries or bench.size
    keys = keys or queries
    shape, other = (1, _HEADS, queries, _WIDTH), (1, heads, keys, _WIDTH)
    flops = attention_flops(1, _HEADS, queries, _WIDTH, mask == "causal", keys=keys)
    element = torch.empty(0, dtype=dtype(precision)).element_size()
    traffic = attention_traffic(1, _HEADS, queries, _WIDTH, element, keys=keys, key_heads=heads)
    told = "x".join(map(str, shape))
    bench.run(
        Work(
            load=f"attention.{kind}.{mask}",
            compute=compute,
            inputs=tuple(
                bench.random(*form, precision=precision, salt=salt)
                for salt, form in ((1, shape), (2, other), (3, other))
            ),
            shapes=told if shape == other else f"{told}, keys {'x'.join(map(str, other))}",
            precision=precision,
            model="attention",
            version="1",
            flops=int(flops * (1 + BACKWARD["attention"] * backward)),
            bytes=traffic * (1 + BACKWARD_TRAFFIC * backward),
            formula=ATTENTION_CAUSAL if mask == "causal" else ATTENTION,
            **{"reference": attention_kernels.formula(mask), **more},
        )
    )
