"""Which of many conditions hold for a question, kept as the bits of one whole number an axis and value.

A question costs a few `and`s, not a walk over every row.
"""

from collections.abc import Iterable, Iterator, Sequence

from orchestrator.support import conditions
from orchestrator.support.axes import INHERENT
from orchestrator.support.conditions import Fit, Value
from orchestrator.support.question import Question
from orchestrator.support.rows import Conditions

_CACHED = 20_000


class Selector:
    """The `when` of each of some rows."""

    def __init__(self, whens: Sequence[Conditions]) -> None:
        named = dict.fromkeys(axis for when in whens for axis in when)
        # An axis that is not given and need not be there rules most rows out: those come first.
        self.axes = tuple(sorted(named, key=lambda axis: axis in INHERENT))
        self._whens = whens
        self._all = (1 << len(whens)) - 1
        self._free = {axis: bits(axis not in when for when in whens) for axis in self.axes}
        self._masks: dict[str, dict[str, tuple[int, int]]] = {axis: {} for axis in self.axes}

    def select(self, question: Question, without: str = "") -> tuple[int, int]:
        """The rows that surely apply, and those that may, as bits; `without` is an axis to leave out of account."""
        sure = possible = self._all
        values = question.values
        for axis in self.axes:
            if axis == without:
                continue
            value = values.get(axis)
            if value is None:
                free = self._free[axis]
                sure &= free
                if not question.may_have(axis):
                    possible &= free
            else:
                yes, maybe = self._masks[axis].get(value.text) or self._mask(axis, value)
                sure &= yes
                possible &= maybe
            if not possible:
                return 0, 0
        return sure, possible

    def _mask(self, axis: str, value: Value) -> tuple[int, int]:
        fits = [
            conditions.fit(value, conditions.read(axis, when[axis])) if axis in when else Fit.YES
            for when in self._whens
        ]
        known = self._masks[axis]
        if len(known) > _CACHED:
            known.clear()
        known[value.text] = bits(fit is Fit.YES for fit in fits), bits(fit is not Fit.NO for fit in fits)
        return known[value.text]


def bits(flags: Iterable[bool]) -> int:
    """The whole number whose bits are these flags, the first the lowest."""
    return sum(1 << index for index, flag in enumerate(flags) if flag)


def indices(number: int) -> Iterator[int]:
    """The places of the bits that are set, from the lowest."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low
