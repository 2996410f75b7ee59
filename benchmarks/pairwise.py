"""How many rows pairwise coverage takes, beside allpairspy and covertable; how long and how much memory a large model.

    pip install '.[bench]'
    python benchmarks/pairwise.py [--runs 5]

Bounds of the project: on each published model (pairwise.org) at most 10 % more rows than the better of allpairspy and
covertable's simple mode. A matrix of 1,000,000 raw combinations plans in 2 s and 500 MB, of which pairwise may take
1.2 s; each question to the rules costs 50 us here, as the support engine's do.
"""

import argparse
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from itertools import combinations

from allpairspy import AllPairs
from covertable import criteria, make

from orchestrator.planning.pairwise import Covering, cover

Values = Mapping[str, tuple[str, ...]]
PUBLISHED = {
    "3^4": [3] * 4,
    "3^13": [3] * 13,
    "4^15 3^17 2^29": [4] * 15 + [3] * 17 + [2] * 29,
    "4^1 3^39 2^35": [4] + [3] * 39 + [2] * 35,
    "2^100": [2] * 100,
    "10^20": [10] * 20,
}
LARGE = {"4^10": [4] * 10, "10^6": [10] * 6}
RATIO, SECONDS, MEGABYTES = 1.1, 1.2, 500
QUESTION_S = 50e-6
RULES = 36


def model(sizes: list[int]) -> Values:
    return {f"axis{n}": tuple(f"{n}.{value}" for value in range(size)) for n, size in enumerate(sizes)}


def is_whole(values: Values, rows: list[Mapping[str, str]]) -> bool:
    """Counted apart from the code that made the rows: each pair is in one of them."""
    found = {pair for row in rows for pair in combinations(sorted(row.items()), 2)}
    return len(found) == sum(len(values[a]) * len(values[b]) for a, b in combinations(values, 2))


def compare() -> bool:
    print(f"{'model':16} {'ours':>6} {'allpairspy':>11} {'covertable':>11} {'x better':>9}  seconds")
    late = False
    for name, sizes in PUBLISHED.items():
        values = model(sizes)
        started = time.perf_counter()
        covering = cover(values, [(tuple(values), 2)], lambda _: "")
        took = time.perf_counter() - started
        allpairs = len(list(AllPairs(list(values.values()))))
        simple = len(make(dict(values), criterion=criteria.simple))
        ratio = len(covering.rows) / min(allpairs, simple)
        late |= ratio > RATIO or not is_whole(values, list(covering.rows))
        print(f"{name:16} {len(covering.rows):6} {allpairs:11} {simple:11} {ratio:9.2f}  {took:7.2f}")
    return late


def rules_of(values: Values) -> list[dict[str, set[str]]]:
    """Some dozens of rules about two axes or three, each about a third of their values."""
    chance = random.Random(1)
    return [
        {
            name: set(chance.sample(values[name], max(1, len(values[name]) // 3)))
            for name in chance.sample(list(values), chance.choice((2, 3)))
        }
        for _ in range(RULES)
    ]


def refusing(values: Values, asked: list[int]) -> Callable[[Mapping[str, str]], str]:
    rules = rules_of(values)

    def refuses(partial: Mapping[str, str]) -> str:
        asked[0] += 1
        until = time.perf_counter() + QUESTION_S
        named = (f"rule {n}" for n, rule in enumerate(rules) if all(partial.get(a) in rule[a] for a in rule))
        reason = next(named, "")
        while time.perf_counter() < until:
            pass
        return reason

    return refuses


def measure(sizes: list[int], runs: int) -> tuple[float, Covering, int]:
    values = model(sizes)
    seconds = []
    for _ in range(runs):
        asked = [0]
        started = time.perf_counter()
        covering = cover(values, [(tuple(values), 2)], refusing(values, asked))
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), covering, asked[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    late = False
    print(f"1,000,000 raw combinations, {RULES} rules, {QUESTION_S * 1e6:.0f} us a question; bound {SECONDS} s")
    for name, sizes in LARGE.items():
        took, covering, asked = measure(sizes, runs)
        late |= took > SECONDS or bool(covering.undecided)
        print(
            f"{name:16} median {took:.2f} s, {len(covering.rows)} rows, {len(covering.uncoverable)} pairs uncoverable, "
            f"{len(covering.undecided)} undecided, {asked} questions"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    late |= peak > MEGABYTES
    print(f"peak memory of this process {peak:.0f} MB, bound {MEGABYTES} MB\n")
    return int(compare() or late)


if __name__ == "__main__":
    sys.exit(main())
