"""Capabilities: whether this torch and device compute in a precision. What they should and do not is a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from suites import precisions
from suites.devices import products

if TYPE_CHECKING:
    from suites.bench import Bench


def lacking(bench: Bench, precision: str) -> str:
    """Why products in a precision cannot be asked of this device, or an empty text."""
    missing = precisions.lacking(precision)
    if missing:
        return missing
    told = bench.device.lacking(precision)
    return _refused(bench, precision) if told is None else str(told)


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


def _refused(bench: Bench, precision: str) -> str:
    """What this torch says to a small product on a device that cannot be asked: raises all but a known refusal."""
    if precision == "fp8":
        for needed in ("_scaled_mm", bench.device.e4m3()):
            if not hasattr(torch, needed):
                return f"this build lacks it: torch {torch.__version__} has no {needed}"
    try:
        tile = bench.random(16, 16, precision=precision)
        scaled_product(tile, tile) if precision == "fp8" else tile @ tile
        bench.device.synchronise()
    except (RuntimeError, TypeError) as error:  # MPS refuses a dtype by a TypeError
        if not products.unwritten(bench.device, str(error)):
            raise
        return f"this build lacks it: {str(error).strip().splitlines()[0][:200]}"
    return ""
