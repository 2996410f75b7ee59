# /// script
# requires-python = ">=3.11"
# dependencies = ["apache-otava>=0.8", "asv>=0.6.5", "torchmatrix"]
# [tool.uv.sources]
# torchmatrix = { path = "..", editable = true }
# ///
"""How often comparisons and trends are right, beside apache-otava, asv's steps, a z-score rule and a plain 5 % rule.

    uv run benchmarks/decisions.py [--repeats 1000] [--series FOLDER]

The first table has pairs of runs, simulated with a seed: how often each rule calls head a loss. The second has series:
how many of 100 without a change are flagged, how many steps are found, and what is flagged in the public Talos and
TigerBeetle series where a folder has them.

The bounds of the project: of the same thing at most 0.2 % are called a loss, at doubled noise 1 %; of series of 100
points without a change at most 1 % are flagged; 95 % of losses of 3 % are found, with 7 pairs on average, and 90 % of
steps of 5 %. Exits 1 where one does not hold; of few repeats one may go amiss.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from asv.step_detect import detect_regressions, detect_steps
from otava.analysis import compute_change_points
from scipy import stats
from simulated import Numbers, pairs, runs, stepped

from orchestrator.results.statistics import LOOKS, Design, compare, pairs_wanted
from orchestrator.results.trend import trend
from orchestrator.vocabulary import ComparisonVerdict

Calibration = list[tuple[float, float]]
Rule = Callable[[Numbers, Numbers, Calibration], tuple[bool, int]]
Detector = Callable[[Numbers], Sequence[int]]
STEP_AT, LAG, NEAR = 60, 3, 3
WELCH = 0.01
SAME_MOST, DOUBLED_MOST, FLAGGED_MOST, CAUGHT_LEAST, FOUND_LEAST, PAIRS_MOST = 0.002, 0.01, 0.01, 0.95, 0.9, 7
DOUBLED = "same, noise x2"


def in_looks(base: Numbers, head: Numbers, calibration: Calibration) -> tuple[bool, int]:
    wanted = LOOKS[0]
    while True:
        told = compare(base[:wanted].tolist(), head[:wanted].tolist(), Design(looks=len(LOOKS)), calibration)
        if not (wanted := pairs_wanted(told)):
            return told.verdict is ComparisonVerdict.FAIL, told.pairs


def one_look(base: Numbers, head: Numbers, _: Calibration) -> tuple[bool, int]:
    return compare(base.tolist(), head.tolist(), Design()).verdict is ComparisonVerdict.FAIL, len(base)


def welch(base: Numbers, head: Numbers, _: Calibration) -> tuple[bool, int]:
    return bool(stats.ttest_ind(head, base, equal_var=False, alternative="greater").pvalue < WELCH), len(base)


def z_score(base: Numbers, head: Numbers, _: Calibration) -> tuple[bool, int]:
    return bool(head.mean() > base.mean() + 3 * base.std(ddof=1) / np.sqrt(len(base))), len(base)


def five_percent(base: Numbers, head: Numbers, _: Calibration) -> tuple[bool, int]:
    return bool(np.median(head) > 1.05 * np.median(base)), len(base)


RULES: dict[str, Rule] = {
    "torchmatrix, looks at 5, 10, 20": in_looks,
    "torchmatrix, one look at 20": one_look,
    f"Welch's t, p < {WELCH}": welch,
    "z > 3": z_score,
    "median past 5 %": five_percent,
}
PAIRS: dict[str, dict[str, Any]] = {
    "same 1 %": {"noise": 0.01},
    "same 2 %, drift": {"noise": 0.02, "drift": 0.004},
    "same, outliers": {"noise": 0.01, "outliers": 0.03},
    DOUBLED: {"noise": 0.02},  # of what is calibrated
    "3 % loss": {"noise": 0.01, "loss": 0.03},
    "3 % loss, 2 %": {"noise": 0.02, "loss": 0.03},
}


def ours(series: Numbers) -> list[int]:
    return [flag.index for flag in trend(series.tolist(), range(len(series))).flags or ()]


def otava(series: Numbers, magnitude: float = 0.0) -> list[int]:
    points, _ = compute_change_points(series.tolist(), max_pvalue=0.001, min_magnitude=magnitude)
    return [point.index for point in points]


def asv(series: Numbers) -> list[int]:
    """The upward steps past asv's default of 5 %, and of the turned series the downward ones."""
    found = set()
    for turned in (series, series.max() + series.min() - series):
        _, _, regressions = detect_regressions(detect_steps(turned.tolist()), threshold=0.05)
        found |= {after for _, after, *_ in regressions or ()}
    return sorted(found)


def z_of_history(series: Numbers) -> list[int]:
    """A point more than five standard deviations off the hundred before it."""
    past = [(at, series[max(0, at - 100) : at]) for at in range(20, len(series))]
    return [at for at, before in past if abs(series[at] - before.mean()) > 5 * max(before.std(ddof=1), 1e-12)]


def five_percent_off(series: Numbers) -> list[int]:
    """A point more than 5 % off the one before it."""
    return (np.flatnonzero(np.abs(np.diff(np.log(series))) > np.log(1.05)) + 1).tolist()


DETECTORS: dict[str, Detector] = {
    "torchmatrix": ours,
    "otava p 0.001": otava,
    "otava, 2 % or more": lambda series: otava(series, 0.02),
    "asv, 5 % or more": asv,
    "z > 5": z_of_history,
    "past 5 %": five_percent_off,
}
UNCHANGED: dict[str, dict[str, Any]] = {
    "1 %": {"noise": 0.01},
    "3 %": {"noise": 0.03},
    "AR 0.5": {"noise": 0.01, "correlation": 0.5},
    "outliers": {"noise": 0.01, "outliers": 0.03},
    "two speeds": {"noise": 0.01, "speeds": (1.0, 1.3)},
}


def compared(repeats: int) -> bool:
    """The table of pairs; whether ours keeps its bounds."""
    print(f"called a loss, of {repeats} comparisons of 20 pairs; 20 more of the same image are the calibration\n")
    print(f"{'':32}" + "".join(f"{name:>17}" for name in PAIRS) + f"{'pairs for 3 %':>17}")
    good = True
    for rule_name, rule in RULES.items():
        shares, needed = {}, 0.0
        for name, kind in PAIRS.items():
            random = np.random.default_rng(6)
            told = []
            for _ in range(repeats):
                calm = kind | {"loss": 0.0, "noise": kind["noise"] / (2 if name == DOUBLED else 1)}
                calibration = list(zip(*pairs(random, 20, **calm), strict=True))
                told.append(rule(*pairs(random, 20, **kind), calibration))
            shares[name] = sum(lost for lost, _ in told) / repeats
            needed = float(np.mean([count for _, count in told])) if name == "3 % loss" else needed
        print(f"{rule_name:32}" + "".join(f"{share:>17.2%}" for share in shares.values()) + f"{needed:>17.1f}")
        if rule is in_looks:
            good = max(shares["same 1 %"], shares["same 2 %, drift"]) <= max(SAME_MOST, 1 / repeats)
            good &= shares[DOUBLED] <= max(DOUBLED_MOST, 1 / repeats) and needed <= PAIRS_MOST
        if rule in {in_looks, one_look}:
            good &= shares["3 % loss"] >= CAUGHT_LEAST
    return good


def flagged(repeats: int) -> bool:
    """The table of simulated series; whether ours keeps its bounds."""
    print(f"\nseries of 100 points without a change that are flagged, and steps that are found, of {repeats}\n")
    columns = [*UNCHANGED, "5 % by 3 points", "3 % by 20 points", "ms a series"]
    print(f"{'':20}" + "".join(f"{name:>17}" for name in columns))
    good = True
    for name, detector in DETECTORS.items():
        random = np.random.default_rng(7)
        started = time.perf_counter()
        shares = [
            sum(bool(detector(runs(random, 100, **kind))) for _ in range(repeats)) / repeats
            for kind in UNCHANGED.values()
        ]
        took = (time.perf_counter() - started) / repeats / len(UNCHANGED)
        for share, after in ((0.05, LAG), (0.03, 20)):
            found = 0
            for _ in range(repeats):
                at = detector(stepped(runs(random, STEP_AT + after, 0.01), STEP_AT, share))
                found += any(abs(one - STEP_AT) <= NEAR for one in at)
            shares.append(found / repeats)
        print(f"{name:20}" + "".join(f"{share:>17.1%}" for share in shares) + f"{took * 1e3:>17.1f}")
        if detector is ours:
            good = max(shares[:4]) <= max(FLAGGED_MOST, 1 / repeats) and shares[5] >= FOUND_LEAST
    return good


def public(folder: Path) -> None:
    """Flags in other people's series beside the changes that are known of them."""
    talos = json.loads((folder / "mozilla-talos" / "talos_series.json").read_bytes())
    print("\nknown changes found, and all flags, in the public Talos series (runs5 has two speeds and no change)\n")
    print(f"{'':20}" + "".join(f"{name:>17}" for name in talos))
    for name, detector in DETECTORS.items():
        cells = []
        for one in talos.values():
            known = [one["t"].index(moment) for moment in one["expected_change_timestamps_treeherder_t7"]]
            at = detector(np.array(one["y"], dtype=np.float64))
            hit = sum(any(abs(here - change) <= NEAR for here in at) for change in known)
            cells.append(f"{hit} of {len(known)}, {len(at)}")
        print(f"{name:20}" + "".join(f"{cell:>17}" for cell in cells))
    measured = json.loads((folder / "tigerbeetle" / "tigerbeetle.json").read_bytes())
    names = [metric["name"] for metric in measured[0]["metrics"]]
    print(f"\nflags in the public TigerBeetle series of {len(measured)} points\n")
    print(f"{'':20}" + "".join(f"{name:>17}" for name in names))
    for name, detector in DETECTORS.items():
        columns = (
            np.array([point["metrics"][at]["value"] for point in measured], dtype=float) for at in range(len(names))
        )
        print(f"{name:20}" + "".join(f"{len(detector(column)):>17}" for column in columns))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--series", type=Path, help="a folder with mozilla-talos/ and tigerbeetle/")
    asked = parser.parse_args()
    good = compared(asked.repeats)
    good &= flagged(asked.repeats)
    if asked.series:
        public(asked.series)
    print(f"\n{'the bounds hold' if good else 'a bound does not hold'}")
    sys.exit(not good)


if __name__ == "__main__":
    main()
