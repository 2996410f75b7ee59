"""Units in the last place: how far a result lies from the nearest value that its own dtype can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Sequence

import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Distance:
    """In units in the last place: the largest, what 99 of 100 elements stay within; and the share of elements at 0."""

    largest: float
    p99: float
    exact: float


NONE = Distance(largest=0.0, p99=0.0, exact=1.0)


def distance(result: Sequence[Tensor], exact: Sequence[Tensor]) -> Distance:
    """Over all elements of all tensors; `exact` in fp64, rounded to each result's dtype before it is compared.

    A unit of a value x is 2^floor(log2 |x|) times the dtype's epsilon, that of its smallest normal number below that.
    """
    far = torch.cat([_units(got.detach(), true).flatten() for got, true in zip(result, exact)])  # noqa: B905 - Python 3.9
    if far.numel() == 0:
        return NONE
    place = max(1, -(-99 * far.numel() // 100))
    return Distance(
        largest=float(far.max()),
        p99=float(far.kthvalue(place).values),
        exact=float((far == 0).double().mean()),
    )


def _units(got: Tensor, true: Tensor) -> Tensor:
    info = torch.finfo(got.dtype)
    # The reference is at most as far away as the device that has fp64.
    near = true.to(got.dtype).to(true)
    exponent = torch.frexp(near.abs().clamp(min=info.tiny)).exponent - 1
    unit = torch.ldexp(torch.full_like(near, info.eps), exponent)
    units: Tensor = (got.to(true) - near).abs() / unit
    return units.cpu()
