"""Fingerprints: what is kept of a load's outputs, so that two cells can be compared operator by operator afterwards."""

from __future__ import annotations

import ctypes
import hashlib
import math
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

if TYPE_CHECKING:
    from torch import Tensor

    from suites.work import Labels

SAMPLE = 32  # values of each output, at even distances


def fingerprints(labels: Labels, outputs: Sequence[Tensor]) -> List[Dict[str, Any]]:
    """One for each output, with the keys of the bundle's format."""
    return [
        {
            "load": labels.load,
            "shapes": labels.shapes,
            "precision": labels.precision,
            "output": index,
            **_of(output.detach().cpu()),
        }
        for index, output in enumerate(outputs)
    ]


def _of(output: Tensor) -> Dict[str, Any]:
    values = output.double().flatten()
    finite = values[values.isfinite()]
    return {
        "dtype": str(output.dtype).replace("torch.", ""),
        "shape": list(output.shape),
        "sha256": hashlib.sha256(octets(output)).hexdigest(),
        "norm": _number(finite.norm()),
        "mean": _number(finite.mean()) if finite.numel() else 0.0,
        "largest": _number(finite.abs().max()) if finite.numel() else 0.0,
        "nonfinite": int(values.numel() - finite.numel()),
        "sample": [_finite(float(values[at])) for at in _places(values.numel())],
    }


def octets(tensor: Tensor) -> bytes:
    """The bytes of the elements; through the address, since an image may be without numpy."""
    here = tensor.detach().cpu().contiguous()
    return ctypes.string_at(here.data_ptr(), here.numel() * here.element_size()) if here.numel() else b""


def _places(number: int) -> List[int]:
    return sorted({at * number // SAMPLE for at in range(SAMPLE)}) if number else []


def _number(value: Tensor) -> float:
    """A sum of finite numbers can be too large for one; it is then the largest there is."""
    told = float(value)
    return told if math.isfinite(told) else math.copysign(1.7976931348623157e308, told)


def _finite(value: float) -> Optional[float]:
    return value if math.isfinite(value) else None
