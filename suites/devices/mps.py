"""Apple GPUs."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

from suites import exits, timing

TIMER = "perf_counter"
STATISTIC = "median"
COLLECTIVE = "none"
ERRORS = {r"MPS backend out of memory": exits.OUT_OF_MEMORY, r"No space left on device": exits.OUT_OF_DISK}


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


def exact() -> str:
    """Where fp64 works: not here."""
    return "cpu"


def health() -> None:
    """A tiny exact computation."""
    import torch

    ones = torch.ones(64, 64, device="mps")
    if not bool((ones @ ones == 64).all()):
        raise AssertionError(f"{exits.NUMERICS}: 64x64 ones times ones is not 64 everywhere on the device")


def synchronise() -> None:
    """Wait for the device."""
    import torch

    torch.mps.synchronize()


def memory() -> int:
    """Bytes that the device recommends to use at most."""
    import torch

    return torch.mps.recommended_max_memory()


def reset_peak() -> None:
    """The device keeps no peak."""


def peak() -> int:
    """Bytes that are allocated now."""
    import torch

    return torch.mps.driver_allocated_memory()


def conditions() -> Dict[str, Any]:
    """Nothing of it can be read here."""
    return dict(timing.UNREAD)


def samples(call: Callable[[], Any], number: int) -> List[float]:
    """Seconds of each call."""
    return timing.host_samples(call, number, synchronise)


def observe() -> Tuple[Dict[str, str], Dict[str, str]]:
    """Nothing beyond its kind."""
    return {"gpu": "mps"}, {}
