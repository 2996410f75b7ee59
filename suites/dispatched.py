"""The eager pass: each operator that a step calls, where its tensors lay, what it read, wrote and computed.

One step, under a dispatch mode: exact, and the same on every device. What a compiled graph does inside is
not seen here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Tuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from suites import scopes

FORMULA = "torch.utils.flop_counter"


@dataclass
class Seen:
    """What a step did; `costs` has, by scope, operations and bytes of one call. An empty `formula`: none counted."""

    flops: int = 0
    formula: str = ""
    costs: Dict[str, Tuple[int, int]] = field(default_factory=dict)
    elsewhere: List[str] = field(default_factory=list)


def seen(step: Callable[[], Any], asked: str) -> Seen:
    """Call a step once and tell its operators; `elsewhere` are those with a tensor on another device than `asked`."""
    formulas = _formulas()
    found = Seen(formula=FORMULA if formulas else "")
    with _Watch(found, torch.device(asked).type, formulas):
        step()
    return found


class _Watch(TorchDispatchMode):
    def __init__(self, found: Seen, asked: str, formulas: Dict[Any, Callable[..., Any]]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._found, self._asked, self._formulas = found, asked, formulas

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Else torch imports all of its compiler at the first operator: seconds, and nothing is compiled here."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        operator = func.name().split(".", 1)[0]
        tensors = list(_tensors([*args, *kwargs.values()]))
        results = list(_tensors([result]))
        # A number travels as a tensor without dimensions, and lies on the processor wherever the others are.
        places = {one.device.type for one in (*tensors, *results) if one.dim()}
        for place in sorted(places - {self._asked}):
            told = f"{operator} on {place}"
            if told not in self._found.elsewhere:
                self._found.elsewhere.append(told)
        flops = self._flops(func, args, kwargs, result)
        moved = sum(one.numel() * one.element_size() for one in (*tensors, *results))
        direct = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor)]
        dtypes = [str(one.dtype).replace("torch.", "") for one in direct]
        self._found.flops += flops
        self._found.costs[scopes.named(operator, [one.shape for one in direct], dtypes)] = (flops, moved)
        return result

    def _flops(self, func: Any, args: Any, kwargs: Any, result: Any) -> int:
        packet = func._overloadpacket  # noqa: SLF001 - what torch's own counter looks formulas up by
        formula = self._formulas.get(packet)
        name = str(packet).rsplit(".", 1)[-1]
        if formula is None and "_for_cpu" in name:  # of the backward pass it stands within the name
            formula = self._formulas.get(getattr(torch.ops.aten, name.replace("_for_cpu", ""), None))
        if formula is None:
            return 0
        try:
            return int(formula(*args, **kwargs, out_val=result))
        except TypeError:  # a formula that knows fewer arguments than this form of the operator has
            return 0


def _formulas() -> Dict[Any, Callable[..., Any]]:
    try:
        from torch.utils.flop_counter import flop_registry
    except ImportError:  # torch 1.13
        return {}
    return dict(flop_registry)


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
