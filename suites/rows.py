"""Metric rows: each figure with all that is needed to read it, by the keys of the bundle's row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Optional

from suites.timing import METHOD, Timed, spread

if TYPE_CHECKING:
    from suites.cell import Cell
    from suites.work import Labels


def row(  # noqa: PLR0913 - a row is wide
    cell: Cell,
    place: str,
    labels: Labels,
    metric: str,
    value: Optional[float],
    unit: str,
    *,
    direction: str = "lower",
    statistic: str = "exact",
    samples: int = 1,
    warmup: int = 0,
    timer: str = "none",
    scope: str = "",
    formula: str = "",
    spread: Optional[Dict[str, float]] = None,
    conditions: Optional[Dict[str, Any]] = None,
    why: str = "",
) -> Dict[str, Any]:
    """The row; with `why` it says that there is no figure, and for what reason."""
    return {
        "cell": cell.id,
        "metric": metric,
        "value": value,
        "unit": unit,
        "direction": direction,
        "load": labels.load,
        "model": labels.model,
        "model_version": labels.version,
        "shapes": labels.shapes,
        "precision": labels.precision,
        "device": place,
        "warmup": warmup,
        "samples": samples,
        "statistic": statistic,
        "timer": timer,
        "seed": cell.seed,
        "scope": scope[:400],
        "method": METHOD,
        "formula": formula,
        "spread": spread,
        "conditions": conditions,
        "valid": not why,
        "why": why[:400],
    }


def of_time(timed: Timed, factor: float = 1.0) -> Dict[str, Any]:
    """What a row tells of how it was timed; the spread (seconds) is given in the row's unit by `factor`."""
    lay = {name: value * (1 if name == "discarded" else factor) for name, value in timed.spread.items()}
    return {
        "warmup": timed.warmup,
        "samples": timed.samples,
        "statistic": timed.statistic,
        "timer": timed.timer,
        "spread": lay,
        "conditions": timed.conditions,
        "why": timed.why and f"unmeasurable: {timed.why}",
    }


def of_rate(timed: Timed, figure: Callable[[float], float]) -> Dict[str, Any]:
    """The same of a figure that is made of a time; `figure` makes it of a sample's seconds."""
    return {**of_time(timed), "spread": spread([figure(seconds) for seconds in timed.taken])}
