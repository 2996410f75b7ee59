"""The ways to compute attention: the formula, torch's fused call, and the kernels under it, one at a time."""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, ContextManager, Iterator, NoReturn

import pytest
import torch
from torch.nn import functional

from suites.devices import products, sticky

if TYPE_CHECKING:
    from types import ModuleType

    from suites.bench import Bench

Attend = Callable[..., torch.Tensor]
_NAMES = {
    "math": "MATH",
    "flash": "FLASH_ATTENTION",
    "efficient": "EFFICIENT_ATTENTION",
    "cudnn": "CUDNN_ATTENTION",
}

_OF_GPUS = {"efficient": "memory-efficient", "cudnn": "cuDNN's"}
"""The kernels that are written for GPUs: on a processor torch chooses between flash and the formula."""

_NONE = r"No viable backend|No available kernel|derivative for \S+ is not implemented"
"""What torch says that has none of the kernels which are allowed (github.com/lucidrains/x-transformers/issues/143)."""


def by_formula(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """softmax(q k^T / sqrt(d)) v."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return torch.softmax(scores, dim=-1) @ value


def by_formula_causal(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """The same, each position seeing only itself and those before it."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    ahead = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
    return torch.softmax(scores.masked_fill(ahead, float("-inf")), dim=-1) @ value


def _fused_full(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(query, key, value)


def _fused_causal(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True)


def formula(mask: str) -> Attend:
    """The formula, under a mask (`full`, `causal`)."""
    return by_formula_causal if mask == "causal" else by_formula


def fused(mask: str) -> Attend:
    """Torch's own call, under a mask."""
    return _fused_causal if mask == "causal" else _fused_full


def grouped(heads: int) -> Attend:
    """Torch's own call, causal, with `heads` of key and value for more of the query; repeated where torch cannot."""
    if "enable_gqa" not in str(functional.scaled_dot_product_attention.__doc__):  # since torch 2.5

        def repeat(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
            times = query.shape[1] // heads
            return _fused_causal(query, key.repeat_interleave(times, 1), value.repeat_interleave(times, 1))

        return repeat

    def share(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        call: Any = functional.scaled_dot_product_attention
        result: torch.Tensor = call(query, key, value, is_causal=True, enable_gqa=True)
        return result

    return share


def grouped_exact(heads: int) -> Attend:
    """The formula with key and value repeated."""

    def repeat(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        times = query.shape[1] // heads
        return by_formula_causal(query, key.repeat_interleave(times, 1), value.repeat_interleave(times, 1))

    return repeat


def lacks(device: ModuleType, error: RuntimeError) -> bool:
    """Whether an error says that torch has no such attention for the device; of a broken device none does."""
    text = str(error)
    return products.unwritten(device, text) or (not sticky(device, text) and re.search(_NONE, text) is not None)


@contextmanager
def forced(bench: Bench, kernel: str, precision: str) -> Iterator[None]:
    """Only this kernel is allowed inside; a skip where this torch or this device has none of it for the precision."""
    with _only(bench, kernel):
        tile = bench.random(1, 4, 128, 64, precision=precision)
        try:
            functional.scaled_dot_product_attention(tile, tile, tile)
        except RuntimeError as error:
            if not lacks(bench.device, error):
                raise
            text = str(error).strip().splitlines()[0]
            pytest.skip(
                _elsewhere(bench, kernel) or f"not applicable: no {kernel} attention for {precision} here: {text[:200]}"
            )
        yield


def _elsewhere(bench: Bench, kernel: str) -> str:
    """Why a kernel that torch refuses cannot be missed on this device, or an empty text."""
    if kernel not in _OF_GPUS or bench.device.place() != "cpu":
        return ""
    return f"not applicable: {_OF_GPUS[kernel]} attention is for GPUs, and this device is a processor"


def _only(bench: Bench, kernel: str) -> ContextManager[Any]:
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:  # until torch 2.2
        return _only_before_2_3(bench, kernel)
    if not hasattr(SDPBackend, _NAMES[kernel]):
        _skip_unknown(bench, kernel)
    return sdpa_kernel(getattr(SDPBackend, _NAMES[kernel]))


def _skip_unknown(bench: Bench, kernel: str) -> NoReturn:
    pytest.skip(
        _elsewhere(bench, kernel) or f"this build lacks it: torch {torch.__version__} has no {kernel} attention"
    )


def _only_before_2_3(bench: Bench, kernel: str) -> ContextManager[Any]:
    if kernel == "cudnn":
        _skip_unknown(bench, kernel)
    older: Any = torch.backends.cuda.sdp_kernel
    made: ContextManager[Any] = older(
        enable_flash=kernel == "flash", enable_math=kernel == "math", enable_mem_efficient=kernel == "efficient"
    )
    return made
