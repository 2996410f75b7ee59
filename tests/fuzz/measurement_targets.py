"""Files of measurements that somebody wrote down: whatever comes of one, no comparison rests on what is no number."""

import math

from law import Target, ours

from orchestrator.results.measurements import read_pairs, read_series
from orchestrator.results.statistics import Design, compare
from orchestrator.results.trend import trend
from orchestrator.vocabulary import ComparisonVerdict


def pairs() -> Target:
    rows = b"".join(b"%d.%d,%d.5\n" % (100 + at % 3, at, 103 + at % 2) for at in range(20))

    def check(data: bytes) -> bool:
        def parse() -> None:
            found = read_pairs(data, "p.csv")
            assert len(found.base) == len(found.head) > 0
            assert all(number > 0 and math.isfinite(number) for number in (*found.base, *found.head))
            told = compare(found.base, found.head, Design())
            if told.verdict is ComparisonVerdict.PASS:
                assert told.smallest_detectable is not None
                assert told.smallest_detectable <= Design().margin + 1e-9

        return ours(parse)

    return Target(
        "pairs", (b"base,head\n" + rows, b'\xef\xbb\xbfbase, head\r\n"1",2.5\r\n', b"base,head\n1e3,+.5\n"), check
    )


def series() -> Target:
    numbers = b"".join(b"%d,%d.%d\n" % (at, 100 + 5 * (at > 40), at % 7) for at in range(60))
    days = b"".join(b"2026-11-%02dT12:00:00+01:00,7\n" % (1 + at) for at in range(9))

    def check(data: bytes) -> bool:
        def parse() -> None:
            found = read_series(data, "s.csv")
            assert len(found.times) == len(found.values) > 0
            assert all(number > 0 and math.isfinite(number) for number in found.values)
            told = trend(found.values, found.times)
            assert told.points == len(found.values)
            assert all(flag.time == found.times[flag.index] for flag in told.flags or ())

        return ours(parse)

    return Target("series", (b"time,value\n" + numbers, b"time,value\n" + days, b"time,value\n1.5e3,2\n"), check)
