"""Versions as people write them, read into half-open spans of release numbers.

`2.8` is every 2.8.x: the span from (2, 8) up to, not including, (2, 9). A range such as `>=2.3,<2.5` is one span, an
exclusion such as `!=3.14.1` two. Numbers are compared component by component, as releases are ordered by PEP 440.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

Release = tuple[int, ...]
Span = tuple[Release, Release | None]  # from the first on, up to but not including the second (None: no end)
Spans = tuple[Span, ...]

EVERYTHING: Spans = (((), None),)
_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|~=|>|<|=)?\s*v?(\d{1,9}(?:\.\d{1,9}){0,5})(?:\.[x*])?\s*", re.ASCII)
LONGEST = 120


def release(text: str) -> Release:
    """The numbers of `2.13.0`; ValueError when it is anything else."""
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9}){0,5}", text, re.ASCII):
        raise ValueError(f"`{text[:60]}` is not a version")
    return tuple(int(part) for part in text.split("."))


def prefix(number: Release) -> tuple[Release, Release]:
    """Every version that begins with these components."""
    return number, after(number)


def after(number: Release) -> Release:
    """The first version that no longer begins with these components."""
    return (*number[:-1], number[-1] + 1)


@lru_cache(maxsize=16384)
def read(text: str) -> Spans:
    """The spans of a version, a prefix or a comma-separated range; ValueError when it is none.

    As with `pip`, every clause must hold; `12.x` and `==12.*` are prefixes.
    """
    if len(text) > LONGEST:
        raise ValueError("too long for a version range")
    spans = EVERYTHING
    for clause in text.split(","):
        found = _CLAUSE.fullmatch(clause)
        if found is None:
            raise ValueError(f"`{clause.strip()[:60]}` is not a version or a range such as >=2.3,<2.5")
        spans = intersection(spans, _clause(found[1] or "==", release(found[2])))
    return spans


def _clause(operator: str, number: Release) -> Spans:
    low, high = prefix(number)
    spans: Mapping[str, Spans] = {
        ">=": ((low, None),),
        ">": ((high, None),),
        "<": (((), low),),
        "<=": (((), high),),
        "!=": (((), low), (high, None)),
        "~=": ((low, after(number[:-1] or number)),),
    }
    return spans.get(operator, ((low, high),))


def intersection(left: Spans, right: Spans) -> Spans:
    """What is in both."""
    met = ((max(a, c), _least(b, d)) for a, b in left for c, d in right)
    return tuple((low, high) for low, high in met if high is None or low < high)


def union(parts: Iterable[Span]) -> Spans:
    """The same versions in the fewest spans, in order."""
    merged: list[Span] = []
    for low, high in sorted(parts, key=lambda span: span[0]):
        if merged and (merged[-1][1] is None or low <= merged[-1][1]):
            merged[-1] = (merged[-1][0], _greatest(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def within(inner: Spans, outer: Spans) -> bool:
    """Whether every version of one is one of the other; `outer` comes from `union`."""
    return bool(inner) and all(any(low >= a and _ends_by(high, b) for a, b in outer) for low, high in inner)


def overlap(left: Spans, right: Spans) -> bool:
    """Whether a version is in both."""
    return bool(intersection(left, right))


def lowest(spans: Spans) -> Release:
    """Where the spans begin."""
    return min((low for low, _ in spans), default=())


def _least(left: Release | None, right: Release | None) -> Release | None:
    return min((end for end in (left, right) if end is not None), default=None)


def _greatest(left: Release | None, right: Release | None) -> Release | None:
    return None if left is None or right is None else max(left, right)


def _ends_by(high: Release | None, bound: Release | None) -> bool:
    return bound is None or (high is not None and high <= bound)


def order(texts: Iterable[str]) -> Sequence[str]:
    """Version texts from old to new, each once; what is no version comes last, by its letters."""

    def key(text: str) -> tuple[bool, Release, str]:
        try:
            return False, lowest(read(text)), text
        except ValueError:
            return True, (), text

    return sorted(set(texts), key=key)
