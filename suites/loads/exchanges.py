"""What ranks exchange: each operation with what it must give, so that a wrong answer can be laid to a rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, List

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class Exchange:
    """`call` does it, `result` is what this rank then holds, `exact` what it should hold, in fp64.

    `by_sender` is whether the result is made of one piece from each rank, in their order.
    """

    call: Callable[[], Any]
    result: Callable[[], torch.Tensor]
    exact: torch.Tensor
    by_sender: bool = False


def part(rank: int, elements: int, seed: int) -> torch.Tensor:
    """What a rank brings: known to all, so that each can work out the answer by itself."""
    generator = torch.Generator().manual_seed(seed * 1000 + rank)
    return torch.randn(elements, generator=generator)


def _all_reduce(rank: int, parts: List[torch.Tensor], place: torch.device) -> Exchange:
    mine = parts[rank].to(place)
    work = mine.clone()

    def call() -> None:
        work.copy_(mine)
        dist.all_reduce(work)

    return Exchange(call, lambda: work, _sum(parts))


def _all_gather(rank: int, parts: List[torch.Tensor], place: torch.device) -> Exchange:
    mine = parts[rank].chunk(len(parts))[0].to(place)
    there = [torch.empty_like(mine) for _ in parts]
    exact = torch.cat([part.chunk(len(parts))[0] for part in parts]).double()
    return Exchange(lambda: dist.all_gather(there, mine), lambda: torch.cat(there), exact, by_sender=True)


def _reduce_scatter(rank: int, parts: List[torch.Tensor], place: torch.device) -> Exchange:
    mine = [chunk.to(place) for chunk in parts[rank].chunk(len(parts))]
    there = torch.empty_like(mine[0])
    exact = _sum(parts).chunk(len(parts))[rank]
    return Exchange(lambda: dist.reduce_scatter(there, [chunk.clone() for chunk in mine]), lambda: there, exact)


def _broadcast(rank: int, parts: List[torch.Tensor], place: torch.device) -> Exchange:
    work = parts[rank].to(place, copy=True)  # the others need the parts as they are
    return Exchange(lambda: dist.broadcast(work, 0), lambda: work, parts[0].double())


def _all_to_all(rank: int, parts: List[torch.Tensor], place: torch.device) -> Exchange:
    mine = parts[rank].to(place)
    there = torch.empty_like(mine)
    exact = torch.cat([part.chunk(len(parts))[rank] for part in parts]).double()
    return Exchange(lambda: dist.all_to_all_single(there, mine), lambda: there, exact, by_sender=True)


def _sum(parts: List[torch.Tensor]) -> torch.Tensor:
    whole = parts[0].double()
    for part in parts[1:]:
        whole += part
    return whole


EXCHANGES: Dict[str, Callable[[int, List[torch.Tensor], torch.device], Exchange]] = {
    "all_reduce": _all_reduce,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "broadcast": _broadcast,
    "all_to_all": _all_to_all,
}
OPERATIONS = tuple(EXCHANGES)
