"""An example of a device that torch itself does not know: what comes as a package of its own, by PrivateUse1.

Such a package calls `torch.utils.rename_privateuse1_backend("name")` and registers a `torch.name` that has
`is_available()`, `device_count()`, `synchronize()` and more (docs.pytorch.org, "Facilitating New Backend
Integration by PrivateUse1"). torch 2.5 and later load it by themselves, earlier ones after `import torch_name`.

To add your accelerator, copy this file as `yours.py`, give it a PREFERENCE below the processor's, and replace what the
device can say better itself: its error texts, its clocks and its timer. Nothing else needs to know of it.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from suites import exits, timing
from suites.devices import checks, names, products

PREFERENCE = 40
SEEN = ()
STATISTIC = "median"
COLLECTIVE = "none"
ACTIVITY = ""  # `PrivateUse1` where the package registers a tracer of its own
CONVOLUTIONS = "highest"
VARIABLES = ()
STICKY = r"device lost"
UNWRITTEN = ""
ERRORS = {
    r"out of memory": exits.OUT_OF_MEMORY,
    r"device lost": exits.DEVICE_LOST,
    r"No space left on device": exits.OUT_OF_DISK,
}
_UNNAMED = "privateuseone"

e4m3 = products.e4m3
tensor_float = products.untold
tf32 = products.tf32


def name() -> str:
    """What the backend was renamed to; torch's own word for it where nobody did."""
    import torch

    ask = getattr(torch._C, "_get_privateuse1_backend_name", None)  # noqa: SLF001 - torch has no other way to ask
    return str(ask()) if ask else _UNNAMED


def count() -> int:
    """Devices that its module in torch counts; 0 where nobody has registered one."""
    module = _module()
    if module is None or not _call(module, "is_available", False):
        return 0
    return int(_call(module, "device_count", 0))


def why_missing() -> str:
    """What is known about it."""
    if name() == _UNNAMED:
        return ": no package has registered a PrivateUse1 backend"
    if _module() is None:
        return f": the backend {name()} has registered no module torch.{name()}"
    return f": torch.{name()} counts no device"


def place() -> str:
    """Where tensors go."""
    return name()


def places() -> List[str]:
    """Where the tensors of each device go."""
    return [f"{name()}:{index}" for index in range(count())]


def exact() -> str:
    """Where fp64 surely works."""
    return "cpu"


def health(needed: int = 0) -> List[str]:
    """A tiny exact computation on each device."""
    for one in places():
        checks.exact_product(one)
        checks.enough(one, free_memory(), needed)
    return []


def deep_health(seconds: float) -> checks.Deep:
    """What is found under load."""
    import sys

    return checks.deep(sys.modules[__name__], seconds)


def title() -> str:
    """The name that its module prints."""
    return str(_call(_module(), "get_device_name", name()))


def synchronise() -> None:
    """Wait for the device."""
    _call(_module(), "synchronize", None)


def memory() -> int:
    """Bytes of device memory; 0 where its module does not tell."""
    return int(_call(_module(), "mem_get_info", (0, 0))[1])


def free_memory() -> Optional[int]:
    """Bytes that are free."""
    told = _call(_module(), "mem_get_info", None)
    return int(told[0]) if told else None


def clear() -> None:
    """Nothing is known that its libraries keep."""


def reset_peak() -> None:
    """Forget the peak."""
    _call(_module(), "reset_peak_memory_stats", None)


def peak() -> Optional[int]:
    """Bytes allocated at most since the reset, where its module tells."""
    told = _call(_module(), "max_memory_allocated", None)
    return None if told is None else int(told)


def lacking(precision: str) -> Optional[str]:
    """Not known: a small product tells."""
    if precision == "tf32":
        return f"not applicable: no switch for TensorFloat-32 is known of {name()}"
    return None if precision in {"fp16", "bf16", "fp8"} else ""


def units() -> Optional[int]:
    """Not known."""
    return None


def conditions(_: int = 0) -> Dict[str, Any]:
    """Nothing of it can be read."""
    return dict(timing.UNREAD)


def link(_: int = 0) -> Optional[Tuple[int, int, int, int]]:
    """None that can be read."""
    return None


def counters(_: int = 0) -> Dict[str, int]:
    """None."""
    return {}


def firmware() -> str:
    """Not known."""
    return ""


def timer() -> str:
    """The host's clock, around each call."""
    return "perf_counter"


def samples(call: Callable[[], Any], number: int) -> List[float]:
    """Seconds of each call."""
    return timing.host_samples(call, number, synchronise)


def observe() -> Tuple[Dict[str, str], Dict[str, str]]:
    """Its kind."""
    return {"gpu": names.short(title())}, {"gpu_name": title()}


def _module() -> Any:
    import torch

    return getattr(torch, name(), None)


def _call(module: Any, function: str, otherwise: Any) -> Any:
    """What a function of the backend's module returns, where it has it."""
    found = getattr(module, function, None)
    return found() if callable(found) else otherwise
