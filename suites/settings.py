"""Settings of the whole process that a case must leave as they were: what follows would be measured under others."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, Tuple

import torch


def _deterministic() -> Tuple[bool, bool]:
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def _set_deterministic(wanted: Tuple[bool, bool]) -> None:
    torch.use_deterministic_algorithms(wanted[0], warn_only=wanted[1])


_KEPT: Dict[str, Tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "gradients": (torch.is_grad_enabled, torch.set_grad_enabled),
    "threads": (torch.get_num_threads, torch.set_num_threads),
    "matmul precision": (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    "deterministic algorithms": (_deterministic, _set_deterministic),
    "working folder": (os.getcwd, os.chdir),
}
"""Setting -> how it is read, and how it is put back."""


def read() -> Dict[str, Any]:
    """The settings as they are."""
    return {name: get() for name, (get, _) in _KEPT.items()}


def put_back(before: Dict[str, Any]) -> List[str]:
    """Make them what they were; a line for each that was another one."""
    changed = {name: now for name, now in read().items() if now != before[name]}
    for name in changed:
        _KEPT[name][1](before[name])
    return [f"{name} from {before[name]} to {now}" for name, now in changed.items()]
