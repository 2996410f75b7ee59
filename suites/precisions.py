"""Precisions: what a load may be computed in, and how exact each is. Whole names stand in metric rows.

`fp32` is what a load asks for; where it has products, its rows say what was in force: `fp32-ieee`, `tf32` (products in
TensorFloat-32, which a load can also ask for), or `fp32-high` and `fp32-medium` where torch's switch allows less exact
products and nothing tells which the device made. `fp8` is e4m3 into a product that is summed in fp32 and comes out as
bf16.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Optional, Tuple

import torch


@dataclass(frozen=True)
class Precision:
    """`dtype` of the inputs, by torch's name; `rule` is the row of tolerances, `bits` the fraction's of a result."""

    dtype: str
    rule: str
    bits: int


PRECISIONS: Dict[str, Precision] = {
    "fp64": Precision("float64", "fp64", 52),
    "fp32": Precision("float32", "fp32", 23),
    "fp32-ieee": Precision("float32", "fp32", 23),
    "fp32-high": Precision("float32", "fp32", 23),
    "fp32-medium": Precision("float32", "fp32", 23),
    "tf32": Precision("float32", "tf32", 23),
    "fp16": Precision("float16", "fp16", 10),
    "bf16": Precision("bfloat16", "bf16", 7),
    "fp8": Precision("float8_e4m3fn", "bf16", 7),
}
MULTIPLIER: Dict[str, float] = {"fp64": 2.0, "fp32": 2.0, "tf32": 2.0, "fp16": 3.0, "bf16": 3.0}
"""How many times the plain computation's error is allowed: torch 2.14.1, `_dynamo/utils.py:same`."""

TOLERANCE: Dict[Tuple[str, str], float] = {
    # How precise a product of fp32 may be: all of it, TensorFloat-32 (10 bits) or bfloat16 (7 bits).
    ("fp32", "highest"): 1e-4,
    ("fp32", "high"): 1e-2,
    ("fp32", "medium"): 1e-1,
    ("tf32", "*"): 1e-2,
    ("fp64", "*"): 1e-10,
    ("fp16", "*"): 1e-2,
    ("bf16", "*"): 5e-2,
}


def dtype(precision: str) -> torch.dtype:
    """The dtype that inputs have in a precision; KeyError for a name that is none, AttributeError if torch lacks it."""
    made: torch.dtype = getattr(torch, PRECISIONS[precision].dtype)
    return made


def result_dtype(precision: str) -> torch.dtype:
    """The dtype that results have: products of fp8 numbers come out as bf16."""
    return torch.bfloat16 if precision == "fp8" else dtype(precision)


def lacking(precision: str) -> str:
    """Why this torch cannot compute in a precision, or an empty text. What the device can is its adapter's to say."""
    name = PRECISIONS[precision].dtype
    return "" if hasattr(torch, name) else f"this build lacks it: torch {torch.__version__} has no {name}"


def in_force(precision: str, matmul: str, tensor_float: Optional[bool]) -> str:
    """What products that were asked for in a precision are made in, by torch's switch for products of fp32.

    `tensor_float` says whether the device has TensorFloat-32, None where nothing tells it.
    """
    if precision != "fp32":
        return precision
    if matmul == "highest" or tensor_float is False:
        return "fp32-ieee"
    return "tf32" if tensor_float and matmul == "high" else f"fp32-{matmul}"


def tolerance(precision: str, matmul: str) -> float:
    """What is allowed beside the plain computation's error, in units of the result's size, times ten."""
    rule = PRECISIONS[precision].rule
    found = TOLERANCE.get((rule, matmul))
    return TOLERANCE[rule, "*"] if found is None else found
