"""Few combinations that hold every allowed pair (or triple, …) of values of some axes: a covering array under rules.

Rows are made one at a time, each the best of several tries, as AETG does; then some are thrown away and made anew, as
long as that saves rows. Each try begins with a wanted combination that no row holds yet, and its search is complete, so
that either a row comes of it or the proof that none can: no allowed combination is ever lost.

covertable and allpairspy were tried first. covertable loses nothing, but its simple mode needs up to half more rows;
allpairspy knows no mixed strength and loses allowed pairs under a filter. `benchmarks/pairwise.py` has the figures.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from random import Random

from msgspec import Struct

from orchestrator.model import Axes
from orchestrator.planning.completion import ABSENT, Completion, GivenUp, Refuses, bits

_TRIES = 8  # rows of which the best is taken
_EFFORT = 60_000  # steps spent on saving rows, at most
_EFFORT_FOR_ONE = 100  # the same for each wanted combination
_RENEWED = 0.5  # the largest part of the rows that is thrown away at once
_KEEN = 0.5  # the share of the tries that begin where most is open
_REFUSALS = 100  # rows that the rules may refuse before one is searched with the rules at hand
_SAMPLE = 16  # combinations among which such a try looks for its beginning
_SPREAD = 0.3  # how far chance changes its order of the axes
_PATIENCE = 60_000  # steps until a combination that has neither a row nor a proof is called undecided
_HASTE = 2_000  # the same for a try that others can replace


class Uncoverable(Struct, frozen=True):
    """A wanted combination that no allowed row can hold, and the reasons that together keep it out."""

    axes: Axes
    reasons: tuple[str, ...]


class Covering(Struct, frozen=True):
    """The new rows, without absent axes; what no row can hold; what could not be decided within the bound."""

    rows: tuple[Axes, ...]
    uncoverable: tuple[Uncoverable, ...]
    undecided: tuple[Axes, ...]


def cover(
    values: Mapping[str, Sequence[str]],
    strengths: Sequence[tuple[Sequence[str], int]],
    refuses: Refuses,
    seeds: Sequence[Axes] = (),
    patience: int = _PATIENCE,
) -> Covering:
    """Rows that hold each allowed combination of `t` values, for each (axes, t) of `strengths`.

    `values` are those of every axis of a row; one of them may be ABSENT, for an axis that some rows do not have.
    `refuses` is given a part of a row, absent axes with the value ABSENT among them, and tells why no row has it, or an
    empty text when some row may; with more values it may only come to refuse. No wanted combination has an absent axis.
    `seeds` are rows that are there anyway: what they hold is covered.
    """
    known = Completion(values, refuses)
    wanted = _wanted(known, values, strengths)
    for seed in seeds:
        row = sum(known.bit_of.get(pair, 0) for pair in seed.items())
        wanted = {one: size for one, size in wanted.items() if one & ~row}
    generator = _Generator(known, wanted, patience)
    rows = generator.rows()
    return Covering(
        rows=tuple({name: value for name, value in known.named(row).items() if value != ABSENT} for row in rows),
        uncoverable=tuple(
            Uncoverable(known.named(one), known.reasons[generator.impossible[one]])
            for one in wanted
            if one in generator.impossible
        ),
        undecided=tuple(known.named(one) for one in wanted if one in generator.undecided and not _is_held(one, rows)),
    )


def _wanted(
    known: Completion, values: Mapping[str, Sequence[str]], strengths: Sequence[tuple[Sequence[str], int]]
) -> dict[int, int]:
    """Each wanted combination, in the order of the strengths, with its number of values."""
    present = {name: [known.bit_of[name, value] for value in values[name] if value != ABSENT] for name in values}
    return {
        sum(bits_): strength
        for group, strength in strengths
        for names in combinations(group, strength)
        for bits_ in product(*(present[name] for name in names))
    }


def _is_held(one: int, rows: Sequence[int]) -> bool:
    return any(not one & ~row for row in rows)


class _Open:
    """The wanted combinations that no row holds yet: what is left of each when one value is taken away -> that value.

    So the new combinations that a value brings to a row are counted for all its partners at once.
    """

    def __init__(self, wanted: Mapping[int, int]) -> None:
        self.partners: dict[int, int] = {}
        self.count = len(wanted)
        self.loads: Counter[int] = Counter()  # value -> how much is open there: its open combinations, times size - 1
        self.spans: dict[int, int] = {}  # strength -> the values that combinations of that strength have
        self._listed = list(wanted)  # the open ones, and some that were closed since
        for one, size in wanted.items():
            self.spans[size] = self.spans.get(size, 0) | one
            for bit in bits(one):
                self.partners[one ^ bit] = self.partners.get(one ^ bit, 0) | bit
                self.loads[bit] += size - 1

    def copy(self) -> "_Open":
        other = _Open({})
        other.partners, other.loads, other._listed = self.partners.copy(), self.loads.copy(), self._listed.copy()
        other.count, other.spans = self.count, self.spans
        return other

    def any_of(self, chance: Random) -> int:
        """An open combination by chance."""
        while True:
            place = int(chance.random() * len(self._listed))
            one = self._listed[place]
            bit = one & -one
            if self.partners[one ^ bit] & bit:
                return one
            self._listed[place] = self._listed[-1]
            self._listed.pop()

    def brought(self, row: int, bit: int) -> int:
        """How many open combinations come into a row with a value."""
        partners = self.partners
        total = 0
        for size, span in self.spans.items():
            if size == 2:  # noqa: PLR2004 - a pair, the usual case, made short
                total += (partners.get(bit, 0) & row).bit_count()
            elif bit & span:
                rests = combinations(bits(row & span), size - 2)
                total += sum((partners.get(bit | sum(rest), 0) & row).bit_count() for rest in rests) // (size - 1)
        return total

    def _rests(self, row: int) -> Iterator[int]:
        """What is left of each combination within a row that has the strength of some wanted one."""
        for size, span in self.spans.items():
            inside = bits(row & span)
            yield from inside if size == 2 else map(sum, combinations(inside, size - 1))  # noqa: PLR2004 - a pair

    def held(self, row: int) -> int:
        """How many open combinations a row holds."""
        return round(
            sum((self.partners.get(rest, 0) & row).bit_count() / (rest.bit_count() + 1) for rest in self._rests(row))
        )

    def close(self, row: int) -> None:
        """What a row holds is no longer open."""
        self.count -= self.held(row)
        for rest in self._rests(row):
            if closed := self.partners.get(rest, 0) & row:
                self.partners[rest] ^= closed
                for bit in bits(rest):
                    self.loads[bit] -= closed.bit_count()

    def drop(self, one: int) -> None:
        """A combination is given up."""
        self.count -= 1
        for bit in bits(one):
            self.partners[one ^ bit] &= ~bit
            self.loads[bit] -= one.bit_count() - 1

    def alone(self, rows: Sequence[int]) -> list[int]:
        """For each row, how many open combinations it holds and no other row does."""
        once: dict[int, int] = dict.fromkeys(self.partners, 0)
        again = dict(once)
        rests = [[rest for rest in self._rests(row) if rest in once] for row in rows]
        for row, rests_ in zip(rows, rests, strict=True):
            for rest in rests_:
                again[rest] |= once[rest] & row
                once[rest] |= row
        return [
            sum((self.partners[rest] & row & ~again[rest]).bit_count() for rest in rests_)
            for row, rests_ in zip(rows, rests, strict=True)
        ]


class _Generator:
    """Makes the rows, and finds out on the way which combinations have none."""

    def __init__(self, known: Completion, wanted: Mapping[int, int], patience: int) -> None:
        self.known = known
        self.patience = patience
        self.chance = Random(0)  # noqa: S311 - the same numbers each time; no secret hangs on them
        self.undecided: set[int] = set()
        nogoods = {one: known.conflict(one) for one in wanted}
        self.impossible = {one: nogood for one, nogood in nogoods.items() if nogood is not None}
        self.wanted = {one: size for one, size in wanted.items() if one not in self.impossible}

    def rows(self) -> list[int]:
        """The rows of the smallest covering that was found within the effort.

        The rows that are needed least, those that alone hold few combinations, are thrown away and made anew together.
        """
        known = self.known
        rows = self.fill([], _Open(self.wanted), _TRIES)
        self.undecided = {one for one in self.undecided if not _is_held(one, rows)}
        coverable = {
            one: size for one, size in self.wanted.items() if one not in self.impossible and one not in self.undecided
        }
        least = max(Counter(self._axes_of(one) for one in coverable).values(), default=0)
        everything = _Open(coverable)
        end = known.steps + min(_EFFORT, _EFFORT_FOR_ONE * len(coverable))
        while len(rows) > least and known.steps < end:
            need = [alone * (1 + self.chance.random()) for alone in everything.alone(rows)]
            lost = max(2, int(len(rows) * _RENEWED * self.chance.random()))
            kept = [rows[place] for place in sorted(sorted(range(len(rows)), key=need.__getitem__)[lost:])]
            rows = self._refilled(kept, everything, len(rows), end) or rows
        return rows

    def _refilled(self, kept: list[int], everything: _Open, most: int, end: int) -> list[int]:
        """The kept rows and new ones that cover everything; none if it takes more than `most` or ends too late."""
        while self.known.steps < end:
            left = everything.copy()
            for row in kept:
                left.close(row)
            self.known.steps += len(kept) * len(self.known.axes)
            rows = self.fill(kept, left, 1, most)
            kept = [row for row in rows if self.known.allows(row)]
            if len(kept) == len(rows):
                return rows
        return []

    def _axes_of(self, one: int) -> int:
        return sum(self.known.axis_of[bit] for bit in bits(one))

    def fill(self, kept: Sequence[int], left: _Open, tries: int, most: int | None = None) -> list[int]:
        """The kept rows and new ones until nothing is open.

        With `most`, the rules are not asked about the new rows, and there are no rows at all when it takes more.
        """
        rows = list(kept)
        while left.count:
            if most is not None and len(rows) >= most:
                return []
            row, one = self._best_row(left, tries, ask=most is None)
            if row:
                left.close(row)
                rows.append(row)
            elif most is not None:
                return []
            elif one not in self.impossible:
                self.undecided.add(one)
                left.drop(one)
        return rows

    def _best_row(self, left: _Open, tries: int, *, ask: bool) -> tuple[int, int]:
        """The row that closes most of what is open, of some; 0 and a combination that was not found in any."""
        one = 0
        for _ in range(_REFUSALS):
            best, one = self._best_try(left, tries)
            if not ask or (best and self.known.allows(best)):
                return best, one
            if not best:
                break
        if one in self.impossible:
            return 0, one
        return self._row_with(one, left, True, self.patience, ask=True), one

    def _best_try(self, left: _Open, tries: int) -> tuple[int, int]:
        """The best of some rows that no known nogood forbids, and the combination that the last one began with."""
        best, most, one = 0, 0, 0
        for _ in range(tries):
            keen = self.chance.random() < _KEEN
            one = self._start(left, _SAMPLE if keen else 1)
            row = self._row_with(one, left, keen, _HASTE, ask=False)
            if one in self.impossible:
                break
            if row and (held := left.held(row)) > most:
                best, most = row, held
        return best, one

    def _start(self, left: _Open, sample: int) -> int:
        """Of some open combinations the one whose values are in most others."""
        some = [left.any_of(self.chance) for _ in range(sample)]
        return max(some, key=lambda one: sum(left.loads[bit] for bit in bits(one)))

    def _row_with(self, one: int, left: _Open, keen: bool, limit: int, *, ask: bool) -> int:
        """A row that holds a combination, with the values that close most; 0 if none is found.

        A keen one decides the axes in about the order of how much is open there; else the order is left to chance.
        """
        chance = self.chance.random

        def turn(axis: int) -> float:
            return -sum(left.loads[bit] for bit in bits(axis)) * (1 + _SPREAD * chance()) if keen else chance()

        def rank(row: int, options: int) -> list[int]:
            return sorted(bits(options), key=lambda bit: (-left.brought(row, bit), -left.loads[bit] - chance()))

        order = sorted(self.known.axes.values(), key=turn)
        try:
            row, nogood = self.known.complete(one, order, rank, limit, ask=ask)
        except GivenUp:
            return 0
        if nogood is not None:
            self.impossible[one] = nogood
            left.drop(one)
        return row
