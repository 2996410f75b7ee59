"""What measurements say, as people read it."""

from collections.abc import Callable

import pytest

from orchestrator.model import PairedComparison, Trend, TrendFlag
from orchestrator.reports.measured import comparison_page, trend_page
from orchestrator.vocabulary import ComparisonVerdict

Golden = Callable[[str, str], None]
SLOWER = PairedComparison(
    verdict=ComparisonVerdict.FAIL,
    effect=0.0416,
    interval=(0.034, 0.0491),
    smallest_detectable=0.0101,
    pairs=20,
    why="head is 4.2 % above base, which is worse, by more than chance (p 2e-14) and half of the 3 % margin",
)
NOTHING = PairedComparison(
    verdict=ComparisonVerdict.UNMEASURABLE, effect=None, interval=None, smallest_detectable=None, pairs=0, why="no pair"
)
MOVED = Trend(flags=(TrendFlag(index=5, time="2026-11-30\x1b[31m", effect=0.0503),), points=8, why="beyond 5.5")
FEW = Trend(flags=None, points=1, why="a change is told from 33 points on, and there is 1")
QUIET = Trend(flags=(), points=8, why="no level moved")
DIFFERENCES = [0.01, 0.03, 0.05, 0.04, 0.02]
VALUES = [1.0, 1.0, 1.1, 1.0, 1.0, 2.0, 2.1, 2.0]


@pytest.mark.parametrize("width", [40, 120])
def test_the_pages_read_as_they_always_have(golden: Golden, width: int) -> None:
    pages = [
        comparison_page(SLOWER, DIFFERENCES, better="lower", margin=0.03, width=width, colour=False),
        comparison_page(NOTHING, [], better="higher", margin=0.03, width=width, colour=False),
        trend_page(MOVED, VALUES, width=width, colour=False),
        trend_page(QUIET, VALUES, width=width, colour=False),
        trend_page(FEW, [1.0], width=width, colour=False),
    ]
    golden(f"measured-{width}.txt", "\n\n".join(pages) + "\n")


def test_colour_adds_nothing_to_the_words() -> None:
    for colour in (True, False):
        page = comparison_page(SLOWER, DIFFERENCES, better="lower", margin=0.03, width=240, colour=colour)
        assert ("\x1b[" in page) is colour
        assert page.replace("\x1b[1;31m", "").replace("\x1b[0m", "").startswith("FAIL: head is 4.2 % above base")
