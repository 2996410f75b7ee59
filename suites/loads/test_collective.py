"""Collectives: two processes or more exchange data, each answer is checked, then timed. A bad rank is named."""

from __future__ import annotations

import functools
import math
import statistics
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Set, Tuple

import pytest
import torch

from suites import rows
from suites.exits import COLLECTIVE
from suites.formulas import BUS, algorithm_bandwidth, bus_bandwidth
from suites.loads import processes
from suites.loads.exchanges import LIST, OPERATIONS, shared
from suites.throttle import harmful
from suites.timing import Timed, one_figure, spread, together, unsteady
from suites.work import Labels

if TYPE_CHECKING:
    from suites.bench import Bench

Answers = Dict[str, List[Dict[str, Any]]]
Pair = Tuple[int, int]
"""Sender and receiver."""
KIB, MIB = 1 << 10, 1 << 20
SIZES = {
    # nccl-tests goes to gigabytes in doublings: a wrong size shows in steps of sixteen too.
    "smoke": (KIB, MIB),
    "standard": (KIB, 16 * KIB, 256 * KIB, 4 * MIB, 64 * MIB, 256 * MIB),
    "deep": tuple(KIB * 4**step for step in range(16)),  # to 1 TiB, which nothing holds: memory ends it
}
ENOUGH = 64 * MIB
"""For a processor, unless it is looked at in depth: more is copied no faster, and takes a minute."""
BUFFERS = 3
"""Of a problem's size a rank holds at most: what it sends, what it gets, a backend's own copy. Seen: 2.8 in gloo."""
FREE = 0.5  # of what is free, to be left so: contexts and the libraries' own buffers have no bound that we know
DEADLINE = {"smoke": 60.0, "standard": 300.0, "deep": 1800.0}
ROOM = 0.7  # of the deadline, for the sizes: pairs come after them
ALLOWED = 1e-6  # of the result's size: sums of a few fp32 numbers
SLOW, TOO_SLOW = 1.5, 3.0  # times the median rank: worth a word, and a failure
VERSION = "2"
"""Raise it when anything here or in `ranks` and `exchanges` changes what is timed."""


@pytest.fixture(scope="module")
def answers(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """Operation -> the answer of each rank that gave one; `""` -> how the ranks ended, where not well.

    `stop` -> the size that was not tried, and why, where one was not; `asked` -> the sizes that are to be tried.
    """
    ranks = _ranks(bench)
    if ranks < 2:
        pytest.skip(f"not applicable: a collective needs 2 devices, this cell takes {ranks}")
    if bench.device.COLLECTIVE == "none":
        pytest.skip(f"not applicable: torch.distributed has no backend for {bench.device.place()}")
    if not torch.distributed.is_available():
        pytest.skip(f"not applicable: torch {torch.__version__} is built without torch.distributed")
    profile = bench.cell.profile
    bench.device.reset_peak()  # what this process keeps for later, the ranks cannot have
    free = bench.device.free_memory()
    fitting, stop = sizes(profile, bench.device.place(), bench.device.memory() if free is None else free, ranks)
    settings = {
        "ranks": ranks,
        "device": bench.device.__name__.rpartition(".")[2],
        "profile": profile,
        "backend": bench.device.COLLECTIVE,
        "sizes": fitting,
        "room": ROOM * DEADLINE[profile],
        "steps": min(bench.steps, 20),  # as many as nccl-tests takes
        "seed": bench.cell.seed,
        "allowed": ALLOWED,
    }
    found = processes.answers(settings, ranks, tmp_path_factory.mktemp("ranks"), DEADLINE[profile])
    found.setdefault("stop", [stop] if stop else [])
    found["asked"] = [{"bytes": size} for size in fitting]
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation(bench: Bench, answers: Answers, operation: str) -> None:
    """The operation gives each rank what it should have, and how fast, in each size."""
    ranks = _ranks(bench)
    given = answers.get(operation, [])
    for size in sorted({one["bytes"] for one in given} | tried(answers, ranks)) or [0]:
        of_size = [one for one in given if one["bytes"] == size]
        lacks = hold(operation, ranks, of_size, answers)
        if lacks:
            pytest.skip(f"this build lacks it: {lacks}")
        _figures(bench, operation, size, of_size)
    for one in answers.get("stop", [])[:1]:
        work = _labels(operation, one["bytes"], ranks, operation)
        bench.row(work, "algbw", None, "GB/s", direction="higher", why=f"not tried: {one['why']}")
        bench.note(f"not tried from {_bytes(one['bytes'])} on: {one['why']}")
    if any(one["form"] == LIST for one in given):
        bench.note("timed with the copies of a list: this build takes no tensor")


def test_straggler(bench: Bench, answers: Answers) -> None:
    """Each rank does the same work by itself in about the same time."""
    given = answers.get("own work", [])
    assert given, f"{COLLECTIVE}: no rank answered: {_ends(answers)}"
    missing = sorted(set(range(_ranks(bench))) - {one["rank"] for one in given})
    assert not missing, f"{COLLECTIVE}: no answer of {_told(missing)}: {_ends(answers)}"
    statistic = bench.device.STATISTIC
    times = {one["rank"]: one_figure(one["samples"], statistic) for one in given}
    slowest = max(times, key=lambda rank: times[rank])
    usual = statistics.median_low(list(times.values()))
    ratio = times[slowest] / usual
    noise = {one["rank"]: unsteady(one["samples"], statistic) for one in given}
    throttled = {one["rank"]: ", ".join(harmful(one["conditions"]["throttle"])) for one in given}
    why = [f"of rank {rank} {noise[rank]}" for rank in noise if noise[rank]]
    why += [f"rank {rank} throttled: {throttled[rank]}" for rank in throttled if throttled[rank]]
    edge = given[0]["edge"]
    bench.row(
        Labels("collective.straggler", f"{edge}x{edge} on {len(times)} ranks", "fp32", "own work", VERSION),
        "straggler",
        None if why else ratio,
        "ratio",
        statistic="max",
        samples=len(given[0]["samples"]),
        warmup=given[0]["warmup"],
        timer=bench.device.timer(),
        spread=spread([sample / usual for one in given if one["rank"] == slowest for sample in one["samples"]]),
        conditions=together([one["conditions"] for one in given]),
        why=f"unmeasurable: {'; '.join(why)}" if why else "",
    )
    told = f"rank {slowest} takes {ratio:.1f} times as long as the median rank for the same work"
    told += f", it throttled: {throttled[slowest]}" if throttled[slowest] else ""
    # No noise that makes it unmeasurable makes it so slow, and what throttles is slow for a reason.
    assert ratio <= TOO_SLOW, f"{COLLECTIVE}: {told}"
    if ratio > SLOW:
        bench.note(f"slow rank: {told}")


def test_pairs(bench: Bench, answers: Answers) -> None:
    """How fast each rank sends to each other: a rank that is slow at it is named, and a link that is."""
    ranks = _ranks(bench)
    if ranks < 3:
        pytest.skip(f"not applicable: a topology needs 3 ranks, this cell takes {ranks}")
    given = answers.get("pair", [])
    expected = ranks * (ranks - 1)
    assert len(given) == expected, f"{COLLECTIVE}: {len(given)} of {expected} pairs answered: {_ends(answers)}"
    changed = [f"rank {one['sender']} -> {one['rank']}" for one in given if not one["whole"]]
    assert not changed, f"{COLLECTIVE}: what was sent came changed: {', '.join(changed)}"
    rates: Dict[Pair, float] = {}
    for one in given:
        took = Timed(**one["timed"])
        scope = f"rank {one['sender']} -> {one['rank']}"
        work = Labels("collective.pairs", f"{one['bytes']} bytes", "fp32", "sendrecv", VERSION)
        bench.row(work, "latency", _milliseconds(took), "ms", scope=scope, **rows.of_time(took, 1e3))
        rate = functools.partial(algorithm_bandwidth, one["bytes"])
        value = None if took.seconds is None else rate(took.seconds)
        bench.row(work, "pair_gbps", value, "GB/s", direction="higher", scope=scope, **rows.of_rate(took, rate))
        if value is not None:
            rates[one["sender"], one["rank"]] = value
    # No failure: two of three devices may have a bridge between them that the third is without.
    bench.note(*slow_ranks(rates, ranks), *slow_pairs(rates))


def test_ranks_end(answers: Answers) -> None:
    """Each rank ends by itself, in time."""
    assert not answers[""], f"{COLLECTIVE}: {_ends(answers)}"


def sizes(profile: str, place: str, free: int, ranks: int) -> Tuple[List[int], Optional[Dict[str, Any]]]:
    """Bytes of each problem of a profile, and the first that is too much, with the reason.

    `free` is the bytes that are free on each device, or on the machine where all ranks are on the processor. On the
    host a rank of a device holds a few megabytes, whatever the size is.
    """
    sharing = ranks if place == "cpu" else 1
    most = int(free * (1 - FREE) / BUFFERS / sharing)
    for number, size in enumerate(SIZES[profile]):
        why = ""
        if place == "cpu" and profile != "deep" and size > ENOUGH:
            why = "a processor copies more no faster"
        if size > most and number:  # the smallest is tried wherever it is
            who = f"{sharing} ranks" if sharing > 1 else "a rank"
            holds = _bytes(sharing * BUFFERS * size)
            why = f"{who} would hold {holds}, {1 - FREE:.0%} of {_bytes(free)} free may be held"
        if why:
            return list(SIZES[profile][:number]), {"bytes": size, "why": why}
    return list(SIZES[profile]), None


def tried(answers: Answers, ranks: int) -> Set[int]:
    """The bytes of each size that was asked for and not given up with a reason: each has answers, or it is missing."""
    end = min((one["bytes"] for one in answers.get("stop", [])), default=math.inf)
    return {4 * shared(one["bytes"], ranks) for one in answers.get("asked", []) if one["bytes"] < end}


def hold(operation: str, ranks: int, given: List[Dict[str, Any]], answers: Answers) -> str:
    """What the build lacks, or an empty text. AssertionError names the ranks that failed, are missing or wrong."""
    named = f"{COLLECTIVE}: {operation}" + (f" of {given[0]['bytes']} bytes" if given else "")
    missing = sorted(set(range(ranks)) - {one["rank"] for one in given})
    assert not missing, f"{named}: no answer of {_told(missing)}: {_ends(answers)}"
    failed = [f"rank {one['rank']}: {one['failed']}" for one in given if "failed" in one]
    assert not failed, f"{named}: {failed[0]}"
    lacks = [one["lacks"] for one in given if "lacks" in one]
    if lacks:
        return str(lacks[0])
    wrong = [one for one in given if not one["error"] <= ALLOWED]
    if wrong:
        senders = sorted({sender for one in wrong for sender in one["senders"]})
        whose = f", in what {_told(senders)} sent" if senders else ""
        worst = max(one["error"] for one in wrong)
        on = _told([one["rank"] for one in wrong])
        raise AssertionError(f"{named}: error against fp64 is {worst:.2e} on {on}{whose}, {ALLOWED:.0e} is allowed")
    return ""


def slow_ranks(rates: Mapping[Pair, float], ranks: int) -> List[str]:
    """The ranks that send to all, or receive from all, at less than half of the median rate between the others.

    Nothing is said of a rank some pair of which has no rate: that one may be the fast one.
    """
    found = []
    for rank in range(ranks):
        others = [rate for pair, rate in rates.items() if rank not in pair]
        ways = {
            "sends": [rate for (sender, _), rate in rates.items() if sender == rank],
            "receives": [rate for (_, receiver), rate in rates.items() if receiver == rank],
        }
        for way, own in ways.items():
            if others and len(own) == ranks - 1 and max(own) < statistics.median(others) / 2:
                usual = statistics.median(others)
                found.append(f"slow rank: {rank} {way} {max(own):.3g} GB/s at best, {usual:.3g} between the others")
    return found


def slow_pairs(rates: Mapping[Pair, float]) -> List[str]:
    """The pairs that are slower than half of the median."""
    usual = statistics.median(rates.values()) if rates else 0.0
    slow = {pair: rate for pair, rate in rates.items() if rate < usual / 2}
    return [
        f"slow link: rank {sender} -> {to} has {rate:.3g} of {usual:.3g} GB/s" for (sender, to), rate in slow.items()
    ]


def _told(ranks: List[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))}"


def _ends(answers: Answers) -> str:
    return "; ".join(one["end"] for one in answers.get("", [])) or "no reason"


def _ranks(bench: Bench) -> int:
    if bench.device.place() != "cpu":
        return bench.ranks
    return 2 if bench.cell.profile == "smoke" else 3


def _figures(bench: Bench, operation: str, size: int, given: List[Dict[str, Any]]) -> None:
    ranks = len(given)
    # A list is copied together within the call: its time is another series than a tensor's.
    model = f"{operation} of a list" if given[0]["form"] == LIST else operation
    work = _labels(operation, size, ranks, model)
    took = Timed(**given[0]["timed"])  # all ranks have the same
    bench.row(work, "error", max(one["error"] for one in given), "relative rmse")
    bench.row(work, "latency", _milliseconds(took), "ms", **rows.of_time(took, 1e3))
    for metric, rate in (
        ("algbw", functools.partial(algorithm_bandwidth, size)),
        ("busbw", functools.partial(bus_bandwidth, operation, ranks, size)),
    ):
        value = None if took.seconds is None else rate(took.seconds)
        bench.row(work, metric, value, "GB/s", direction="higher", formula=BUS, **rows.of_rate(took, rate))


def _labels(operation: str, size: int, ranks: int, model: str) -> Labels:
    return Labels(f"collective.{operation}", f"{size} bytes on {ranks} ranks", "fp32", model, VERSION)


def _bytes(number: int) -> str:
    size, units = float(number), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:.3g} {units[0]}"


def _milliseconds(took: Timed) -> Optional[float]:
    return None if took.seconds is None else took.seconds * 1e3
