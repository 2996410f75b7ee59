"""Devices: one module each, all of the same form. A new accelerator is one more module here.

    count()               how many devices this process can use
    place()               the `device=` that tensors go to
    exact()               the `device=` on which fp64 works, for references
    health()              raises when a tiny exact computation is wrong
    synchronise()         waits until the device has done all it was given
    memory()              bytes that the device has
    reset_peak(), peak()  bytes that were allocated at most since the reset
    samples(call, n)      seconds of each of n calls
    conditions()          clock (MHz), temperature (C), power (W), throttle reasons now: None where it cannot be read
    TIMER, STATISTIC      how `samples` is timed, and how its figures become one
    COLLECTIVE            the torch.distributed backend
    ERRORS                vendor error text (a regular expression) -> the word a failure begins with
    observe()             (axes, facts) that only this kind of device knows

Its functions import torch when they are called.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from types import ModuleType

NAMES = ("cuda", "xpu", "mps", "cpu")
"""In the order in which `auto` prefers them."""


class DeviceMissing(Exception):  # noqa: N818 - reads as what happened
    """The device that was asked for is not there; the text says what was looked for and found."""


def adapter(name: str) -> ModuleType:
    """The module of a kind of device."""
    if name not in NAMES:
        raise DeviceMissing(f"no device is named {name}: {', '.join(NAMES)}")
    return importlib.import_module(f"suites.devices.{name}")


def pick(name: str, wanted: int = 1) -> ModuleType:
    """The adapter of the device asked for, or of the best that is there for `auto`. Raises DeviceMissing."""
    if name == "auto":
        return next(module for module in map(adapter, NAMES) if module.count() > 0)
    module = adapter(name)
    there = module.count()
    if there == 0:
        raise DeviceMissing(f"{name} was asked for and torch sees no such device{module.why_missing()}")
    if name != "cpu" and there < wanted:
        raise DeviceMissing(f"{wanted} {name} devices were asked for and torch sees {there}")
    return module


def word_for(module: ModuleType, text: str) -> Optional[str]:
    """The word that a failure with this text of the device's library begins with, or None."""
    return next((word for pattern, word in module.ERRORS.items() if re.search(pattern, text)), None)
