"""The ranks taken together: what they tell each other, and times by the rules of `timing` that are the slowest rank's.

Each rank takes part in each decision with the same numbers: one that stopped to sample alone would leave the rest
waiting for it.
"""

from __future__ import annotations

import itertools
import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

import torch
import torch.distributed as dist

from suites import timing

if TYPE_CHECKING:
    from types import ModuleType


class Group:
    """One rank's side of it; it answers to `timing` like a device.

    What ranks tell goes through the store they met in, not through what is measured: that may lose or change it.
    """

    def __init__(self, store: Any, rank: int, ranks: int, device: ModuleType, place: torch.device) -> None:
        self.rank, self.ranks = rank, ranks
        self.STATISTIC, self.timer = device.STATISTIC, device.timer
        self.device = device
        self._place = place
        self._store = store
        self._turns = itertools.count()
        self._prepare: Callable[[], Any] = _nothing

    def told(self, own: Any) -> List[Any]:
        """What each rank has to say, in their order; values of JSON. Each waits for all."""
        turn = next(self._turns)
        self._store.set(f"told-{turn}-{self.rank}", json.dumps(own))
        return [json.loads(self._store.get(f"told-{turn}-{peer}")) for peer in range(self.ranks)]

    def clock(self) -> float:
        """Seconds; every rank reads the same."""
        return float(max(self.told(time.monotonic())))

    def conditions(self, _: int = 0) -> Dict[str, Any]:
        """Of all their devices, in one statement: they take part in the exchange together.

        What each counted of its throttling since it was started is summed, so that what grows shows and nothing else.
        """
        each = self.told(self.device.conditions(self.rank))
        counted: Counter[str] = Counter()
        for one in each:
            counted.update(one.pop("throttled", None) or {})
        return {**timing.together(each), "throttled": dict(counted) or None}

    def each(self, call: Callable[[], Any], number: int) -> List[List[float]]:
        """By rank, the seconds of each of `number` calls by its device's timer; the ranks begin each together."""
        own: List[float] = []
        for _ in range(number):
            self._prepare()
            if self._place.type != "cpu":
                getattr(torch, self._place.type).synchronize()
            dist.barrier()
            own += self.device.samples(call, 1)
        return self.told(own)

    def samples(self, call: Callable[[], Any], number: int) -> List[float]:
        """Seconds of each call: those of the rank that was slowest in it."""
        return [max(step) for step in zip(*self.each(call, number))]  # noqa: B905 - strict= is not in Python 3.9

    def timed(
        self, call: Callable[[], Any], steps: int, profile: str, prepare: Optional[Callable[[], Any]] = None
    ) -> timing.Timed:
        """The time of an exchange, the same on every rank; before each call, and outside its time, they prepare."""
        self._prepare = prepare or _nothing
        took = timing.timed(call, self, steps, profile, clock=self.clock)
        self._prepare = _nothing
        return took


def _nothing() -> None:
    """What most calls need before them."""
