"""Attention: by its formula, by torch's fused call, and by each of the kernels under that call where it is here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional, Tuple

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
from suites.loads import attention_kernels, capabilities
from suites.precisions import dtype
from suites.work import Work

if TYPE_CHECKING:
    from suites.bench import Bench

_HEADS, _WIDTH = 4, 64
LATER = pytest.mark.compiled_from("standard")
STANDARD = pytest.mark.profile("standard")
KERNELS = pytest.mark.parametrize(
    ("kernel", "precision"),
    [
        ("math", "fp32"),
        ("flash", "bf16"),
        ("flash", "fp16"),
        ("efficient", "fp32"),
        ("cudnn", "bf16"),
    ],
)
LENGTHS = pytest.mark.parametrize(("queries", "keys"), [(1, 333), (100, 77), (129, 65), (65, 129)])
HALF_TOO = pytest.mark.parametrize("precision", ["fp32", "bf16", pytest.param("fp16", marks=STANDARD)])
"""Flash and cuDNN's kernels know nothing else: in fp32 alone they would never see what a case is about."""


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
@KERNELS
def test_kernel(bench: Bench, kernel: str, precision: str, mask: str) -> None:
    """Each kernel that the call can choose, forced."""
    _needs_sdpa()
    with attention_kernels.forced(bench, kernel, precision):
        _fused(bench, kernel, mask, precision)


@LATER
@pytest.mark.parametrize("mask", ["full", "causal"])
@KERNELS
def test_kernel_gradients(bench: Bench, kernel: str, precision: str, mask: str) -> None:
    """The backward pass of each kernel that has one."""
    _needs_sdpa()
    _needs_training(bench)
    with attention_kernels.forced(bench, kernel, precision):
        step = gradients.of_inputs(attention_kernels.fused(mask), None)
        _needs_kernel(bench, kernel, precision, step, _tiles(bench, precision, 128, 128))
        _fused(bench, f"{kernel}.gradients", mask, precision, drive=gradients.of_inputs, backward=True)


@LATER
@LENGTHS
@pytest.mark.parametrize("kernel", ["flash", "efficient", "cudnn"])
def test_kernel_lengths(bench: Bench, kernel: str, queries: int, keys: int) -> None:
    """Lengths that differ, in each kernel by itself: by default only the first of them that is here is chosen."""
    _needs_sdpa()
    with attention_kernels.forced(bench, kernel, "bf16"):
        _needs_kernel(bench, kernel, "bf16", attention_kernels.fused("full"), _tiles(bench, "bf16", queries, keys))
        _fused(bench, f"{kernel}.lengths", "full", "bf16", queries=queries, keys=keys)


@LATER
@HALF_TOO
@pytest.mark.parametrize("groups", [2, pytest.param(4, marks=STANDARD)])
def test_grouped(bench: Bench, groups: int, precision: str) -> None:
    """Several query heads share a key and a value."""
    _needs_sdpa()
    _attention(
        bench,
        f"grouped{groups}",
        attention_kernels.grouped(_HEADS // groups),
        "causal",
        precision,
        heads=_HEADS // groups,
        reference=attention_kernels.grouped_exact(_HEADS // groups),
    )


@LATER
@HALF_TOO
@LENGTHS
def test_lengths(bench: Bench, queries: int, keys: int, precision: str) -> None:
    """Lengths that differ, and that no tile divides: pytorch#191937 was wrong for some, and silent."""
    _fused(bench, "lengths", "full", precision, queries=queries, keys=keys)


@LATER
@HALF_TOO
@pytest.mark.parametrize("queries", [63, 129])
def test_causal_lengths(bench: Bench, queries: int, precision: str) -> None:
    """The same under a mask, where both lengths agree: releases of torch differ on which corner it is drawn from."""
    _fused(bench, "lengths", "causal", precision, queries=queries, keys=queries)


@LATER
@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("precision", ["fp32", pytest.param("bf16", marks=STANDARD)])
def test_gradients(bench: Bench, mask: str, precision: str) -> None:
    """The gradients of query, key and value."""
    _needs_training(bench)
    _fused(bench, "gradients", mask, precision, drive=gradients.of_inputs, backward=True)


def _needs_sdpa() -> None:
    if not hasattr(functional, "scaled_dot_product_attention"):
        pytest.skip(f"torch {torch.__version__.split('a')[0]} has no scaled_dot_product_attention")


def _needs_training(bench: Bench) -> None:
    if bench.backend in INFERENCE_ONLY:
        pytest.skip(f"not applicable: {bench.backend} compiles inference only")


def _needs_kernel(
    bench: Bench, kernel: str, precision: str, step: Callable[..., Any], tiles: Tuple[torch.Tensor, ...]
) -> None:
    """A skip where the kernel takes a plain tile, and neither gradients nor lengths of this kind."""
    try:
        step(*tiles)
    except RuntimeError as error:
        if not attention_kernels.lacks(bench.device, error):
            raise
        text = str(error).strip().splitlines()[0]
        pytest.skip(f"not applicable: no {kernel} attention of this kind for {precision} here: {text[:200]}")


def _tiles(bench: Bench, precision: str, queries: int, keys: int) -> Tuple[torch.Tensor, ...]:
    return tuple(bench.random(1, _HEADS, length, _WIDTH, precision=precision) for length in (queries, keys, keys))


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
    lacking = capabilities.lacking(bench, precision)
    if lacking:
        pytest.skip(lacking)
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
