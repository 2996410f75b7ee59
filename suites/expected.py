"""What each compile backend is expected to take of each load: data, with what was seen.

A backend that takes nothing where this table expects something has fallen back, and the case fails. Where the table
says 0, the backend is known to leave the load to torch: the case then proves that the fallback computes right.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Sequence, Tuple

_TABLE: Sequence[Tuple[str, str, int]] = (
    # backend, load (a glob), least number that is taken; the first row that fits holds
    ("eager", "*", 0),
    # OpenVINO makes no partition of a lone operation (seen with 2025.4.1, 2026.0.0 and 2026.4.1 on torch 2.13.0).
    ("openvino", "attention.sdpa*", 0),
    ("openvino", "matmul.square", 0),
    ("openvino", "matmul.skinny", 0),
    ("openvino", "elementwise.softmax", 0),
    ("openvino", "elementwise.layer_norm", 0),
    ("*", "*", 1),
)


def least(backend: str, load: str) -> int:
    """How many graphs, partitions or engines of a load the backend takes at least."""
    return next(count for name, loads, count in _TABLE if fnmatchcase(backend, name) and fnmatchcase(load, loads))
