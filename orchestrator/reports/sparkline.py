"""Numbers over time as one line of text."""

from collections.abc import Sequence
from itertools import pairwise

_LEVELS = "▁▂▃▄▅▆▇█"


def sparkline(numbers: Sequence[float], width: int, marks: Sequence[int] = ()) -> list[str]:
    """The numbers as bars, several to a bar where there are more than `width`, and a `^` below each index in `marks`.

    A bar is the middle one of its numbers. Numbers that are all the same lie in the middle.
    """
    if not numbers:
        return []
    bars = min(len(numbers), max(width, 1))
    edges = [at * len(numbers) // bars for at in range(bars + 1)]
    heights = [sorted(numbers[start:end])[(end - start) // 2] for start, end in pairwise(edges)]
    low, span = min(heights), max(heights) - min(heights)
    line = "".join(
        _LEVELS[int((one - low) / span * (len(_LEVELS) - 1) + 0.5)] if span else _LEVELS[3] for one in heights
    )
    if not marks:
        return [line]
    below = [" "] * bars
    for index in marks:
        below[next(at for at in range(bars) if edges[at + 1] > index)] = "^"
    return [line, "".join(below).rstrip()]
