"""Conditions of rows, and whether what was asked fits them.

On an axis of versions a condition is a prefix (`2.8`) or a range (`>=2.3,<2.5`), on an axis of words a glob; a list
means any of them. `same as AXIS`, `compatible with AXIS` and `at least AXIS` compare with another axis of the question.
"""

import fnmatch
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache

from msgspec import Struct

from orchestrator.support import spans
from orchestrator.support.axes import is_version
from orchestrator.support.rows import Condition
from orchestrator.support.spans import Spans

SAME = "same as "
COMPATIBLE = "compatible with "
AT_LEAST = "at least "


class Fit(Enum):
    """Whether a value fits a condition: surely, surely not, or only a part of what it may stand for."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"


class Value(Struct, frozen=True, gc=False):
    """What was said of an axis: its canonical text and, on an axis of versions, the versions that it stands for.

    `exact` tells a version or prefix (`535`) from a range that somebody asked about (`>=535`); `tag` is the `t` of
    Python's free-threaded builds. On an axis of words `words` are the alternatives.
    """

    text: str
    spans: Spans = ()
    exact: bool = True
    tag: str = ""
    words: tuple[str, ...] = ()


class Asked(Struct, frozen=True, gc=False):
    """A condition, read: spans by tag on an axis of versions, globs on one of words, or another axis to compare."""

    spans: Mapping[str, Spans]
    globs: tuple[str, ...] = ()
    same: str = ""
    compatible: str = ""
    floor: str = ""

    @property
    def other(self) -> str:
        """The axis to compare with, or an empty text."""
        return self.same or self.compatible or self.floor


def alternatives(condition: Condition) -> tuple[str, ...]:
    """The alternatives of a condition."""
    return (condition,) if isinstance(condition, str) else condition


@lru_cache(maxsize=8192)
def read(axis: str, condition: Condition) -> Asked:
    """The condition on that axis; ValueError when it cannot be one."""
    written = alternatives(condition)
    if written and written[0].startswith(SAME):
        return Asked({}, same=written[0].removeprefix(SAME))
    if written and written[0].startswith(COMPATIBLE):
        return Asked({}, compatible=written[0].removeprefix(COMPATIBLE))
    if written and written[0].startswith(AT_LEAST):
        return Asked({}, floor=written[0].removeprefix(AT_LEAST))
    if not is_version(axis):
        return Asked({}, globs=written)
    by_tag: dict[str, list[spans.Span]] = {"": [], "t": []}
    for text in written:
        plain = text.removesuffix("t") if axis == "python" and text[-2:-1].isdigit() else text
        wanted = ("t",) if plain != text else ("",) if axis == "python" and plain[:1].isdigit() else ("", "t")
        for tag in wanted:
            by_tag[tag].extend(spans.read(plain))
    return Asked({tag: spans.union(parts) for tag, parts in by_tag.items()})


def fit(value: Value, condition: Asked) -> Fit:
    """Whether a value fits a condition that names no other axis."""
    if condition.globs:
        met = [any(fnmatch.fnmatchcase(word, glob) for glob in condition.globs) for word in value.words]
        return Fit.YES if all(met) else Fit.MAYBE if any(met) else Fit.NO
    allowed = condition.spans.get(value.tag, ())
    if spans.within(value.spans, allowed):
        return Fit.YES
    return Fit.MAYBE if spans.overlap(value.spans, allowed) else Fit.NO


def fits_as_named(value: Value, condition: Asked) -> bool:
    """Whether a version that names only its first components, such as driver 580, fits as the newest of them.

    Where a condition names one version, such as 0.23.0, somebody who says 0.23 means that one.
    """
    if not value.exact or not value.spans:
        return False
    (low, high), *_ = value.spans
    near = [span for span in condition.spans.get(value.tag, ()) if spans.overlap((span,), value.spans)]
    return any(start > low or spans.within(((low, high),), ((start, end),)) for start, end in near)


def fit_other(value: Value, condition: Asked, other: Value) -> Fit:
    """Whether a value fits a condition that compares it with the value of another axis."""
    if condition.same and not (value.spans and other.spans):
        return Fit.YES if set(value.words) & set(other.words) else Fit.NO
    if not value.spans or not other.spans:
        return Fit.MAYBE
    if condition.same:
        met = Fit.YES if value.exact and other.exact else Fit.MAYBE
        return met if spans.overlap(value.spans, other.spans) else Fit.NO
    low = spans.lowest(other.spans)
    same_major = spans.after(low[:1]) if low and condition.compatible else None
    bound: spans.Spans = ((low[:2], same_major),)  # from the same minor on
    if spans.within(value.spans[:1], bound):
        return Fit.YES
    return Fit.MAYBE if spans.overlap(value.spans[:1], bound) else Fit.NO
