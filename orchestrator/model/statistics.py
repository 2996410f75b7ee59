"""What measurements say: of head against base, and of one series over time."""

from msgspec import Struct

from orchestrator.model.ground import Natural
from orchestrator.vocabulary import ComparisonVerdict


class PairedComparison(Struct, frozen=True, kw_only=True):
    """What measured pairs say of head against base.

    `effect` is head / base - 1. `interval` is where it lies at 99.8 %, each side being a test of one in 1,000 (at more
    in looks and in a family, whose tests are stricter); None where there is none, or no number for an end.
    `smallest_detectable` is the least loss that would have been found 9 times of 10, a share as well.
    """

    verdict: ComparisonVerdict
    effect: float | None
    interval: tuple[float | None, float | None] | None
    smallest_detectable: float | None
    pairs: Natural
    why: str


class TrendFlag(Struct, frozen=True, kw_only=True):
    """Where a series changed: its first point at the new level, counted from 0, and by what share the level moved."""

    index: Natural
    time: int | float | str
    effect: float


class Trend(Struct, frozen=True, kw_only=True):
    """Where a series changed; `flags` is None where that cannot be told: points are too few, or unreadable."""

    flags: tuple[TrendFlag, ...] | None
    points: Natural
    why: str
