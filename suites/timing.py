"""Timing: calls until the device has settled, samples, and how they become one figure, or none.

The rules and their numbers: a warm-up ends when three windows agree, not after a fixed count (a fixed 25 ms shows a
product 30 % slow: github.com/triton-lang/triton/issues/2306); a gate on throttling or on noise needs an end, else an
idle-clocked device never gives a figure (github.com/NVIDIA/nvbench/issues/231): here it ends in `unmeasurable`.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from suites.throttle import grown, harmful

METHOD = "3"
"""Raise it when anything here changes what a figure means: figures of two methods are two series."""

WINDOW = 10  # calls
SETTLED = {"median": 0.005, "min": 0.02}  # how far the last three windows may lie apart: a device, a shared processor
NOISY = 0.25  # above it torch.utils.benchmark too speaks of a disturbed environment
ROUNDS = 3  # of samples, before we give up
UNREAD: Dict[str, Any] = {"clock_mhz": None, "temperature_c": None, "power_w": None, "throttle": None}
"""The conditions where nothing of them can be read."""
CAP_S = {"smoke": 0.25, "standard": 2.0, "deep": 10.0}  # of warming up
ROOM_S = {"smoke": 2.0, "standard": 2.0, "deep": 10.0}  # of all samples of a step together
FEWEST = 4  # samples that can tell whether they agree


@dataclass(frozen=True)
class Timed:
    """A step's time. `seconds` is None, and `why` says so, where it could not be measured.

    `spread` (seconds) and `conditions` have the keys of a metric row's; `taken` are the seconds of each sample.
    """

    seconds: Optional[float]
    warmup: int
    samples: int
    statistic: str
    timer: str
    spread: Dict[str, float]
    conditions: Dict[str, Any]
    why: str = ""
    taken: Sequence[float] = ()


def timed(
    call: Callable[[], Any],
    device: Any,
    steps: int,
    profile: str,
    index: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> Timed:
    """Warm up until it has settled, then take `steps` samples, and as many again while they are too noisy.

    `device` is a module of `devices`, or what has its samples, conditions, STATISTIC and timer; `index` is the one that
    the call runs on: its conditions go with the figure. A slow step gets fewer samples, and the slowest is given up:
    one load must not hold up a whole profile.
    """
    warmup, lasts = warm_up(call, device, min(WINDOW, steps), CAP_S[profile], clock)
    room = ROOM_S[profile]
    seen = [device.conditions(index)]
    samples: List[float] = []
    why = ""
    if lasts > room:
        samples, why = [lasts], f"a step takes {lasts:.3g} s, and all its samples may take {room:g} s"
    for _ in range(ROUNDS):
        if sum(samples) >= room:
            break
        number = max(FEWEST, fitting(steps, room - sum(samples), lasts))
        samples += device.samples(call, min(steps, number))
        seen.append(device.conditions(index))
        why = unsteady(samples, device.STATISTIC)
        if not why:
            break
    conditions = together(seen)
    spoilt = harmful(conditions["throttle"])
    if spoilt:
        why = f"the device throttled: {', '.join(spoilt)}"
    return Timed(
        seconds=None if why else one_figure(samples, device.STATISTIC),
        warmup=warmup,
        samples=len(samples),
        statistic=device.STATISTIC,
        timer=device.timer(),
        spread=spread(samples),
        conditions=conditions,
        why=why,
        taken=samples,
    )


def warm_up(
    call: Callable[[], Any], device: Any, window: int, cap_s: float, clock: Callable[[], float] = time.monotonic
) -> Tuple[int, float]:
    """Calls until three windows agree or the time is up; returns how many there were, and what the fastest took.

    Three windows fit into the time, if a call does: of slow calls a window has fewer.
    """
    deadline = clock() + cap_s
    least = device.samples(call, 1)[0]
    window = fitting(window, cap_s / 3, least)
    windows: List[float] = []
    while not settled(windows, SETTLED[device.STATISTIC]):
        taken = device.samples(call, window)
        windows.append(one_figure(taken, device.STATISTIC))
        least = min(least, *taken)
        if clock() >= deadline:
            break
    return 1 + len(windows) * window, least


def fitting(number: int, room_s: float, lasts: float) -> int:
    """As many calls of this length as there is room for, `number` at most; one at least."""
    return max(1, min(number, int(room_s / max(lasts, 1e-9))))


def settled(windows: Sequence[float], within: float) -> bool:
    """Whether the last three windows lie no farther apart than this share."""
    last = windows[-3:]
    return len(last) == 3 and max(last) <= min(last) * (1 + within)


def unsteady(samples: Sequence[float], statistic: str) -> str:
    """Why these samples are no measurement, or an empty text.

    A median needs a narrow middle; a minimum needs to be found twice. Three samples or less say nothing either way.
    """
    if len(samples) < FEWEST:
        return ""
    if statistic == "min":
        half = len(samples) // 2
        first, second = min(samples[:half]), min(samples[half:])
        apart = max(first, second) / max(min(first, second), 1e-12) - 1
        return f"its two halves lie {apart:.0%} apart" if apart > NOISY else ""
    lay = spread(samples)
    wide = lay["iqr"] / max(lay["p50"], 1e-12)
    return f"the middle half of its samples is {wide:.0%} wide" if wide > NOISY else ""


def spread(samples: Sequence[float]) -> Dict[str, float]:
    """How the samples lay, by linear interpolation between them."""
    ordered = sorted(samples)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    quantiles = {"p5": at(0.05), "p50": at(0.5), "p95": at(0.95), "p99": at(0.99)}
    return {"minimum": ordered[0], **quantiles, "iqr": at(0.75) - at(0.25), "discarded": 0}


def together(seen: Sequence[Dict[str, Any]]) -> Dict[str, Any]:
    """One statement of several readings: mean clock and power, the highest temperature, each throttle reason once."""

    def known(name: str) -> List[float]:
        return [one[name] for one in seen if one[name] is not None]

    clocks, powers, heats = known("clock_mhz"), known("power_w"), known("temperature_c")
    told = [*(one["throttle"] for one in seen), grown(seen)]
    throttles = [reasons for reasons in told if reasons is not None]
    return {
        "clock_mhz": statistics.fmean(clocks) if clocks else None,
        "temperature_c": max(heats) if heats else None,
        "power_w": statistics.fmean(powers) if powers else None,
        "throttle": sorted({reason for reasons in throttles for reason in reasons}) if throttles else None,
    }


def host_samples(call: Callable[[], Any], number: int, synchronise: Callable[[], None]) -> List[float]:
    """Seconds of each of `number` calls; the device is waited for before and after each."""
    taken = []
    for _ in range(number):
        synchronise()
        start = time.perf_counter()
        call()
        synchronise()
        taken.append(time.perf_counter() - start)
    return taken


def event_samples(call: Callable[[], Any], number: int, module: Any) -> List[float]:
    """Seconds of each call, by a pair of events of a module of torch (cuda, xpu): the device's clock, caches warm."""
    pairs = [(module.Event(enable_timing=True), module.Event(enable_timing=True)) for _ in range(number)]
    for start, end in pairs:
        start.record()
        call()
        end.record()
    module.synchronize()
    return [start.elapsed_time(end) / 1e3 for start, end in pairs]


def one_figure(samples: Sequence[float], statistic: str) -> float:
    """The minimum or the median of the samples."""
    return min(samples) if statistic == "min" else statistics.median(samples)
