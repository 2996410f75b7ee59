"""One rank of the collective load: run as `python -m suites.loads.ranks` once for each, by `processes`.

It writes one JSON line for each answer as soon as it knows it, so that a hang loses only what comes after. Ranks meet
through a file: a name server, a port and libuv (which Debian's torch lacks) are not needed.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List

import torch
import torch.distributed as dist

from suites import timing
from suites.devices import adapter
from suites.loads.exchanges import EXCHANGES, OPERATIONS, PERIOD, distance, pattern, shared, wrong_senders
from suites.loads.group import Group
from suites.loads.processes import END

# What a build of a backend may be without: Debian's gloo of torch 1.13 and 2.6 is. All else that refuses has failed.
MAY_LACK = {"gloo": ("reduce_scatter", "all_to_all")}
LEAST = 10
"""Steps of its own work, whatever is asked for: of one or two the machine's other work would be the slow rank."""
SMALLEST, LARGEST = 256, 8192  # edges of the products that a rank computes by itself
ENOUGH_S = 0.002  # that a product takes on the fastest rank: less is how fast a device is asked, not how it computes
WARMING = 1 << 20  # bytes from which on an exchange heats anything: a smaller one settles sooner, or never
GROWTH = 4  # times what a size took, the next one may take
LARGE = 1 << 25  # bytes that a pair exchanges at most


def main(settings: Dict[str, Any]) -> None:
    """Join the group, then check and time the rank's own work, each operation in each size, and each pair."""
    threading.Thread(target=_end_with_the_suite, daemon=True).start()
    rank, ranks, device = settings["rank"], settings["ranks"], adapter(settings["device"])
    kind = device.place()
    place = torch.device(kind, rank) if kind != "cpu" else torch.device("cpu")
    if kind == "cpu":
        torch.set_num_threads(1)
    else:
        getattr(torch, kind).set_device(rank)
    store = dist.FileStore(settings["store"], ranks)  # type: ignore[attr-defined]
    dist.init_process_group(settings["backend"], store=store, rank=rank, world_size=ranks)
    group = Group(store, rank, ranks, device, place)
    with Path(settings["answers"]).open("a", encoding="utf-8") as answers:
        for answer in _answers(group, place, settings):
            answers.write(json.dumps({"rank": rank, **answer}) + "\n")
            answers.flush()
        dist.barrier()
        answers.write(json.dumps({"rank": rank, "operation": END}) + "\n")
    # Torch 2.6 hangs at random while it takes a gloo group down in which an all_to_all ran. All is said: leave.
    os._exit(0)


def _end_with_the_suite() -> None:
    """A suite that is killed leaves no ranks: what it holds open of theirs is closed, however it ends."""
    sys.stdin.buffer.read()
    os._exit(1)


def _answers(group: Group, place: torch.device, settings: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    yield {"operation": "own work", **_own(group, place, settings)}
    begun = began = group.clock()
    for size in settings["sizes"]:
        now = group.clock()
        if (now - begun) + GROWTH * (now - began) > settings["room"]:
            up = f"{now - begun:.0f} of {settings['room']:.0f} s are up, the size before took {now - began:.0f}"
            yield {"operation": "stop", "bytes": size, "why": up}
            break
        began = now
        elements = shared(size, group.ranks)
        patterns = [pattern(peer, elements, settings["seed"]) for peer in range(group.ranks)]
        profile = "standard" if settings["profile"] == "deep" and size < WARMING else settings["profile"]
        for operation in OPERATIONS:
            answer = _answer(operation, group, patterns, elements, place, {**settings, "profile": profile})
            yield {"operation": operation, "bytes": 4 * elements, **answer}
    if group.ranks > 2:
        yield from _pairs(group, place, settings)


def own_work(place: torch.device, edge: int) -> Callable[[], Any]:
    """The same for every rank, and nobody waits in it: the slow rank is slow here."""
    factor = torch.ones(edge, edge, device=place)
    return lambda: factor @ factor


def _own(group: Group, place: torch.device, settings: Dict[str, Any]) -> Dict[str, Any]:
    """How long this rank takes for its work, which is sized to the fastest; all go on while one of them is unsteady."""
    edge = SMALLEST
    while edge < LARGEST and min(map(min, group.each(own_work(place, edge), 3))) < ENOUGH_S:
        edge *= 2
    work = own_work(place, edge)
    steps = max(settings["steps"], LEAST)
    seen = [group.device.conditions(group.rank)]
    warmup, _ = timing.warm_up(work, group, timing.WINDOW, timing.CAP_S[settings["profile"]], group.clock)
    taken: List[List[float]] = [[] for _ in range(group.ranks)]
    for _ in range(timing.ROUNDS):
        taken = [before + more for before, more in zip(taken, group.each(work, steps))]  # noqa: B905
        if not any(timing.unsteady(one, group.STATISTIC) for one in taken):
            break
    seen.append(group.device.conditions(group.rank))
    return {"edge": edge, "samples": taken[group.rank], "warmup": warmup, "conditions": timing.together(seen)}


def _answer(
    operation: str,
    group: Group,
    patterns: List[torch.Tensor],
    elements: int,
    place: torch.device,
    settings: Dict[str, Any],
) -> Dict[str, Any]:
    """The first form that the build has is timed, and what it then gave is checked."""
    exchange = EXCHANGES[operation](group.rank, patterns, elements, place)
    lacks = ""
    for form, call in exchange.calls.items():
        try:
            exchange.prepare()
            call()
        except Exception as error:  # noqa: BLE001 - each backend has its own class for what it lacks
            lacks = str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
            if refuses(lacks) and settings["backend"] in MAY_LACK:
                continue
            return {"failed": lacks}
        took = asdict(group.timed(call, settings["steps"], settings["profile"], exchange.prepare))
        wrong = wrong_senders(exchange, settings["allowed"])
        return {"form": form, "error": distance(exchange), "senders": wrong, "timed": took}
    return {"lacks" if operation in MAY_LACK[settings["backend"]] else "failed": lacks}


def refuses(text: str) -> bool:
    """Whether a backend says that it has no such call."""
    words = ("does not support", "no support for", "not implemented", "unsupported")
    return any(word in text.lower() for word in words)


def _pairs(group: Group, place: torch.device, settings: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    """How fast each rank sends to each other, one pair at a time; the receiver tells, and whether it came unchanged."""
    size = min(max(settings["sizes"]), LARGE)
    sent = pattern(0, size // 4, settings["seed"]).to(place).repeat(-(-size // 4 // PERIOD))[: size // 4]
    came = torch.empty_like(sent)
    for sender, receiver in itertools.permutations(range(group.ranks), 2):

        def call(sender: int = sender, receiver: int = receiver) -> None:
            if group.rank == sender:
                dist.send(sent, receiver)
            elif group.rank == receiver:
                dist.recv(came, sender)

        took = asdict(group.timed(call, settings["steps"], settings["profile"], came.zero_))
        if group.rank == receiver:
            whole = torch.equal(came, sent)
            yield {"operation": "pair", "sender": sender, "bytes": size, "whole": whole, "timed": took}


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
