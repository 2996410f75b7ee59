"""What measurements say: of head against base, and of one series over time."""

from msgspec import Struct

from orchestrator.model.ground import Natural
from orchestrator.vocabulary import ComparisonVerdict


class PairedComparison(Struct, frozen=True, kw_only=True):
    """What measured pairs say of head against base.

    `effect` is head / base - 1, `interval` its two ends, None where a number has no end or none was found.
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
    """Where a series changed; `flags` is None where nothing could be read of it."""

    flags: tuple[TrendFlag, ...] | None
    points: Natural
    why: str
