"""Did this series change? A flag of the trend only asks for a comparison; it never gates anything by itself.

Each window of the newest points is held against what came before it since the last change, on the scale of ln. What
makes noise look like change is met one by one: outliers (clipped, and most of a window must have moved), points that
follow their neighbours (the error of a mean grows with the autocorrelation), machines of two speeds (a point is held
against the level that is nearer), clocks that are coarse (noise is at least half of a tick).
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from orchestrator import text
from orchestrator.model import Trend, TrendFlag

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

WINDOWS = (3, 6, 12)  # points: the first is quick, the last sees what is small
BASELINE = 30  # points that are needed before anything can be said
YOUNG = 6  # the same after a change, when the noise is known from before it
MEMORY = 300  # points that a level and its noise are taken from
STANDARD_ERRORS = 5.5
LEAST = 0.005  # of ln: what moves less is no change that anyone acts on
_MOVED = 0.5  # of the change: a point that is past it has moved
_MOST = 0.75  # of a window must have moved; of the shortest, all of it
_CLIP = 3.0  # standard deviations
_APART = 4.0  # two levels lie so many times their own spread apart
_VISITS = 5  # points, and a tenth of all, that make a level
_RETURNS = 4  # moves between two levels that make them two speeds and not a change
_FLOOR = 1e-4  # of ln: noise of a series that never moved
_MATURE = 100  # points, from which on the few that lie in the shorter windows only do not matter for a level
_REFRESH = 0.1  # a level is taken anew when it has so much more behind it


class _Level(Struct, frozen=True):
    """Where a series lies: one level or two, how far points stray from them, and how much of that the next keeps."""

    centres: "Numbers"
    points: int
    sigma: float
    correlation: float
    residuals: "Numbers"

    def off(self, points: "Numbers") -> "Numbers":
        """How far points are from the level that is nearer."""
        return _residuals(points, self.centres)

    def error(self, window: int) -> float:
        """The standard error of a window's mean against this level."""
        own = _variance_of_mean(window, self.correlation)
        return self.sigma * math.sqrt(own + (1 + self.correlation) / (1 - self.correlation) / self.points)


class _Change(Struct, frozen=True):
    """The first point of a new level, how far a window saw it lie off the level before, and that level."""

    at: int
    seen: float
    before: _Level


def trend(values: Sequence[float], times: Sequence[float | int | str]) -> Trend:
    """Where a series of positive, finite measurements changed; `times` say when each was taken, in their order.

    Made for this project: no known detector is quiet on outliers and on correlated noise, and quick at a step of 5 %.
    The error of a correlated mean: Box, Jenkins and Reinsel, Time Series Analysis, 4th edition 2008, section 2.1.5.
    ValueError unless all values are positive and finite, and the times as many.
    """
    import numpy as np

    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size != len(times):
        raise ValueError(f"{numbers.size} values and {len(times)} times make no series")
    if not ((numbers > 0).all() and np.isfinite(numbers).all()):
        raise ValueError("a level needs measurements that are positive and finite")
    least = BASELINE + WINDOWS[0]
    if numbers.size < least:
        why = (
            f"a change is told from {least} points on, and there {'is' if numbers.size == 1 else 'are'} {numbers.size}"
        )
        return Trend(flags=None, points=numbers.size, why=why)
    series = np.log(numbers)
    later = _changes(series)
    changes = _early(series[: later[0][0] if later else None]) + later or _drift(series)
    flags = tuple(TrendFlag(index=at, time=times[at], effect=_share(effect)) for at, effect in changes)
    return Trend(flags=flags, points=numbers.size, why=_why(flags, series))


def _why(flags: Sequence[TrendFlag], series: "Numbers") -> str:
    points = len(series)
    if flags:
        return (
            f"beyond {STANDARD_ERRORS:.1f} standard errors, in {points:,} points; runs of both sides are to confirm it"
        )
    level = _level(series[-MEMORY:], series[:0])
    seen = max(STANDARD_ERRORS * level.error(WINDOWS[-1]), LEAST)
    new = f"the last {WINDOWS[0] - 1} are too new to tell"
    return f"in {points:,} points no lasting step of {text.percent(_share(seen))} or more; {new}"


def _drift(series: "Numbers") -> list[tuple[int, float]]:
    """Where a series that has no step, but rises or falls all the way, is half through; and by how much, end to end.

    The slope is that between the medians of its first and its last third; the error of a median is sqrt(pi / 2) times
    that of a mean (Kenney and Keeping, Mathematics of Statistics, 1962, section 13.13).
    """
    import numpy as np

    if len(_centres(series)) > 1:
        return []
    points = len(series)
    third = points // 3
    rise = float(np.median(series[-third:]) - np.median(series[:third])) * points / (points - third)
    rest = series - rise * (np.arange(points) - points / 2) / points
    level = _level(rest, rest[:0])
    error = math.sqrt(math.pi / 2 * 2 / third * (1 + level.correlation) / (1 - level.correlation)) * 1.5 * level.sigma
    return [(points // 2, rise)] if abs(rise) > max(STANDARD_ERRORS * error, 2 * LEAST) else []


def _changes(series: "Numbers") -> list[tuple[int, float]]:
    """The first point of each new level, and by how much of ln it lies off the level before it.

    What a window saw and the dozen points from there on do not bear out went away, and was no change.
    """
    found: list[_Change] = []
    start, past = 0, series[:0]
    while (change := _next(series, start, past)) is not None:
        found.append(change)
        # Of a machine of two speeds the other one is not seen yet: that takes a full baseline.
        start, past = change.at, change.before.residuals if len(change.before.centres) == 1 else series[:0]
    ends = [change.at for change in found[1:]] + [len(series)]
    changes = []
    for change, end in zip(found, ends, strict=False):  # without a change there is the series' own end alone
        effect = _mean(change.before, series[change.at : min(end, change.at + WINDOWS[-1])])
        if abs(effect) >= abs(change.seen) / 2:
            changes.append((change.at, effect))
    return changes


def _early(series: "Numbers") -> list[tuple[int, float]]:
    """The changes within the first baseline of a series that did not change afterwards: those that it has backwards."""
    head = series[: BASELINE + MEMORY]
    found = [(len(head) - at, -effect) for at, effect in _changes(head[::-1])]
    return [(at, effect) for at, effect in reversed(found) if WINDOWS[0] <= at < BASELINE]


def _next(series: "Numbers", start: int, past: "Numbers") -> _Change | None:
    """The first change after the one at `start`; None when the level holds."""
    least = YOUNG if len(past) >= BASELINE else BASELINE
    end = start + least + WINDOWS[0]
    while end <= len(series):
        points = min(end - WINDOWS[0] - start, MEMORY)
        until = min(end + max(1, int(points * _REFRESH)), len(series) + 1)
        hits, levels = [], dict[int, _Level]()
        for window in WINDOWS:
            last = end - (WINDOWS[-1] if points >= _MATURE else window)
            if last - start < least:
                break
            level = levels.get(last) or _level(series[max(last - MEMORY, start) : last], past)
            levels[last] = level
            if (hit := _moved(series[end - window : until - 1], window, level)) is not None:
                hits.append((end + hit, window, level))
        if hits:
            seen, window, level = min(hits, key=lambda hit: hit[:2])
            at = start + _split(series[start:seen], level)
            return _Change(at, _mean(level, series[seen - window : seen]), level)
        end = until
    return None


def _level(base: "Numbers", past: "Numbers") -> _Level:
    """The level of the points of a baseline; `past` is how far earlier points lay off theirs."""
    import numpy as np

    centres = _centres(base)
    own = _residuals(base, centres)
    young = len(base) < BASELINE
    residuals = np.concatenate((past, own))[-MEMORY:] if young else own
    sigma = max(_spread(residuals), _spread(own) if young else 0.0, _tick(base) / 2, _FLOOR)
    if len(centres) > 1:
        upper = _nearer(base, centres) == 1
        sigma = max(sigma, _spread(own[upper]), _spread(own[~upper]))
    return _Level(centres, len(base), sigma, _correlation(np.clip(residuals, -_CLIP * sigma, _CLIP * sigma)), residuals)


def _moved(points: "Numbers", window: int, level: _Level) -> int | None:
    """The first window of the points, each a step after the other, that has left the level."""
    import numpy as np

    off = np.lib.stride_tricks.sliding_window_view(level.off(points), window)
    middle = np.median(off, axis=1, keepdims=True)
    mean = np.clip(off, middle - 2 * level.sigma, middle + 2 * level.sigma).mean(axis=1)
    beyond = np.abs(mean) > max(STANDARD_ERRORS * level.error(window), LEAST)
    share = (off * np.sign(mean)[:, None] > _MOVED * np.abs(mean)[:, None]).mean(axis=1)
    hits = np.flatnonzero(beyond & (share >= (1.0 if window == WINDOWS[0] else _MOST)))
    return int(hits[0]) if len(hits) else None


def _split(points: "Numbers", level: _Level) -> int:
    """Where points that end on another level than theirs left it: of two means those with the least squares.

    Hinkley 1970, https://doi.org/10.1093/biomet/57.1.1
    """
    import numpy as np

    newest = points[-2 * WINDOWS[-1] :]
    first = len(points) - len(newest)
    off = level.off(points[max(first - WINDOWS[-1], 0) :])
    middle = float(np.median(off[-WINDOWS[0] :]))
    reach = _CLIP * level.sigma  # no outlier counts for more than a little past either level
    sums = np.cumsum(np.clip(off, min(middle, 0.0) - reach, max(middle, 0.0) + reach))
    at = np.arange(max(len(off) - len(newest), 1), len(off) - 1)
    left, right = sums[at - 1] / at, (sums[-1] - sums[at - 1]) / (len(off) - at)
    return len(points) - len(off) + int(at[np.argmax(at * (len(off) - at) * (left - right) ** 2)])


def _centres(base: "Numbers") -> "Numbers":
    """The median; or two, where the points go back and forth between two levels that lie far apart."""
    import numpy as np

    one = np.array([np.median(base)])
    if len(base) < BASELINE:
        return one
    ordered = np.sort(base)
    least = max(_VISITS, len(base) // 10)
    gaps = np.diff(ordered)[least - 1 : len(base) - least]
    at = int(np.argmax(gaps)) + least
    low, high = ordered[:at], ordered[at:]
    centres = np.array([np.median(low), np.median(high)])
    if high[0] - low[-1] <= _APART * max(_spread(low - centres[0]), _spread(high - centres[1]), _FLOOR):
        return one
    return centres if np.count_nonzero(np.diff(base >= high[0])) >= _RETURNS else one


def _nearer(points: "Numbers", centres: "Numbers") -> "NDArray[np.intp]":
    import numpy as np

    nearer: NDArray[np.intp] = np.abs(points[:, None] - centres).argmin(axis=1)
    return nearer


def _residuals(points: "Numbers", centres: "Numbers") -> "Numbers":
    return points - centres[_nearer(points, centres)]


def _spread(residuals: "Numbers") -> float:
    """The standard deviation of what is clipped at three of them, which two rounds from the MAD find.

    1.4826 makes the median absolute deviation one: Rousseeuw and Croux 1993, https://doi.org/10.2307/2291267
    """
    import numpy as np

    sigma = 1.4826 * float(np.median(np.abs(residuals)))
    for _ in range(2):
        if sigma > 0:
            sigma = float(np.sqrt(np.mean(np.clip(residuals, -_CLIP * sigma, _CLIP * sigma) ** 2)))
    return sigma


def _correlation(residuals: "Numbers") -> float:
    """How much of a point's residual the next one keeps, from 0 to 0.9; a short series shows too little of it.

    Marriott and Pope 1954, https://doi.org/10.1093/biomet/41.3-4.390
    """
    centred = residuals - residuals.mean()
    total = float(centred @ centred)
    lag = float(centred[1:] @ centred[:-1]) / total if total > 0 else 0.0
    return min(max(lag + (1 + 3 * lag) / len(residuals), 0.0), 0.9)


def _variance_of_mean(count: int, correlation: float) -> float:
    """The variance of a mean of so many points of variance 1, each of which keeps so much of the one before it."""
    return (1 + 2 * sum((1 - lag / count) * correlation**lag for lag in range(1, count))) / count


def _tick(base: "Numbers") -> float:
    """The least step that the points go up and down by, again and again: what a coarse clock cannot divide."""
    import numpy as np

    steps = np.abs(np.diff(base))
    steps = steps[steps > 0]
    return float(steps.min()) if len(steps) >= _RETURNS else 0.0


def _mean(level: _Level, points: "Numbers") -> float:
    """The mean of how far points lie off a level, outliers clipped."""
    import numpy as np

    off = level.off(points)
    middle = float(np.median(off))
    return float(np.clip(off, middle - 2 * level.sigma, middle + 2 * level.sigma).mean())


def _share(of_ln: float) -> float:
    """exp(x) - 1, at most what a number can be."""
    return math.expm1(min(of_ln, 700.0))
