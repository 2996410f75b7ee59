"""How the rows of a rule are weighed against a question.

In a rule of mode `all` each row speaks for itself. In a rule of mode `table` the rows are the entries of one
table, and the entry that fits best counts; where axes are missing, every entry that may be meant has a say.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from orchestrator.support import conditions, spans
from orchestrator.support.axes import INHERENT, is_version
from orchestrator.support.binary import Relation
from orchestrator.support.conditions import Asked, Fit, Value
from orchestrator.support.question import Question
from orchestrator.support.rows import Condition, Conditions, Row, Rule
from orchestrator.support.selector import Selector, bits, indices
from orchestrator.vocabulary import Evidence, Verdict

_EVIDENCE = {evidence: rank for rank, evidence in enumerate(Evidence)}
_REMEMBERED = 20_000
_FOR_A_RELATION = ("gpu_arch", "cuda_runtime")
# A table of builds says nothing to a question that names a machine and no build.
_ABOUT_THE_MACHINE = {"os", "host_arch", "gpu_vendor", "gpu_class"}


class Finding(Struct, frozen=True, gc=False):
    """What a rule says of a question: a verdict by a row, or (row None) only axes that could change the answer."""

    rule: Rule
    row: Row | None
    verdict: Verdict
    missing: tuple[str, ...] = ()
    aside: str = ""
    scope: tuple[str, ...] = ()

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that the row speaks of."""
        if self.row is None:
            return ()
        needs = tuple(axis for need in (self.row.need or {}, *self.row.need_any) for axis in need)
        return _each_once((*self.row.when, *needs))


class _Need(Struct, frozen=True, gc=False):
    fit: Fit
    verdict: Verdict | None = None
    missing: tuple[str, ...] = ()
    open: bool = False  # what was given, such as a range, leaves it open


class Table:
    """A rule whose rows are ready to be weighed."""

    def __init__(self, rule: Rule, evidence: Mapping[str, Evidence], rows: Sequence[Row] | None = None) -> None:
        self.rule = rule
        rows = [row for row in rule.rows if row.until is None] if rows is None else rows
        if rule.mode == "table":
            rows = _best_of_each(rows, evidence)
        self.rows = tuple(rows)
        self._selector = Selector([row.when for row in self.rows])
        everywhere = set(self._selector.axes).intersection(*(row.when for row in self.rows)) if self.rows else set()
        self._gate = frozenset(everywhere - INHERENT)
        self._scopes = frozenset(s for row in self.rows for s in row.scope) if all(r.scope for r in self.rows) else None
        self._keys = frozenset(self._selector.axes) - _ABOUT_THE_MACHINE
        needs = (axis for row in self.rows for need in (row.need or {}, *row.need_any) for axis in _read_by(need))
        self._reads = tuple(dict.fromkeys((*self._selector.axes, *needs, "gpu_vendor", *_FOR_A_RELATION)))
        self._is_scoped = any(row.scope for row in self.rows)
        self._known: dict[tuple[object, ...], tuple[Finding, ...]] = {}
        self.relation = Relation(rule) if rule.relation == "cuda" else None

    def concerns(self, question: Question) -> bool:
        """Whether the rule can have anything to say: most rules speak of a package that nobody named."""
        return self._gate.issubset(question.values) and (not self._scopes or bool(self._scopes & question.scope))

    def findings(self, question: Question) -> Sequence[Finding]:
        """What the rule says; nothing when it does not apply. Questions that are alike to the rule share an answer."""
        if self.rule.releases_only and question.nightly:
            return ()
        told = self.rule.mode == "all" or not self._keys.isdisjoint(question.told)
        key = (
            told,
            question.undecided,
            question.scope if self._is_scoped else None,
            *map(question.texts.get, self._reads),
        )
        known = self._known.get(key)
        if known is None:
            if len(self._known) > _REMEMBERED:
                self._known.clear()
            known = self._known[key] = tuple(self._weigh(question)) if told else ()
        return known

    def _weigh(self, question: Question) -> Iterator[Finding]:
        if self.relation is not None and not _is_cuda(question):
            return
        sure, possible = self._selector.select(question)
        if self._is_scoped:
            asked = bits(not row.scope or not question.scope.isdisjoint(row.scope) for row in self.rows)
            sure, possible = sure & asked, possible & asked
        if self.rule.mode == "all":
            yield from self._each(question, sure, possible)
        elif possible:
            yield from self._entry(question, sure, possible)
        elif self.rule.between:
            yield from self._between(question)

    def sure(self, question: Question) -> list[Row]:
        """The rows that surely apply."""
        return [self.rows[index] for index in indices(self._selector.select(question)[0])]

    def possible(self, question: Question) -> list[Row]:
        """The rows that may apply."""
        return [self.rows[index] for index in indices(self._selector.select(question)[1])]

    def _each(self, question: Question, sure: int, possible: int) -> Iterator[Finding]:
        for index in indices(possible):
            row = self.rows[index]
            need = self._need(question, row)
            if sure >> index & 1:
                if need.fit is Fit.MAYBE:
                    yield self._open(row, need)
                elif not (row.partial and need.fit is Fit.NO):
                    yield Finding(self.rule, row, need.verdict or _verdict(row, need.fit))
            elif need.fit is Fit.NO and not row.partial:
                missing = _missing(question, row)
                is_told = question.values.keys() >= {*missing} and self._ranges(question)
                if is_told and row.otherwise is Verdict.UNKNOWN and _is_ahead(question, row, missing):
                    continue
                yield Finding(self.rule, row if is_told else None, Verdict.UNKNOWN, missing)

    def _open(self, row: Row, need: _Need) -> Finding:
        """A row whose need could not be told: for a range that was asked an unknown; else an axis is missing."""
        return Finding(self.rule, row if need.open else None, Verdict.UNKNOWN, need.missing, scope=row.scope)

    def _entry(self, question: Question, sure: int, possible: int) -> Iterator[Finding]:
        """The best entry that surely applies; else what all that may apply say together.

        A partial entry that does not allow what was asked says nothing, so it hides none of those behind it.
        """
        best = next((index for index in indices(sure) if not self._is_silent(question, self.rows[index])), None)
        if best is None:
            meant = possible
        elif self._ranges(question):  # a closer entry speaks of a part of the range
            meant = possible & ((2 << best) - 1)
        else:
            meant = 1 << best
        yield from self._together(question, [self.rows[index] for index in indices(meant)])

    def _is_silent(self, question: Question, row: Row) -> bool:
        return row.partial and self._need(question, row).fit is Fit.NO

    def _together(self, question: Question, rows: Sequence[Row], aside: str = "") -> Iterator[Finding]:
        needs = [(row, self._need(question, row)) for row in rows]
        speaking = [(row, need) for row, need in needs if not (row.partial and need.fit is Fit.NO)]
        if not speaking or (len(speaking) < len(needs) and self._ranges(question)):
            return  # of all or, of a range, of a part of what was asked nothing is known
        needs = speaking
        good = [row for row, need in needs if need.verdict is None and (need.fit is Fit.YES or self._is_open(need))]
        bad = [(row, need) for row, need in needs if need.fit is Fit.NO or need.verdict is not None]
        if len(bad) == len(needs):
            row, need = bad[0]
            yield Finding(self.rule, row, need.verdict or _verdict(row, need.fit), aside=aside)
        elif good and (len(good) == len(needs) or (bad and self._is_lenient(question))):
            missing = dict.fromkeys(axis for row, need in needs if row is good[0] for axis in need.missing)
            yield Finding(self.rule, good[0], Verdict.SUPPORTED, tuple(missing), aside=aside)
        elif good and bad:
            unsaid = dict.fromkeys(axis for row, _ in needs for axis in _missing(question, row))
            yield Finding(self.rule, bad[0][0], Verdict.UNKNOWN, tuple(unsaid))
        else:
            missing = dict.fromkeys(axis for _, need in needs for axis in need.missing)
            open_ = next((row for row, need in needs if need.open), None)
            yield Finding(self.rule, open_, Verdict.UNKNOWN, tuple(missing))

    def _is_open(self, need: _Need) -> bool:
        """In a lenient table a system that nobody named is one of those that fit."""
        return self.rule.mixed == "lenient" and need.fit is Fit.MAYBE and need.missing == ("distro",)

    def _is_lenient(self, question: Question) -> bool:
        """Whether one entry that allows is enough: of what was not told, and where a rule says so of a range."""
        return self.rule.mixed == "lenient" and (self.rule.some_of_range or not self._ranges(question))

    def _ranges(self, question: Question) -> bool:
        values = (question.values.get(axis) for axis in self._selector.axes)
        return any(value is not None and not value.exact for value in values)

    def _between(self, question: Question) -> Iterator[Finding]:
        """Where no entry fits, the nearest before and after decide if they agree: a list between two equal ones."""
        axis = self.rule.between
        asked = question.values.get(axis)
        if asked is None:
            return
        _, possible = self._selector.select(question, without=axis)
        rows = [self.rows[index] for index in indices(possible) if axis in self.rows[index].when]
        place = spans.lowest(asked.spans)
        older = _nearest([row for row in rows if _place(row, axis) <= place], axis, newest=True)
        newer = _nearest([row for row in rows if _place(row, axis) > place], axis, newest=False)
        said = [list(self._together(question, rows)) for rows in (older, newer) if rows]
        told = [findings[0] for findings in said if findings]
        if not older or not newer or not told:
            return
        aside = f"no list of {axis} {asked.text} was seen; the nearest before and after it agree"
        if len({finding.verdict for finding in told}) == 1 and (len(told) == 2 or newer[0].partial):  # noqa: PLR2004 - both
            first = told[0]
            yield Finding(self.rule, first.row, first.verdict, first.missing, aside if first.row else "")
        else:
            yield Finding(self.rule, told[0].row, Verdict.UNKNOWN, aside="the nearest lists before and after disagree")

    def _need(self, question: Question, row: Row) -> _Need:
        if row.need_any:
            return _any_of([self._all_of(question, row, need) for need in row.need_any])
        if row.need is None:
            return _Need(Fit.NO)
        return self._all_of(question, row, row.need)

    def _all_of(self, question: Question, row: Row, needs: Conditions) -> _Need:
        missing: list[str] = []
        open_ = False
        for axis in needs:
            value = question.values.get(axis)
            if value is None:
                missing.append(axis)
                continue
            if self.relation is not None and axis == "gpu_arch":
                verdict = self.relation.verdict(value.text, needs[axis], question.values.get("cuda_runtime"))
                if verdict is not Verdict.SUPPORTED:
                    return _Need(Fit.NO, verdict if verdict is not Verdict.UNSUPPORTED else row.otherwise)
                continue
            condition = conditions.read(axis, needs[axis])
            fit = _fit(question, value, condition)
            if fit is Fit.NO:
                return _Need(Fit.NO)
            open_ |= fit is Fit.MAYBE and not conditions.fits_as_named(value, condition)
        if missing or open_:
            return _Need(Fit.MAYBE, missing=tuple(missing), open=open_)
        return _Need(Fit.YES)


@lru_cache(maxsize=4096)
def _each_once(axes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(axes))


def _fit(question: Question, value: Value, condition: Asked) -> Fit:
    other = condition.other
    if not other:
        return conditions.fit(value, condition)
    with_ = question.values.get(other)
    return Fit.MAYBE if with_ is None else conditions.fit_other(value, condition, with_)


def _read_by(needs: Conditions) -> Iterator[str]:
    """The axes that needs read: their own, and those that they compare with."""
    for axis, condition in needs.items():
        yield axis
        if other := conditions.read(axis, condition).other:
            yield other


def _is_cuda(question: Question) -> bool:
    arch = question.values.get("gpu_arch")
    return arch is None or arch.text.startswith("sm_")


def _any_of(needs: Sequence[_Need]) -> _Need:
    if any(need.fit is Fit.YES for need in needs):
        return _Need(Fit.YES)
    if all(need.fit is Fit.NO for need in needs):
        return _Need(Fit.NO)
    missing = dict.fromkeys(axis for need in needs for axis in need.missing)
    return _Need(Fit.MAYBE, missing=tuple(missing), open=any(need.open for need in needs))


def _verdict(row: Row, fit: Fit) -> Verdict:
    return Verdict.SUPPORTED if fit is Fit.YES else row.otherwise


def _missing(question: Question, row: Row) -> tuple[str, ...]:
    """The axes of a row's `when` that were not told, or not closely enough."""
    return tuple(
        axis
        for axis, condition in row.when.items()
        if (value := question.values.get(axis)) is None
        or conditions.fit(value, conditions.read(axis, condition)) is Fit.MAYBE
    )


def _is_ahead(question: Question, row: Row, axes: Iterable[str]) -> bool:
    """Whether a row speaks of what is not there yet: who asks for at least a version means those that exist."""
    asked = [question.values[axis].spans[-1:] for axis in axes]
    spoken = [conditions.read(axis, row.when[axis]).spans.get("", ())[-1:] for axis in axes]
    return all(span and span[0][1] is None for span in (*asked, *spoken))


def _best_of_each(rows: Sequence[Row], evidence: Mapping[str, Evidence]) -> list[Row]:
    """The entries in the order in which they are believed; of those about the same thing only the best known."""

    def belief(row: Row) -> tuple[int, int]:
        return -_specificity(row), _EVIDENCE[row.evidence or evidence[row.source]]

    best: dict[tuple[object, ...], Row] = {}
    for row in sorted(rows, key=belief):
        best.setdefault((row.scope, *sorted((axis, str(condition)) for axis, condition in row.when.items())), row)
    return list(best.values())


def _specificity(row: Row) -> int:
    """How closely a row says what it speaks of: axes first, then the components of their versions."""
    return sum(
        10 + (max(text.count(".") for text in conditions.alternatives(condition)) if is_version(axis) else 0)
        for axis, condition in row.when.items()
        if condition
    )


def _place(row: Row, axis: str) -> spans.Release:
    return max(_lowest(axis, row.when[axis]), default=())


@lru_cache(maxsize=4096)
def _lowest(axis: str, condition: Condition) -> tuple[spans.Release, ...]:
    return tuple(low for low, _ in conditions.read(axis, condition).spans.get("", ()))


def _nearest(rows: Sequence[Row], axis: str, *, newest: bool) -> list[Row]:
    """The rows of the release that is nearest from one side."""
    if not rows:
        return []
    places = [_place(row, axis) for row in rows]
    near = max(places) if newest else min(places)
    return [row for row, place in zip(rows, places, strict=True) if place == near]
