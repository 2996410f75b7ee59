"""Fusion: which fused kernels of one side became which of the other, by their members and never by their names.

A compiler names each operator in a kernel once, however often it stands there: parts of a split kernel may overlap, and
one that is split off a kernel which stays may have no operator of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from orchestrator.results.change import ChangeKind

Members = tuple[str, ...]


class Regrouping(Struct, frozen=True, kw_only=True):
    """Kernels of one side, and what became of their operators on the other."""

    kind: ChangeKind
    before: tuple[Members, ...]
    after: tuple[Members, ...]


def regroupings(
    before: Iterable[Members],
    after: Iterable[Members],
    alone_before: frozenset[str] = frozenset(),
    alone_after: frozenset[str] = frozenset(),
) -> tuple[Regrouping, ...]:
    """How the fused kernels differ; of the same kernels, in whatever order and by whatever name, nothing.

    `alone_…` are the operators that only this side runs outside of any fused kernel: a member may have gone there.
    """
    left, right = (Counter(tuple(sorted(kernel)) for kernel in side if kernel) for side in (before, after))
    gone, new, kept = list((left - right).elements()), list((right - left).elements()), list(left & right)
    groups = _together(gone, new)
    made = [_regrouping(gone_here, new_here, kept, alone_before, alone_after) for gone_here, new_here in groups]
    return tuple(sorted(made, key=lambda one: (one.before, one.after)))


def _together(
    gone: Sequence[Members], new: Sequence[Members]
) -> Iterator[tuple[tuple[Members, ...], tuple[Members, ...]]]:
    """Groups of kernels of which one has all members of another; what is left then, by members that they share."""
    left, right = set(range(len(gone))), set(range(len(new)))
    for related in (_has_all, _shares):
        while found := _group(gone, new, left, right, related):
            some, others = found
            left -= some
            right -= others
            yield tuple(sorted(gone[at] for at in some)), tuple(sorted(new[at] for at in others))
    for at in sorted(left):
        yield (gone[at],), ()
    for at in sorted(right):
        yield (), (new[at],)


def _group(
    gone: Sequence[Members],
    new: Sequence[Members],
    left: set[int],
    right: set[int],
    related: Callable[[Members, Members], bool],
) -> tuple[set[int], set[int]] | None:
    """One group of kernels, of both sides, that hang together; None when no two do."""
    pairs = [(one, other) for one in sorted(left) for other in sorted(right) if related(gone[one], new[other])]
    if not pairs:
        return None
    some, others = {pairs[0][0]}, {pairs[0][1]}
    grown = True
    while grown:
        more = [(one, other) for one, other in pairs if (one in some) != (other in others)]
        some |= {one for one, _ in more}
        others |= {other for _, other in more}
        grown = bool(more)
    return some, others


def _has_all(one: Members, other: Members) -> bool:
    return _within(one, other) or _within(other, one)


def _within(part: Members, whole: Members) -> bool:
    return not Counter(part) - Counter(whole)


def _shares(one: Members, other: Members) -> bool:
    return not set(one).isdisjoint(other)


def _regrouping(
    before: tuple[Members, ...],
    after: tuple[Members, ...],
    kept: Sequence[Members],
    alone_before: frozenset[str],
    alone_after: frozenset[str],
) -> Regrouping:
    kind = ChangeKind.REGROUPED
    if _is_split(before, after, kept, alone_after):
        kind = ChangeKind.SPLIT
    elif _is_split(after, before, kept, alone_before):
        kind = ChangeKind.MERGED
    return Regrouping(kind=kind, before=before, after=after)


def _is_split(
    wholes: Sequence[Members], parts: Sequence[Members], kept: Sequence[Members], alone: frozenset[str]
) -> bool:
    """Whether the parts are all that the wholes became, with operators that now run alone, and are more of them."""
    if not wholes:
        return any(_within(part, whole) for part in parts for whole in kept)
    if not all(any(_within(part, whole) for whole in wholes) for part in parts):
        return False
    missing = {member for whole in wholes for member in whole} - {member for part in parts for member in part}
    return missing <= alone and len(parts) + len(missing) > len(wholes)
