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
    both = {name for kernel in left for name in kernel} & {name for kernel in right for name in kernel}
    made = []
    for some, others in _together([_only(kernel, both) for kernel in gone], [_only(kernel, both) for kernel in new]):
        parts = tuple(sorted(gone[at] for at in some)), tuple(sorted(new[at] for at in others))
        made.append(
            Regrouping(kind=_kind(*parts, kept, both, (alone_before, alone_after)), before=parts[0], after=parts[1])
        )
    return tuple(sorted(made, key=lambda one: (one.before, one.after)))


def _only(kernel: Members, names: set[str]) -> Members:
    """The members that both sides fuse somewhere: what only one of them fuses says nothing of who left whom."""
    return tuple(name for name in kernel if name in names)


def _together(gone: Sequence[Members], new: Sequence[Members]) -> Iterator[tuple[set[int], set[int]]]:
    """Places of kernels of which one has all members of another; then of those that share any; then of each alone."""
    left, right = set(range(len(gone))), set(range(len(new)))
    for related in (_has_all, _shares):
        while found := _group(gone, new, left, right, related):
            left -= found[0]
            right -= found[1]
            yield found
    yield from (({at}, set()) for at in left)
    yield from ((set(), {at}) for at in right)


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
    return bool(one and other) and (_within(one, other) or _within(other, one))


def _within(part: Members, whole: Members) -> bool:
    return not Counter(part) - Counter(whole)


def _shares(one: Members, other: Members) -> bool:
    return not set(one).isdisjoint(other)


def _kind(
    before: Sequence[Members],
    after: Sequence[Members],
    kept: Sequence[Members],
    both: set[str],
    alone: tuple[frozenset[str], frozenset[str]],
) -> ChangeKind:
    split = _is_split(before, after, kept, both, alone[1])
    merged = _is_split(after, before, kept, both, alone[0])
    if split != merged:
        return ChangeKind.SPLIT if split else ChangeKind.MERGED
    if not before:
        return ChangeKind.NEW_OPERATOR
    return ChangeKind.REGROUPED if after else ChangeKind.LOST_OPERATOR


def _is_split(
    wholes: Sequence[Members], parts: Sequence[Members], kept: Sequence[Members], both: set[str], alone: frozenset[str]
) -> bool:
    """Whether the parts, with operators that now run alone, are all that the wholes became, and are more of them."""
    if not wholes:
        return any(_within(part, whole) for part in parts for whole in kept)
    if not all(any(_within(_only(part, both), whole) for whole in wholes) for part in parts):
        return False
    missing = {name for whole in wholes for name in whole} - {name for part in parts for name in part}
    return missing & both <= alone and len(parts) + len(missing & alone) > len(wholes)
