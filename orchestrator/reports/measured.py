"""What measurements say, as plain text: the verdict or the changes first, then the figures, then how they lie."""

from collections.abc import Sequence

from orchestrator import text
from orchestrator.model import PairedComparison, Trend
from orchestrator.reports.columns import Column, Line, page, painted, table, wrap
from orchestrator.reports.sparkline import sparkline
from orchestrator.vocabulary import ComparisonVerdict

_COLOURS = {
    ComparisonVerdict.PASS: "32",
    ComparisonVerdict.IMPROVED: "32",
    ComparisonVerdict.FAIL: "1;31",
    ComparisonVerdict.INCONCLUSIVE: "33",
    ComparisonVerdict.UNMEASURABLE: "33",
}
_WIDEST = 80


def comparison_page(
    told: PairedComparison, differences: Sequence[float], *, better: str, margin: float, width: int, colour: bool
) -> str:
    """A paired comparison; `differences` are the ln(head / base) of its pairs, `better` is `lower` or `higher`."""
    figures = {
        "effect": f"{_percent(told.effect)}, {better} is better",
        "interval": " to ".join(_percent(end) for end in told.interval) if told.interval else "none",
        "margin": text.percent(margin),
        "smallest detectable": _percent(told.smallest_detectable, sign=False),
        "pairs": f"{told.pairs:,}",
    }
    return page(
        [
            painted(line, _COLOURS[told.verdict] if colour else "")
            for line in wrap(f"{told.verdict}: {told.why}", width)
        ],
        _figures(figures),
        _drawn("head / base, pair by pair", differences, min(width, _WIDEST)),
    )


def trend_page(told: Trend, values: Sequence[float], *, width: int, colour: bool) -> str:
    """The changes of a series, and the series with a mark below each."""
    flags = told.flags or ()
    found = text.counting(len(flags), "change") if flags else "not told" if told.flags is None else "no change"
    lines = [
        Line(
            values=(text.percent(flag.effect, sign=True), str(flag.index), text.one_line(str(flag.time), 40)),
            colour="33" if colour else "",
        )
        for flag in flags
    ]
    return page(
        [painted(line, "33" if colour and flags else "") for line in wrap(f"{found}: {told.why}", width)],
        table([Column(name=name) for name in ("effect", "index", "time")], lines, width),
        _drawn(f"{told.points:,} points", values, min(width, _WIDEST), [flag.index for flag in flags]),
    )


def _percent(share: float | None, *, sign: bool = True) -> str:
    return "none" if share is None else text.percent(share, sign=sign)


def _figures(figures: dict[str, str]) -> list[str]:
    names = max(len(name) for name in figures)
    return [f"{name:<{names}}  {figure}" for name, figure in figures.items()]


def _drawn(title: str, numbers: Sequence[float], width: int, marks: Sequence[int] = ()) -> list[str]:
    return [title, *sparkline(numbers, width, marks)] if len(numbers) > 1 else []
