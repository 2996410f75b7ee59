"""What readings of a device mean: pure functions from figures to lines, each beginning with its cause."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from suites import exits
from suites.throttle import grown, harmful

SLOWED = 0.3
"""A larger loss under load is a fault: a healthy B200 loses 15 % (github.com/flashinfer-ai/flashinfer/issues/2899)."""
BEHIND = 0.2  # how far a device may be behind the best of its like
LOPSIDED = 2.0  # how much faster one way of a link may be than the other
LEAST = 0.25
"""The share of the sourced dense peak that a sound device keeps up at the least: our own choice, and a low one.

Each product is compared as well as made, a small card is held down by its power all day, and none should be called ill
that is not; what is found is a card that is stuck at a fraction of its clock from the start.
"""
FATAL = ("uncorrected memory errors", "failed row remappings", "uncorrectable errors")
"""Counters that must not grow."""

Link = Tuple[int, int, int, int]
"""Generation and width of a PCIe link now, and the most that both its ends can."""


@dataclass(frozen=True)
class Round:
    """Some products: TFLOP/s, how many they were, wrong elements, the device's conditions after them, seconds.

    `precision` is theirs, by the name that peak rates have.
    """

    tflops: float
    products: int
    wrong: int
    conditions: Mapping[str, Any]
    seconds: float
    precision: str


def sustained(place: str, rounds: Sequence[Round], *, slowing: bool) -> List[str]:
    """What is wrong with a device by the rounds it did; `slowing` asks whether it slowed down, too."""
    lines = []
    wrong = sum(one.wrong for one in rounds)
    if wrong:
        bad = sum(1 for one in rounds if one.wrong)
        lines.append(f"{exits.NUMERICS}: {place}: {wrong} elements wrong in {bad} of {len(rounds)} rounds under load")
    told = [one.conditions.get("throttle") for one in rounds]
    reasons = sorted({reason for one in (*told, grown([one.conditions for one in rounds])) for reason in harmful(one)})
    if reasons:
        lines.append(f"{exits.THROTTLED}: {place}: {', '.join(reasons)} under load{_clocks(rounds)}")
    early, late = _early_and_late(rounds)
    if slowing and not reasons and early and late and late < early * (1 - SLOWED):
        lines.append(
            f"{exits.THROTTLED}: {place}: from {early:.3g} to {late:.3g} TFLOP/s under load, and no reason is told"
            f"{_clocks(rounds)}"
        )
    return lines


def settled_rate(rounds: Sequence[Round]) -> Optional[float]:
    """TFLOP/s of the last quarter: what the device keeps up."""
    return _early_and_late(rounds)[1]


def beside(rates: Mapping[str, Optional[float]]) -> List[str]:
    """Devices that are slower than their like; all are of one kind, or it says nothing."""
    known = {place: rate for place, rate in rates.items() if rate}
    best = max(known.values(), default=0.0)
    return [
        f"{exits.THROTTLED}: {place}: keeps up {rate:.3g} TFLOP/s, another of its kind {best:.3g}"
        for place, rate in known.items()
        if rate < best * (1 - BEHIND)
    ]


def against(place: str, what: str, rate: float, most: Optional[float], unit: str) -> List[str]:
    """A device that is slow from the start, by itself: held to its sourced dense peak; None is no judgement."""
    if not most or rate >= most * LEAST:
        return []
    share = f"{rate / most:.0%} of its peak of {most:.5g}; {LEAST:.0%} at the least are expected"
    return [f"{exits.THROTTLED}: {place}: keeps up {rate:.3g} {unit} {what}, {share}"]


def narrow(place: str, seen: Sequence[Optional[Link]]) -> List[str]:
    """A PCIe link that stays below what both its ends can while it is used; the best reading counts, as links rest."""
    known = [one for one in seen if one]
    if not known:
        return []
    best = max(known, key=lambda one: one[0] * one[1])
    if best[0] >= best[2] and best[1] >= best[3]:
        return []
    return [f"{exits.THROTTLED}: {place}: its PCIe link runs at {link_text(best)} under load"]


def links(rates: Mapping[Tuple[str, str], float]) -> List[str]:
    """Links that are far slower one way than the other: between two pairs they may differ, they are not all alike."""
    return [
        f"{exits.THROTTLED}: link {one} -> {two}: {rate:.3g} GB/s, the other way {rates[two, one]:.3g}"
        for (one, two), rate in rates.items()
        if (two, one) in rates and rate * LOPSIDED < rates[two, one]
    ]


def link_text(link: Optional[Link]) -> str:
    """`4x16 of 5x16`: generation and width now, and at most; an empty text where they cannot be read."""
    return "{}x{} of {}x{}".format(*link) if link else ""


def counted(place: str, before: Mapping[str, int], after: Mapping[str, int]) -> List[str]:
    """Errors that the hardware has counted meanwhile."""
    return [
        f"{exits.DEVICE_LOST}: {place}: {after[name] - before.get(name, 0)} {name} during the check"
        for name in after
        if name in FATAL and after[name] > before.get(name, 0)
    ]


def foreign(processes: Optional[Sequence[int]], ours: int) -> Optional[List[int]]:
    """The processes that are not this one. In a container the host knows ours by another number: then one is ours."""
    if processes is None:
        return None
    return [one for one in processes if one != ours] if ours in processes else list(processes[1:])


def notes(
    place: str,
    *,
    free: Optional[int],
    whole: Optional[int],
    others: Optional[Sequence[int]],
    throttle: Optional[Sequence[str]],
    counters: Mapping[str, int],
) -> List[str]:
    """What is worth telling of a device that computes right: others on it, little memory, throttling, errors."""
    lines = []
    if others:
        lines.append(f"{place}: {len(others)} other processes are on it")
    if free is not None and whole and free < whole / 2:
        lines.append(f"{place}: {free / 1e9:.1f} of {whole / 1e9:.1f} GB are free")
    if harmful(throttle):
        lines.append(f"{place}: throttled while idle: {', '.join(harmful(throttle))}")
    lines += [f"{place}: {number} {name}" for name, number in counters.items() if number]
    return lines


def _early_and_late(rounds: Sequence[Round]) -> Tuple[Optional[float], Optional[float]]:
    """Median rates of the first quarter, without the round that sets up where there are more, and of the last."""
    rates = [one.tflops for one in rounds[1:] or rounds]
    quarter = max(1, len(rates) // 4)
    if not rates:
        return None, None
    return statistics.median(rates[:quarter]), statistics.median(rates[-quarter:])


def _clocks(rounds: Sequence[Round]) -> str:
    seen: Dict[str, List[float]] = {
        name: [one.conditions[name] for one in rounds if one.conditions.get(name) is not None]
        for name in ("clock_mhz", "temperature_c")
    }
    clocks, heats = seen["clock_mhz"], seen["temperature_c"]
    parts = [f"{max(clocks):.0f} to {min(clocks):.0f} MHz"] if clocks else []
    parts += [f"{max(heats):.0f} C"] if heats else []
    return f" ({', '.join(parts)})" if parts else ""
