"""What ranks exchange: each operation with what it must give, so that a wrong answer can be laid to a rank.

What is timed is the exchange alone, as nccl-tests times it; numbers are put back and results blotted out before it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Tuple

import torch
import torch.distributed as dist

PERIOD = (1 << 20) - 3
"""Numbers after which what a rank brings repeats itself: a prime, so that no two pieces of a result are the same."""
TENSOR, LIST = "tensor", "list"
"""The forms of a call: a whole tensor as nccl-tests has it, or a list, which torch copies together within the call."""
ALL_GATHER = ("all_gather_single", "all_gather_into_tensor")  # the name since torch 2.13, and the one before
REDUCE_SCATTER = ("reduce_scatter_single", "reduce_scatter_tensor")


@dataclass(frozen=True)
class Piece:
    """`length` numbers that a rank should hold: those of the pattern (fp64) from `start` on, again and again."""

    pattern: torch.Tensor
    start: int
    length: int


@dataclass(frozen=True)
class Exchange:
    """`calls` do it, by their form, the best first; `result` is then what this rank holds, `pieces` what it should.

    `prepare` comes before each call: an exchange in place has overwritten what it sent, and a result is of this call
    only if nothing was there before. `by_sender` is whether each rank, in their order, sent a piece.
    """

    prepare: Callable[[], Any]
    calls: Mapping[str, Callable[[], Any]]
    result: torch.Tensor
    pieces: Tuple[Piece, ...]
    by_sender: bool = False


def shared(size: int, ranks: int) -> int:
    """How many numbers of a problem of so many bytes there are, each rank having as many."""
    return size // 4 // ranks * ranks


def pattern(rank: int, elements: int, seed: int) -> torch.Tensor:
    """What a rank brings, over and over: known to all, so that each can work out the answer by itself."""
    generator = torch.Generator().manual_seed(seed * 1000 + rank)
    return torch.randn(min(elements, PERIOD), generator=generator)


def distance(exchange: Exchange) -> float:
    """The error of what this rank holds against fp64, in units of its size; what is not finite is infinitely far."""
    return _far(_squares(exchange))


def wrong_senders(exchange: Exchange, allowed: float) -> List[int]:
    """The ranks whose piece is farther away here than is allowed, where each sent one."""
    if not exchange.by_sender:
        return []
    return [sender for sender, squares in enumerate(_squares(exchange)) if not _far([squares]) <= allowed]


def _far(squares: List[Tuple[float, float]]) -> float:
    share = math.sqrt(sum(wrong for wrong, _ in squares) / sum(whole for _, whole in squares))
    return min(1e30, share)  # JSON has no infinity; nan is not below anything


def _squares(exchange: Exchange) -> List[Tuple[float, float]]:
    """For each piece the sums of the squared errors and of the squares that they are errors of.

    A stretch at a time comes to the host: the largest results have no room there beside their fp64.
    """
    found = []
    held = exchange.result.split([piece.length for piece in exchange.pieces])
    for piece, here in zip(exchange.pieces, held):  # noqa: B905 - strict= is not in Python 3.9
        at, wrong, whole = 0, 0.0, 0.0
        while at < piece.length:
            exact = piece.pattern[(piece.start + at) % len(piece.pattern) :][: piece.length - at]
            got = here[at : at + len(exact)].cpu().double()
            wrong, whole = wrong + float((got - exact).square().sum()), whole + float(exact.square().sum())
            at += len(exact)
        found.append((wrong, whole))
    return found


def _all_reduce(rank: int, patterns: List[torch.Tensor], elements: int, place: torch.device) -> Exchange:
    work, mine = torch.empty(elements, device=place), patterns[rank].to(place)
    pieces = (Piece(_sum(patterns), 0, elements),)
    # From fresh numbers each time: of its own results each sum would be larger than the last, until it is no number.
    return Exchange(lambda: _fill(work, mine), {TENSOR: lambda: dist.all_reduce(work)}, work, pieces)


def _all_gather(rank: int, patterns: List[torch.Tensor], elements: int, place: torch.device) -> Exchange:
    each = elements // len(patterns)
    mine, there = torch.empty(each, device=place), torch.empty(elements, device=place)
    _fill(mine, patterns[rank].to(place))
    gather, listed = _named(ALL_GATHER), list(there.chunk(len(patterns)))
    calls = {TENSOR: lambda: gather(there, mine), LIST: lambda: dist.all_gather(listed, mine)}
    pieces = tuple(Piece(one.double(), 0, each) for one in patterns)
    return Exchange(lambda: _blot(there), calls, there, pieces, by_sender=True)


def _reduce_scatter(rank: int, patterns: List[torch.Tensor], elements: int, place: torch.device) -> Exchange:
    each = elements // len(patterns)
    mine, there = torch.empty(elements, device=place), torch.empty(each, device=place)
    _fill(mine, patterns[rank].to(place))
    scatter, listed = _named(REDUCE_SCATTER), list(mine.chunk(len(patterns)))
    calls = {TENSOR: lambda: scatter(there, mine), LIST: lambda: dist.reduce_scatter(there, listed)}
    pieces = (Piece(_sum(patterns), rank * each, each),)
    return Exchange(lambda: _blot(there), calls, there, pieces)


def _broadcast(rank: int, patterns: List[torch.Tensor], elements: int, place: torch.device) -> Exchange:
    work, mine = torch.empty(elements, device=place), patterns[0].to(place)
    pieces = (Piece(patterns[0].double(), 0, elements),)
    prepare = (lambda: _blot(work)) if rank else (lambda: _fill(work, mine))
    return Exchange(prepare, {TENSOR: lambda: dist.broadcast(work, 0)}, work, pieces)


def _all_to_all(rank: int, patterns: List[torch.Tensor], elements: int, place: torch.device) -> Exchange:
    each = elements // len(patterns)
    mine, there = torch.empty(elements, device=place), torch.empty(elements, device=place)
    _fill(mine, patterns[rank].to(place))
    pieces = tuple(Piece(one.double(), rank * each, each) for one in patterns)
    calls = {TENSOR: lambda: dist.all_to_all_single(there, mine)}
    return Exchange(lambda: _blot(there), calls, there, pieces, by_sender=True)


def _sum(patterns: List[torch.Tensor]) -> torch.Tensor:
    return torch.stack([one.double() for one in patterns]).sum(0)


def _named(names: Tuple[str, ...]) -> Callable[..., Any]:
    """The function by the first of its names that this torch has."""
    found: Callable[..., Any] = next(getattr(dist, name) for name in names if hasattr(dist, name))
    return found


def _fill(tensor: torch.Tensor, numbers: torch.Tensor) -> None:
    for part in tensor.split(len(numbers)):
        part.copy_(numbers[: len(part)])


def _blot(tensor: torch.Tensor) -> None:
    tensor.fill_(float("nan"))


EXCHANGES: Dict[str, Callable[[int, List[torch.Tensor], int, torch.device], Exchange]] = {
    "all_reduce": _all_reduce,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "broadcast": _broadcast,
    "all_to_all": _all_to_all,
}
OPERATIONS = tuple(EXCHANGES)
