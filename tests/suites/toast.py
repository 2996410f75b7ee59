"""A device that torch does not know, as a PrivateUse1 backend in Python: what it computes, the processor computes."""

from typing import Any, Self

import torch
from torch.utils import backend_registration
from torch.utils._pytree import tree_map


class Module:
    """`torch.toast`: what docs.pytorch.org's PrivateUse1 tutorial asks of a backend's module."""

    is_available = staticmethod(lambda: True)
    is_initialized = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 1)
    current_device = staticmethod(lambda: 0)
    synchronize = staticmethod(lambda *_: None)
    manual_seed_all = staticmethod(lambda _: None)
    get_device_name = staticmethod(lambda *_: "Toaster 3000")
    mem_get_info = staticmethod(lambda *_: (1 << 44, 1 << 45))
    get_amp_supported_dtype = staticmethod(lambda: [torch.float16])
    _is_in_bad_fork = staticmethod(lambda: False)


class Toast(torch.Tensor):
    """A tensor that says it is on the device, around one of the processor."""

    raw: torch.Tensor

    @staticmethod
    def __new__(cls, raw: torch.Tensor) -> Self:
        make: Any = torch.Tensor._make_wrapper_subclass
        made: Self = make(cls, raw.size(), strides=raw.stride(), dtype=raw.dtype, device="toast:0")
        made.raw = raw
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return run(func, args, kwargs or {})

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.raw.__reduce_ex__(protocol)


def run(func: Any, args: Any, kwargs: Any) -> Any:
    """Call an operator on the processor; its results are where its inputs are, or where it was told to put them."""
    given: dict[int, Toast] = {}

    def bare(one: Any) -> Any:
        if not isinstance(one, Toast):
            return one
        given[id(one.raw)] = one
        return one.raw

    place = kwargs.get("device")
    there = torch.device(place).type if place is not None else "toast"
    args, kwargs = tree_map(bare, (args, {**kwargs, "device": "cpu"} if place is not None else kwargs))
    if func is torch.ops.aten.copy_.default and id(args[0]) not in given:
        there = "cpu"

    def dressed(one: Any) -> Any:
        if not isinstance(one, torch.Tensor) or there != "toast":
            return one
        return given[id(one)] if id(one) in given else Toast(one)

    return tree_map(dressed, func(*args, **kwargs))


def copy_from(source: Any, target: Any, _: bool = False) -> Any:
    """What `torch.tensor(..., device="toast")` asks for."""
    target.raw.copy_(getattr(source, "raw", source))
    return target


def register() -> torch.library.Library:
    """Make the backend known to torch; it is there as long as what is returned is kept."""
    backend_registration._setup_privateuseone_for_python_backend("toast", Module())
    library = torch.library.Library("aten", "IMPL")
    for name, operator in (
        ("empty.memory_format", torch.ops.aten.empty.memory_format),
        ("empty_strided", torch.ops.aten.empty_strided.default),
    ):
        library.impl(name, lambda *args, operator=operator, **kwargs: run(operator, args, kwargs), "PrivateUse1")
    library.impl("_copy_from", copy_from, "PrivateUse1")
    # It has no memory of its own, and what is loaded stays where it is.
    torch.serialization.register_package(
        5, lambda _: None, lambda storage, place: storage if place.startswith("toast") else None
    )
    return library
