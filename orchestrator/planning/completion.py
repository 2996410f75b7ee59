"""Whether values may stand together in some whole combination: a complete search that asks the rules sparingly.

The rules are a function that says why a part of a combination is forbidden, or an empty text; what contains a forbidden
part is forbidden too. Asking may be slow, so that an answer is kept in its smallest form: the fewest values that are
still forbidden, a nogood. The search never asks what a nogood tells, and a failed search leaves nogoods of its own.

Every value of every axis is one bit here, and a combination is the sum of its bits.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from orchestrator.model import Axes

ABSENT = ""  # the value of an axis that a combination does not have
Refuses = Callable[[Axes], str]
_COST_OF_ASKING = 100  # steps of the search that take as long as one question to the rules
_SMALL = 3  # nogoods that a search found are kept up to this size: larger ones seldom serve again


class GivenUp(Exception):  # noqa: N818 - no error: the search tells that it does not know
    """The search took too many steps."""


def bits(mask: int) -> Iterator[int]:
    """The single bits of a mask, from the lowest on."""
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


class Completion:
    """What is known of which values may stand together; grows with each question."""

    def __init__(self, values: Mapping[str, Sequence[str]], refuses: Refuses) -> None:
        pairs = [(name, value) for name, options in values.items() for value in dict.fromkeys(options)]
        self.bit_of = {pair: 1 << place for place, pair in enumerate(pairs)}
        self._pair_of = {bit: pair for pair, bit in self.bit_of.items()}
        self.axes = {name: sum(self.bit_of[name, value] for value in dict.fromkeys(values[name])) for name in values}
        self.axis_of = {bit: self.axes[name] for (name, _), bit in self.bit_of.items()}
        self.steps = 0
        self.reasons: dict[int, tuple[str, ...]] = {}  # of each nogood
        self._refuses = refuses
        self._answers: dict[int, str] = {}
        every = sum(self.axes.values())
        self.beside = {bit: every & ~axis | bit for bit, axis in self.axis_of.items()}  # what may stand beside it
        self._larger: dict[int, list[int]] = {bit: [] for bit in self.bit_of.values()}  # nogoods of three and more
        self._ask_singles_and_pairs()

    def _ask_singles_and_pairs(self) -> None:
        """Most rules are about one axis or two: with these known, few whole combinations are ever refused."""
        singles = [0, *self.bit_of.values()]
        free = [bit for bit in singles if not self._is_refused(bit)]
        for one, other in combinations(free[1:] if 0 in free else (), 2):
            if other & self.beside[one]:
                self._is_refused(one | other)

    def _is_refused(self, mask: int) -> bool:
        if reason := self.refusal(mask):
            self.learn(mask, (reason,))
        return bool(reason)

    def refusal(self, mask: int) -> str:
        """What the rules say of these values, asked once."""
        if mask not in self._answers:
            self.steps += _COST_OF_ASKING
            self._answers[mask] = self._refuses(self.named(mask))
        return self._answers[mask]

    def named(self, mask: int) -> dict[str, str]:
        """The combination of a mask."""
        return dict(self._pair_of[bit] for bit in bits(mask))

    def conflict(self, mask: int) -> int | None:
        """A nogood among these values, as far as is known."""
        row = 0
        for bit in bits(mask):
            nogood = self.against(row, bit)
            if nogood is not None:
                return nogood
            row |= bit
        return None

    def against(self, row: int, bit: int) -> int | None:
        """A nogood that a value would complete in a row."""
        beside = self.beside[bit]
        if not beside & bit:
            return bit if bit in self.reasons else 0
        if clash := row & ~beside:
            return bit | clash & -clash
        with_it = row | bit
        return next((nogood for nogood in self._larger[bit] if nogood & with_it == nogood), None)

    def learn(self, nogood: int, reasons: tuple[str, ...]) -> None:
        """Remembers values that are never in one row."""
        self.reasons.setdefault(nogood, reasons)
        members = list(bits(nogood))
        if len(members) <= 1:
            for bit in members or self.beside:
                self.beside[bit] = 0
        elif len(members) == 2:  # noqa: PLR2004 - a pair
            one, other = members
            self.beside[one] &= ~other
            self.beside[other] &= ~one
        else:
            for bit in members:
                self._larger[bit].append(nogood)

    def smallest(self, mask: int) -> int:
        """The nogood within values that are refused: nothing of it can be left out."""
        reason = self.refusal(mask)
        for bit in bits(mask):
            if less := self.refusal(mask & ~bit):
                mask, reason = mask & ~bit, less
        self.learn(mask, (reason,))
        return mask

    def allows(self, row: int) -> bool:
        """Whether the rules allow a whole row; where they do not, why not is remembered."""
        if not self.refusal(row):
            return True
        self.smallest(row)
        return False

    def complete(
        self,
        given: int,
        order: Sequence[int],
        rank: Callable[[int, int], list[int]],
        limit: int,
        *,
        ask: bool = True,
    ) -> tuple[int, int | None]:
        """A whole row that has the given values and is not refused, or the nogood among them that forbids every one.

        Axes are decided in an order, those with one value left first; `rank` gives the values of an axis in a row, the
        best one first. GivenUp after `limit` steps. Without asking, the row is one that no known nogood forbids.
        """
        nogood = self.conflict(given)
        if nogood is None and self.refusal(given):
            nogood = self.smallest(given)
        if nogood is not None:
            return 0, nogood
        allowed = -1
        for bit in bits(given):
            allowed &= self.beside[bit]
        left = [axis for axis in order if not axis & given]
        search = _Search(self, rank, ask=ask)
        search.last_step = self.steps + limit
        search.kept = max(_SMALL, given.bit_count())
        return search.extend(given, allowed, left)


class _Search:
    """One search: depth first, going back to a choice that had a part in the failure and not just to the last one."""

    def __init__(
        self,
        known: Completion,
        rank: Callable[[int, int], list[int]],
        *,
        ask: bool,
    ) -> None:
        self.known = known
        self.rank = rank
        self.ask = ask
        self.last_step = 0
        self.kept = _SMALL
        self.reasons: dict[int, tuple[str, ...]] = {}  # of the nogoods that end with this search

    def extend(self, row: int, allowed: int, left: Sequence[int]) -> tuple[int, int | None]:
        """The whole row, or the nogood within `row` that no completion of it can escape."""
        known = self.known
        if not left:
            return (0, known.smallest(row)) if self.ask and known.refusal(row) else (row, None)
        axis = left[0]
        if known.reasons:
            axis = next((axis for axis in left if (allowed & axis).bit_count() <= 1), axis)
        rest = [other for other in left if other != axis]
        blame = 0
        reasons: dict[str, None] = {}
        known.steps += axis.bit_count()
        for bit in (*self.rank(row, allowed & axis), *bits(axis & ~allowed)):
            nogood = known.against(row, bit)
            if nogood is None:
                if known.steps > self.last_step:
                    raise GivenUp
                whole, nogood = self.extend(row | bit, allowed & known.beside[bit], rest)
                if nogood is None or not nogood & bit:
                    return whole, nogood
            blame |= nogood & ~bit
            reasons |= dict.fromkeys(self.reasons.get(nogood) or known.reasons[nogood])
        if blame.bit_count() <= self.kept and blame not in known.reasons:
            known.learn(blame, tuple(reasons))
        self.reasons[blame] = tuple(reasons)
        return 0, blame
