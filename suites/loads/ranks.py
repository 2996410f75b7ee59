"""One rank of the collective load: run as `python -m suites.loads.ranks` once for each, by `test_collective`.

It writes one JSON line for each operation as soon as it knows the answer, so that a hang loses only what comes after.
Ranks meet through a file: a name server, a port and libuv (which Debian's torch lacks) are not needed.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import torch
import torch.distributed as dist

# What a build of a backend may be without: Debian's gloo of torch 1.13 and 2.6 is. All else that refuses has failed.
MAY_LACK = {"gloo": ("reduce_scatter", "all_to_all")}
OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all")


def main(settings: Dict[str, Any]) -> None:
    """Join the group, then check and time each operation."""
    rank, ranks, kind = settings["rank"], settings["ranks"], settings["device"]
    place = torch.device(kind, rank) if kind != "cpu" else torch.device("cpu")
    if kind == "cpu":
        torch.set_num_threads(1)
    else:
        getattr(torch, kind).set_device(rank)
    dist.init_process_group(settings["backend"], init_method=f"file://{settings['store']}", rank=rank, world_size=ranks)
    with Path(settings["answers"]).open("a", encoding="utf-8") as answers:
        for operation in OPERATIONS:
            answer = _answer(operation, rank, ranks, place, settings)
            answers.write(json.dumps({"operation": operation, **answer}) + "\n")
            answers.flush()
        dist.barrier()
    # Torch 2.6 hangs at random while it takes a gloo group down in which an all_to_all ran. All is said: leave.
    os._exit(0)


def _answer(operation: str, rank: int, ranks: int, place: torch.device, settings: Dict[str, Any]) -> Dict[str, Any]:
    parts = [_part(peer, ranks, settings["count"], settings["seed"]) for peer in range(ranks)]
    call, result, exact = _OPERATION[operation](rank, ranks, parts, place)
    try:
        call()
    except Exception as error:  # noqa: BLE001 - each backend has its own class for what it lacks
        text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        refuses = "does not support" in text or "not implemented" in text.lower() or "unsupported" in text.lower()
        lacks = refuses and operation in MAY_LACK.get(settings["backend"], ())
        return {"lacks" if lacks else "failed": text[:300]}
    got = result().cpu().double()
    distance = float((got - exact).square().mean().sqrt() / exact.square().mean().sqrt())
    return {"error": distance, "samples": _samples(call, place, settings["steps"])}


def _part(rank: int, ranks: int, count: int, seed: int) -> torch.Tensor:
    """What a rank brings: known to all, so that each can work out the answer by itself."""
    generator = torch.Generator().manual_seed(seed * 1000 + rank)
    return torch.randn(count * ranks, generator=generator)


Operation = Tuple[Callable[[], Any], Callable[[], torch.Tensor], torch.Tensor]


def _all_reduce(rank: int, _: int, parts: List[torch.Tensor], place: torch.device) -> Operation:
    mine = parts[rank].to(place)
    work = mine.clone()

    def call() -> None:
        work.copy_(mine)
        dist.all_reduce(work)

    return call, lambda: work, sum(part.double() for part in parts)  # type: ignore[return-value]


def _all_gather(rank: int, ranks: int, parts: List[torch.Tensor], place: torch.device) -> Operation:
    mine = parts[rank].chunk(ranks)[0].to(place)
    there = [torch.empty_like(mine) for _ in range(ranks)]
    exact = torch.cat([part.chunk(ranks)[0] for part in parts]).double()
    return lambda: dist.all_gather(there, mine), lambda: torch.cat(there), exact


def _reduce_scatter(rank: int, ranks: int, parts: List[torch.Tensor], place: torch.device) -> Operation:
    mine = [chunk.to(place) for chunk in parts[rank].chunk(ranks)]
    there = torch.empty_like(mine[0])
    exact = sum(part.double() for part in parts).chunk(ranks)[rank]  # type: ignore[union-attr]
    return lambda: dist.reduce_scatter(there, [chunk.clone() for chunk in mine]), lambda: there, exact


def _broadcast(rank: int, _: int, parts: List[torch.Tensor], place: torch.device) -> Operation:
    work = parts[rank].to(place)
    return lambda: dist.broadcast(work, 0), lambda: work, parts[0].double()


def _all_to_all(rank: int, ranks: int, parts: List[torch.Tensor], place: torch.device) -> Operation:
    mine = parts[rank].to(place)
    there = torch.empty_like(mine)
    exact = torch.cat([part.chunk(ranks)[rank] for part in parts]).double()
    return lambda: dist.all_to_all_single(there, mine), lambda: there, exact


_OPERATION: Dict[str, Callable[[int, int, List[torch.Tensor], torch.device], Operation]] = {
    "all_reduce": _all_reduce,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "broadcast": _broadcast,
    "all_to_all": _all_to_all,
}


def _samples(call: Callable[[], Any], place: torch.device, steps: int) -> List[float]:
    """Seconds of each of `steps` calls on this rank; the ranks start each together."""
    taken = []
    for step in range(steps + 1):
        dist.barrier()
        start = time.perf_counter()
        call()
        if place.type != "cpu":
            getattr(torch, place.type).synchronize()
        if step:  # the first one warms up
            taken.append(time.perf_counter() - start)
    return taken


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
