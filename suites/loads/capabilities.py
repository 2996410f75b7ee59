"""Capabilities: whether this torch and device compute in a precision. What they should and do not is a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Tuple

import torch

from suites import precisions

if TYPE_CHECKING:
    from suites.bench import Bench

_LEAST_CUDA = {"tf32": (8, 0), "bf16": (8, 0), "fp8": (8, 9)}
"""Compute capability from which NVIDIA's devices have the precision in their matrix units."""


def lacking(bench: Bench, precision: str) -> str:
    """Why products in a precision cannot be asked of this device, or an empty text."""
    missing = precisions.lacking(precision)
    if missing:
        return missing
    place = bench.device.place()
    if precision == "tf32" and (place != "cuda" or torch.version.hip):
        return f"not applicable: {'ROCm' if torch.version.hip else place} has no switch for TensorFloat-32"
    if place == "cuda" and not torch.version.hip and precision in _LEAST_CUDA:
        return _too_old(_LEAST_CUDA[precision], precision)
    if precision in ("fp16", "bf16", "fp8"):
        return _refused(bench, precision)
    return ""


def scaled_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The product of e4m3 numbers, the right side transposed, each with a scale, as bf16."""
    half, quarter = (torch.tensor(scale, device=left.device) for scale in (0.5, 0.25))
    product: Any = torch._scaled_mm  # noqa: SLF001 - torch has no public call for it
    made = product(left, right.t(), scale_a=half, scale_b=quarter, out_dtype=torch.bfloat16)
    result: torch.Tensor = made[0] if isinstance(made, tuple) else made  # a pair until torch 2.4
    return result


def scaled_product_exact(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The same of the numbers that the e4m3 ones stand for."""
    return (left @ right.t()) * 0.125


def _too_old(least: Tuple[int, int], precision: str) -> str:
    has = torch.cuda.get_device_capability()
    if has >= least:
        return ""
    need = ".".join(map(str, least))
    return f"not applicable: {precision} needs compute capability {need}, this device has {'.'.join(map(str, has))}"


def _refused(bench: Bench, precision: str) -> str:
    """What a device without a table says to a small product."""
    if precision == "fp8" and not hasattr(torch, "_scaled_mm"):
        return f"this build lacks it: torch {torch.__version__} has no product of fp8 numbers"
    tile = bench.random(16, 16, precision=precision)
    try:
        scaled_product(tile, tile) if precision == "fp8" else tile @ tile
    except (RuntimeError, TypeError) as error:  # the call's form changed between releases, as what is private may
        return f"this build lacks it: {(str(error).strip().splitlines() or [type(error).__name__])[0][:200]}"
    return ""
