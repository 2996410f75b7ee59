"""Collectives: two processes or more exchange data, each answer is checked, then timed. A bad rank is named."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any, Dict, List

import pytest
import torch

from suites.exits import COLLECTIVE
from suites.formulas import BUS, algorithm_bandwidth, bus_bandwidth
from suites.loads import processes
from suites.loads.exchanges import OPERATIONS
from suites.throttle import harmful
from suites.timing import one_figure, together
from suites.work import Labels

if TYPE_CHECKING:
    from suites.bench import Bench

DEVICES = "devices"
Answers = Dict[str, List[Dict[str, Any]]]
KIB, MIB = 1 << 10, 1 << 20
SIZES = {
    # nccl-tests goes to gigabytes in doublings: a wrong size shows in steps of sixteen too.
    "smoke": (KIB, MIB),
    "standard": (KIB, 16 * KIB, 256 * KIB, 4 * MIB, 64 * MIB, 256 * MIB),
    "deep": tuple(KIB * 4**step for step in range(11)),
}
ENOUGH = 64 * MIB
"""For a processor, unless it is looked at in depth: more is copied no faster, and is a minute's work to check."""
DEADLINE = {"smoke": 60.0, "standard": 300.0, "deep": 900.0}
ALLOWED = 1e-6  # of the result's size: sums of a few fp32 numbers
SLOW, TOO_SLOW = 1.5, 3.0  # times the median rank: worth a word, and a failure


@pytest.fixture(scope="module")
def answers(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """Operation -> the answer of each rank that gave one; `""` -> how the ranks ended, where not well.

    DEVICES -> the conditions of each device that took part, over all of it.
    """
    ranks = _ranks(bench)
    if ranks < 2:
        pytest.skip(f"not applicable: a collective needs 2 devices, this cell takes {ranks}")
    if bench.device.COLLECTIVE == "none":
        pytest.skip(f"not applicable: torch.distributed has no backend for {bench.device.place()}")
    if not torch.distributed.is_available():
        pytest.skip(f"not applicable: torch {torch.__version__} is built without torch.distributed")
    profile = bench.cell.profile
    settings = {
        "ranks": ranks,
        "device": bench.device.place(),
        "backend": bench.device.COLLECTIVE,
        "sizes": sizes(profile, bench.device.place(), bench.device.memory(), ranks),
        "steps": min(bench.steps, 20),  # as many as nccl-tests takes
        "seed": bench.cell.seed,
        "allowed": ALLOWED,
    }
    used = range(1 if bench.device.place() == "cpu" else ranks)
    before = [bench.device.conditions(index) for index in used]
    found = processes.answers(settings, ranks, tmp_path_factory.mktemp("ranks"), DEADLINE[profile])
    found[DEVICES] = [together([before[index], bench.device.conditions(index)]) for index in used]
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation(bench: Bench, answers: Answers, operation: str) -> None:
    """The operation gives each rank what it should have, and how fast, in each size."""
    ranks = _ranks(bench)
    given = answers.get(operation, [])
    for size in sorted({one["bytes"] for one in given}) or [0]:
        of_size = [one for one in given if one["bytes"] == size]
        lacks = hold(operation, ranks, of_size, answers)
        if lacks:
            pytest.skip(f"this build lacks it: {lacks}")
        _figures(bench, operation, size, of_size, answers[DEVICES])


def test_straggler(bench: Bench, answers: Answers) -> None:
    """Each rank does the same work by itself in about the same time."""
    given = answers.get("own work", [])
    assert given, f"{COLLECTIVE}: no rank answered: {_ends(answers)}"
    times = {one["rank"]: one_figure(one["samples"], bench.device.STATISTIC) for one in given}
    slowest = max(times, key=lambda rank: times[rank])
    for index, one in enumerate(answers[DEVICES]):
        if harmful(one["throttle"]):
            line = f"the device of rank {index} throttled meanwhile: {', '.join(harmful(one['throttle']))}"
            bench.figures.setdefault(bench.case, []).append(line)
    ratio = times[slowest] / statistics.median_low(list(times.values()))
    work = Labels("collective.straggler", f"{len(times)} ranks", "fp32", "own work", "1")
    bench.row(work, "straggler", ratio, "ratio", statistic="max", samples=len(given[0]["samples"]))
    told = f"rank {slowest} takes {ratio:.1f} times as long as the median rank for the same work"
    assert ratio <= TOO_SLOW, f"{COLLECTIVE}: {told}"
    if ratio > SLOW:
        bench.figures.setdefault(bench.case, []).append(told)


def test_pairs(bench: Bench, answers: Answers) -> None:
    """How fast each rank sends to each other: a link that is worse than the rest is named."""
    ranks = _ranks(bench)
    if ranks < 3:
        pytest.skip(f"not applicable: a topology needs 3 ranks, this cell takes {ranks}")
    given = answers.get("pair", [])
    expected = ranks * (ranks - 1)
    assert len(given) == expected, f"{COLLECTIVE}: {len(given)} of {expected} pairs answered: {_ends(answers)}"
    rates = {}
    for one in given:
        scope = f"rank {one['sender']} -> {one['rank']}"
        seconds = one_figure(one["samples"], bench.device.STATISTIC)
        rates[scope] = algorithm_bandwidth(one["bytes"], seconds)
        work = Labels("collective.pairs", f"{one['bytes']} bytes", "fp32", "sendrecv", "1")
        more = {"direction": "higher", "scope": scope, "timer": "perf_counter", "samples": len(one["samples"])}
        bench.row(work, "pair_gbps", rates[scope], "GB/s", statistic=bench.device.STATISTIC, warmup=1, **more)
    bench.figures.setdefault(bench.case, []).extend(slow_pairs(rates))


def test_ranks_end(answers: Answers) -> None:
    """Each rank ends by itself, in time."""
    assert not answers[""], f"{COLLECTIVE}: {_ends(answers)}"


def sizes(profile: str, place: str, memory: int, ranks: int) -> List[int]:
    """Bytes of each problem; every rank holds what all bring, once as fp32 and once as fp64, and half stays free."""
    most = memory // (2 * ranks * 3 * (ranks + 1))
    if place == "cpu" and profile != "deep":
        most = min(most, ENOUGH)
    return [size for size in SIZES[profile] if size <= most] or [KIB]


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


def slow_pairs(rates: Dict[str, float]) -> List[str]:
    """The pairs that are slower than half of the median."""
    usual = statistics.median(rates.values())
    return [f"{pair} has {rate:.3g} of {usual:.3g} GB/s" for pair, rate in rates.items() if rate < usual / 2]


def _told(ranks: List[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))}"


def _ends(answers: Answers) -> str:
    return "; ".join(one["end"] for one in answers.get("", [])) or "no reason"


def _ranks(bench: Bench) -> int:
    if bench.device.place() != "cpu":
        return bench.ranks
    return 2 if bench.cell.profile == "smoke" else 3


def _figures(
    bench: Bench, operation: str, size: int, given: List[Dict[str, Any]], devices: List[Dict[str, Any]]
) -> None:
    ranks = len(given)
    work = Labels(f"collective.{operation}", f"{size} bytes on {ranks} ranks", "fp32", operation, "1")
    statistic = bench.device.STATISTIC
    mean = [sum(step) / ranks for step in zip(*(one["samples"] for one in given))]  # noqa: B905
    seconds = one_figure(mean, statistic)
    more: Dict[str, Any] = {
        "warmup": 1,
        "samples": len(mean),
        "statistic": statistic,
        "timer": "perf_counter",
        "formula": BUS,
    }
    more["conditions"] = together(devices)
    bench.row(work, "error", max(one["error"] for one in given), "relative rmse")
    bench.row(work, "latency", seconds * 1e3, "ms", **{**more, "formula": ""})
    bench.row(work, "algbw", algorithm_bandwidth(size, seconds), "GB/s", direction="higher", **more)
    bench.row(work, "busbw", bus_bandwidth(operation, ranks, size, seconds), "GB/s", direction="higher", **more)
