"""Measurements of which the truth is known, from a seeded generator: what comparisons and trends are held against.

Noise is a share: 0.01 is 1 % of a run's own. Each figure is one run's, as a fresh container would give it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Random = np.random.Generator


def runs(
    random: Random,
    count: int,
    noise: float,
    *,
    drift: float = 0.0,
    correlation: float = 0.0,
    outliers: float = 0.0,
    speeds: tuple[float, float] = (1.0, 1.0),
) -> Numbers:
    """So many runs of one thing around 100.

    `drift` is added with each run, `correlation` is the share of its noise that a run keeps of the one before it,
    `outliers` the share of runs that lie 10 to 50 % off, and each run falls on a machine of one of two `speeds`.
    """
    fresh = random.standard_normal(count)
    kept = np.empty(count)
    for at in range(count):
        kept[at] = correlation * kept[at - 1] + np.sqrt(1 - correlation**2) * fresh[at] if at else fresh[at]
    off = np.where(random.random(count) < outliers, random.choice([0.8, 1.1, 1.2, 1.5], count), 1.0)
    return 100 * (1 + noise * kept) * (1 + drift * np.arange(count)) * off * random.choice(speeds, count)


def pairs(random: Random, count: int, noise: float, *, loss: float = 0.0, **kind: Any) -> tuple[Numbers, Numbers]:
    """Base and head, next to each other in an order that a coin chooses; head takes `loss` more. `kind`: see `runs`."""
    taken = runs(random, 2 * count, noise, **kind).reshape(count, 2)
    turned = random.integers(2, size=count) == 1
    base, head = np.where(turned, taken[:, 1], taken[:, 0]), np.where(turned, taken[:, 0], taken[:, 1])
    return base, head * (1 + loss)


def stepped(series: Numbers, at: int, share: float) -> Numbers:
    """The series with its level moved by a share from a point on."""
    return np.concatenate((series[:at], series[at:] * (1 + share)))
