"""Numerics: is a result as near to the fp64 reference as its precision allows?

The rule is that of torch's own compiler tests: rmse(fp64, result) <= m * rmse(fp64, plain) + tolerance / 10, with
`plain` the same computation at the same precision without the compiler. Without a compiler, `plain` is the reference
rounded to the precision: what no computation at that precision can beat. The ratio is kept as a metric, since a
pass would hide an error that doubles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Sequence

from suites import ulps
from suites.exits import NUMERICS
from suites.precisions import MULTIPLIER, PRECISIONS, tolerance

if TYPE_CHECKING:
    import torch

_FEW = 1000  # elements under which chance rules the rmse, and the multiplier is the larger one


@dataclass(frozen=True)
class Error:
    """Errors against fp64, in units of the reference's own size: of the result, of the plain one, what is allowed.

    `largest` is the largest difference of one element, `distance` the same errors in units in the last place.
    `nonfinite` counts the result's values that are no numbers; `lost` says which values are none, in whichever of the
    three: then there is no error to tell, and all figures of it are 0.
    """

    result: float
    plain: float
    allowed: float
    rounding: float
    largest: float
    distance: ulps.Distance
    nonfinite: int = 0
    lost: str = ""

    @property
    def ratio(self) -> float:
        """The result's error over that of the plain computation, or over what rounding alone does if that is more.

        A plain result can be exact by chance; a ratio to it would say nothing.
        """
        return self.result / max(self.plain, self.rounding)


class TooFarError(AssertionError):
    """A result is finite, and farther from the fp64 reference than its precision allows: `error` says how far."""

    def __init__(self, text: str, error: Error) -> None:
        super().__init__(text)
        self.error = error


def compare(
    result: Sequence[torch.Tensor],
    plain: Sequence[torch.Tensor],
    exact: Sequence[torch.Tensor],
    *,
    precision: str,
    matmul: str,
) -> Error:
    """The worst error over the tensors of a result, whether or not it is allowed; AssertionError: misshapen."""
    if len(result) != len(exact):
        raise AssertionError(f"{NUMERICS}: {len(result)} tensors came back where {len(exact)} were expected")
    for got, true in zip(result, exact):  # noqa: B905 - strict= is not in Python 3.9
        if got.shape != true.shape:
            raise AssertionError(
                f"{NUMERICS}: the result has shape {tuple(got.shape)}, {tuple(true.shape)} was expected"
            )
    lost = _lost(result, plain, exact)
    if lost:
        nonfinite = sum(int((~one.isfinite()).sum()) for one in result)
        return Error(0.0, 0.0, 0.0, _rounding(precision), 0.0, ulps.NONE, nonfinite, lost)
    sizes = [_rms(one) for one in exact]
    floor = max(sizes, default=0.0) * 1e-3  # a gradient that is zero by symmetry has no size of its own
    errors = [
        _error(got, near, true, max(size, floor) or 1.0, precision, matmul)
        for got, near, true, size in zip(result, plain, exact, sizes)  # noqa: B905 - strict= is not in Python 3.9
    ]
    worst = max(errors, key=lambda error: error.result / error.allowed)
    return replace(worst, distance=ulps.distance(result, exact))


def hold_types(result: Sequence[torch.Tensor], plain: Sequence[torch.Tensor]) -> None:
    """AssertionError when a compiler gives other types than the plain computation: a wider one hides in every error."""
    types = [[str(one.dtype).replace("torch.", "") for one in tensors] for tensors in (result, plain)]
    if types[0] != types[1]:
        raise AssertionError(f"{NUMERICS}: the result is {', '.join(types[0])}, {', '.join(types[1])} was expected")


def hold(error: Error, precision: str) -> None:
    """AssertionError when an error is larger than is allowed, or nothing finite is there to have one."""
    if error.lost:
        raise AssertionError(f"{NUMERICS}: {error.lost}")
    if error.result > error.allowed:
        raise TooFarError(
            f"{NUMERICS}: error against fp64 is {error.result:.2e} of the result's size, {error.allowed:.2e} is allowed"
            f" ({precision}, {error.ratio:.1f} times the plain computation's {error.plain:.2e})",
            error,
        )


def _lost(result: Sequence[torch.Tensor], plain: Sequence[torch.Tensor], exact: Sequence[torch.Tensor]) -> str:
    """Which values are no numbers, of the result or of the two that it is held against; an empty text: all are."""
    for what, tensors in (("", result), (" of the plain computation", plain), (" of the fp64 reference", exact)):
        for values in tensors:
            number = int((~values.isfinite()).sum())
            if number:
                return f"{number} of {values.numel()} values{what} are not finite"
    return ""


def _error(
    got: torch.Tensor, near: torch.Tensor, true: torch.Tensor, size: float, precision: str, matmul: str
) -> Error:
    multiplier = 3.0 if got.numel() < _FEW else MULTIPLIER[PRECISIONS[precision].rule]
    plain = _rms(near.to(true) - true) / size
    return Error(
        result=_rms(got.to(true) - true) / size,
        plain=plain,
        allowed=multiplier * plain + tolerance(precision, matmul) / 10,
        rounding=_rounding(precision),
        largest=float((got.to(true) - true).abs().max()) / size if got.numel() else 0.0,
        distance=ulps.NONE,
    )


def _rounding(precision: str) -> float:
    """The rmse of rounding values of size 1."""
    return float(2.0 ** -(PRECISIONS[precision].bits + 1) / 3**0.5)


def _rms(values: torch.Tensor) -> float:
    return math.sqrt(float(values.double().square().mean())) if values.numel() else 0.0
