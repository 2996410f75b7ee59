"""Devices: one module each, all of the same form. A new accelerator is one more module here, and nothing else.

A module of this folder is a device when it has a PREFERENCE: how early `auto` takes it.

    count()                how many devices this process can use
    why_missing()          what is known of it where there is none, beginning with `: `, or an empty text
    place(), places()      the `device=` that tensors go to, and that of each device
    exact()                the `device=` on which fp64 works, for references
    health(needed)         notes on the devices (texts); raises when a tiny exact computation is wrong, or when fewer
                           than `needed` bytes are free
    deep_health(seconds)   what is found under sustained load within so many seconds (checks.Deep)
    title()                the name that torch prints of the first device
    synchronise()          waits until the device has done all it was given
    memory(), free_memory()  bytes that the device has, and that are free (None: cannot be read)
    clear()                gives back what its libraries keep from one load to the next
    reset_peak(), peak()   bytes that were allocated at most since the reset (None: it keeps no peak)
    samples(call, n)       seconds of each of n calls
    conditions(index)      clock (MHz), temperature (C), power (W), throttle reasons now: None where it cannot be read;
                           `throttled`, where the device counts it: how long it was throttled so far, by reason
    link(index)            generation and width of its PCIe link, now and at most; None where it cannot be read
    counters(index)        errors that the hardware counts, by name; empty where they cannot be read
    lacking(precision)     why it cannot be asked for products in a precision; empty: it can; None: a small one tells
    UNWRITTEN              texts, beside products.UNWRITTEN, with which torch refuses what it lacks for this device
    e4m3()                 torch's name of the fp8 numbers that it multiplies
    tensor_float()         whether products of fp32 are TensorFloat-32's where torch's switch lets them be less exact;
                           None: nothing tells
    tf32()                 a context in which products of fp32 may be TensorFloat-32's; entered where it has them
    units()                compute units as torch counts them, None where it does not
    firmware()             its version, or an empty text
    timer(), STATISTIC     how `samples` is timed, and how its figures become one
    COLLECTIVE             the torch.distributed backend, `none` where there is none
    ACTIVITY               torch.profiler's activity that sees its kernels, or an empty text: it sees what the host did
    CONVOLUTIONS           how exact convolutions of fp32 are while products are `highest`
    VARIABLES              beginnings of the environment variables that its libraries heed
    ERRORS                 vendor error text (a regular expression) -> the word a failure begins with
    STICKY                 error texts after which every later call of the process fails, or an empty text
    SEEN                   the devices on which this module was really run; none: all it says is `never run on a device`
    ANSWERS_TO             another device's name under which torch knows it, where that is so
    observe()              (axes, facts) that only this kind of device knows

Its functions import torch when they are called.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import TYPE_CHECKING, List, Optional, Tuple

if TYPE_CHECKING:
    from types import ModuleType

NEVER_RUN = "never run on a device"


class DeviceMissing(Exception):  # noqa: N818 - reads as what happened
    """The device that was asked for is not there; the text says what was looked for and found."""


def adapter(name: str) -> ModuleType:
    """The module of a kind of device."""
    if name not in NAMES:
        raise DeviceMissing(f"no device is named {name}: {', '.join(NAMES)}")
    return importlib.import_module(f"{__name__}.{name}")


def pick(name: str, wanted: int = 1) -> ModuleType:
    """The adapter of the device asked for, or of the best that is there for `auto`. Raises DeviceMissing."""
    if name == "auto":
        return next(module for module in map(adapter, NAMES) if module.count() > 0)
    module = next((one for one in _answering(name) if one.count() > 0), adapter(name))
    there = module.count()
    if there == 0:
        raise DeviceMissing(f"{name} was asked for and torch sees no such device{module.why_missing()}")
    if name != "cpu" and there < wanted:
        raise DeviceMissing(f"{wanted} {name} devices were asked for and torch sees {there}")
    return module


def _answering(name: str) -> List[ModuleType]:
    """The device of the name, and those that torch knows under it: ROCm's torch calls its devices cuda."""
    return [adapter(name), *(one for one in map(adapter, NAMES) if getattr(one, "ANSWERS_TO", "") == name)]


def word_for(module: ModuleType, text: str) -> Optional[str]:
    """The word that a failure with this text of the device's library begins with, or None."""
    return next((word for pattern, word in module.ERRORS.items() if re.search(pattern, text)), None)


def sticky(module: ModuleType, text: str) -> bool:
    """Whether an error's text is one after which the process can use the device no more: what follows is its echo."""
    return bool(module.STICKY) and re.search(module.STICKY, text) is not None


def experience(module: ModuleType) -> str:
    """On what the adapter was really run."""
    return ", ".join(module.SEEN) or NEVER_RUN


def _found() -> Tuple[str, ...]:
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    devices = [name for name in names if hasattr(modules[name], "PREFERENCE")]
    return tuple(sorted(devices, key=lambda name: int(modules[name].PREFERENCE)))


NAMES = _found()
"""In the order in which `auto` prefers them."""
