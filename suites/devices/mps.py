"""Apple GPUs."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from suites import exits, timing
from suites.devices import checks, products

PREFERENCE = 30
SEEN = ()
STATISTIC = "median"
COLLECTIVE = "none"
ACTIVITY = ""
CONVOLUTIONS = "highest"
VARIABLES = ("PYTORCH_MPS_",)
STICKY = r"Ignored \(for causing prior/excessive GPU errors"
UNWRITTEN = (
    # github.com/pytorch/pytorch/issues/148420
    r"to the MPS backend but it does not have support for that dtype|"
    # github.com/pytorch/torchchat/issues/616, github.com/oobabooga/textgen/issues/5216
    r"MPS BFloat16 is only supported on MacOS|BFloat16 is not supported on MPS"
)
ERRORS = {
    r"MPS backend out of memory|Insufficient Memory": exits.OUT_OF_MEMORY,
    r"Caused GPU Timeout Error|GPU Hang": exits.HANG,
    r"Caused GPU Address Fault|Discarded \(victim of GPU error|Ignored \(for causing prior": exits.DEVICE_LOST,
    r"No space left on device": exits.OUT_OF_DISK,
}

e4m3 = products.e4m3
tensor_float = products.untold
tf32 = products.tf32


def count() -> int:
    """One, where torch can use it."""
    import torch

    return int(hasattr(torch.backends, "mps") and torch.backends.mps.is_available())


def why_missing() -> str:
    """What is known about it."""
    import torch

    built = hasattr(torch.backends, "mps") and torch.backends.mps.is_built()
    return "" if built else f": torch {torch.__version__} is built without it"


def place() -> str:
    """Where tensors go."""
    return "mps"


def places() -> List[str]:
    """The one device."""
    return ["mps"] if count() else []


def exact() -> str:
    """Where fp64 works: not here."""
    return "cpu"


def health(needed: int = 0) -> List[str]:
    """A tiny exact computation."""
    checks.exact_product("mps")
    checks.enough("mps", free_memory(), needed)
    return []


def deep_health(seconds: float) -> checks.Deep:
    """What is found under load."""
    import sys

    return checks.deep(sys.modules[__name__], seconds)


def title() -> str:
    """It has no name of its own in torch."""
    return "mps"


def synchronise() -> None:
    """Wait for the device."""
    import torch

    torch.mps.synchronize()


def memory() -> int:
    """Bytes that the device recommends to use at most."""
    import torch

    return torch.mps.recommended_max_memory()


def free_memory() -> Optional[int]:
    """What is left of the bytes that the device recommends."""
    import torch

    return max(0, memory() - torch.mps.driver_allocated_memory())


def clear() -> None:
    """Nothing is known that its libraries keep."""


def reset_peak() -> None:
    """The device keeps no peak."""


def peak() -> Optional[int]:
    """The device keeps no peak."""
    return None


def lacking(precision: str) -> Optional[str]:
    """What it has depends on the system and on torch, which says so."""
    if precision == "tf32":
        return "not applicable: torch has no switch for TensorFloat-32 on mps"
    return None if precision in {"fp16", "bf16", "fp8"} else ""


def units() -> Optional[int]:
    """Cores of the device: torch tells them since 2.8, where it does."""
    import torch

    ask = getattr(getattr(torch.backends, "mps", None), "get_core_count", None)
    return int(ask()) if callable(ask) else None


def conditions(_: int = 0) -> Dict[str, Any]:
    """Nothing of it can be read without the system's administrator."""
    return dict(timing.UNREAD)


def link(_: int = 0) -> Optional[Tuple[int, int, int, int]]:
    """None that can be read."""
    return None


def counters(_: int = 0) -> Dict[str, int]:
    """None."""
    return {}


def firmware() -> str:
    """It is the system's."""
    return ""


def timer() -> str:
    """The host's clock, around each call."""
    return "perf_counter"


def samples(call: Callable[[], Any], number: int) -> List[float]:
    """Seconds of each call."""
    return timing.host_samples(call, number, synchronise)


def observe() -> Tuple[Dict[str, str], Dict[str, str]]:
    """Nothing beyond its kind."""
    return {"gpu": "mps"}, {}
