"""What may be planned: the site's rules and what vendors say, each combination asked once."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from orchestrator import axes
from orchestrator.model import Alternative, Answer, Axes, CellSupport, Matrix, Reason, Row, Rule
from orchestrator.support.said import of_site_rule
from orchestrator.vocabulary import WORKS, LeftOutKind, RuleKind, Verdict

# Topics of the facts that say that there is nothing to install, beside those of each package (`python-wheel`, …); other
# topics are about running it.
NO_WHEEL = frozenset({"release", "index-mapping", "distribution", "conda-packages", "host-arch", "glibc"})


class Says(Protocol):
    """What answers for the vendors: `orchestrator.support.check.Support`."""

    def answer(self, combination: Mapping[str, object], *, nearest: bool = False) -> Answer:
        """The verdict of a combination with every reason."""

    def refusal(self, axes: Mapping[str, str], undecided: frozenset[str] = frozenset()) -> Reason | None:
        """The reason that forbids every completion of some axes, if one does; `undecided` may still get a value."""


class Against(Struct, frozen=True, kw_only=True):
    """What keeps a combination out of a plan."""

    kind: LeftOutKind
    reason: str
    rule: str = ""
    source: str = ""


class Asking:
    """Asks the site's rules first and the vendors after them, and remembers what they said.

    `contexts` are those that cells of the matrix are made in (see `contexts_of`), `undecided` axes of a context that
    the matrix varies itself.
    """

    def __init__(
        self,
        says: Says,
        rules: Sequence[Rule],
        contexts: Sequence[Axes] = ({},),
        undecided: frozenset[str] = frozenset(),
    ) -> None:
        self._says = says
        self._rules = rules
        self._contexts = contexts
        self._undecided = undecided
        self._refusals: dict[frozenset[tuple[str, str]], Reason | None] = {}
        self._nogoods: dict[tuple[str, str], dict[frozenset[tuple[str, str]], Reason]] = {}  # by one of their values
        self._answers: dict[frozenset[tuple[str, str]], Answer] = {}

    def refusal(self, cell: Axes) -> Reason | None:
        """The first reason that forbids a whole cell, if one does."""
        key = frozenset(cell.items())
        if key not in self._refusals:
            reason = self._from_nogoods(key)
            if reason is None:
                reason = site_refusal(cell, self._rules) or self._refused(cell)
                if reason is not None:
                    self._learn(reason, cell)
            self._refusals[key] = reason
        return self._refusals[key]

    def _refused(self, cell: Axes) -> Reason | None:
        answer = self.answer(cell)  # what is not refused is asked for its answer next
        return answer.reasons[0] if answer.verdict is Verdict.UNSUPPORTED else None

    def refusal_of_all(self, partial: Axes) -> Reason | None:
        """The first reason that forbids every cell of the matrix with some values, if one does."""
        if reason := self._from_nogoods(frozenset(partial.items())):
            return reason
        first: Reason | None = None
        for context in self._contexts:
            beside = {name: value for name, value in context.items() if axes.applies(axes.AXES[name], partial)}
            reason = self._refusal_in({**beside, **partial})
            if reason is None:
                return None
            first = first or reason
        return first

    def _refusal_in(self, partial: Axes) -> Reason | None:
        return site_refusal(partial, self._rules) or self._says.refusal(partial, self._undecided.difference(partial))

    def _from_nogoods(self, key: frozenset[tuple[str, str]]) -> Reason | None:
        for value in key:
            for nogood, reason in self._nogoods.get(value, {}).items():
                if nogood <= key:
                    return reason
        return None

    def _learn(self, reason: Reason, cell: Axes) -> None:
        """Keeps the values that a reason speaks of, if they are refused whatever stands beside them."""
        values = {name: cell[name] for name in reason.axes if name in cell}
        if values and self.refusal_of_all(values) is not None:
            self._nogoods.setdefault(min(values.items()), {})[frozenset(values.items())] = reason

    def answer(self, cell: Axes) -> Answer:
        """What vendors say of a whole cell."""
        key = frozenset(cell.items())
        if key not in self._answers:
            self._answers[key] = self._says.answer(cell)
        return self._answers[key]

    def nearest(self, cell: Axes) -> tuple[Alternative, ...]:
        """The nearest combinations that are supported."""
        return self._says.answer(cell, nearest=True).nearest

    def against(self, cell: Axes) -> Against | None:
        """What keeps an edge cell out: a refusal, or that nobody says that it works."""
        if reason := self.refusal(cell):
            return against(reason)
        answer = self.answer(cell)
        return None if answer.verdict in WORKS else _unknown(answer)


# What a row says of how its image is made, and what is a rule's to know: torch of a distribution comes in one version,
# and a compatibility package lets an old driver serve a new runtime. A cell at the edge has it from its row.
_CONTEXT = ("torch_from", "host_arch", "cuda_compat")


def asking_of(matrix: Matrix, says: Says) -> Asking:
    """Asking for the cells of a matrix."""
    varied = frozenset(entry.axis for entry in matrix.axes)
    return Asking(says, matrix.rules, contexts_of(matrix.production, varied), varied.intersection(_CONTEXT))


def contexts_of(rows: Sequence[Row], varied: frozenset[str]) -> tuple[Axes, ...]:
    """The different contexts that rows are in, but for axes that the matrix varies itself; the plainest first."""
    found: dict[frozenset[tuple[str, str]], Axes] = {frozenset(): {}}
    for row in rows:
        context = {name: row.axes[name] for name in _CONTEXT if name in row.axes and name not in varied}
        for each in (context, {name: value for name, value in context.items() if name != "cuda_compat"}):
            found.setdefault(frozenset(each.items()), each)
    return tuple(found.values())


def site_refusal(partial: Axes, rules: Sequence[Rule]) -> Reason | None:
    """The first site rule that forbids some axes, as a reason."""
    rule = next((rule for rule in rules if axes.selects(rule.forbid, partial)), None)
    return of_site_rule(rule).reason(partial) if rule else None


def against(reason: Reason) -> Against:
    """A reason as what keeps a combination out, in one sentence with its rule and where that is written."""
    kind = LeftOutKind.UNSUPPORTED
    if reason.kind is RuleKind.SITE_RULE:
        kind = LeftOutKind.RULE
    elif reason.rule in NO_WHEEL or reason.rule.endswith("-wheel"):
        kind = LeftOutKind.NO_WHEEL
    source = ", ".join(filter(None, (reason.source, reason.as_of)))
    said = ", ".join(filter(None, (reason.rule, source)))
    return Against(kind=kind, reason=f"{reason.because} ({said})", rule=reason.rule, source=source)


def _unknown(answer: Answer) -> Against:
    first = next(iter(answer.reasons), None)
    if first is not None and first.verdict is Verdict.UNKNOWN:
        said = against(first)
        reason = f"nobody says that it works: {said.reason}"
        return Against(kind=LeftOutKind.UNKNOWN, reason=reason, rule=said.rule, source=said.source)
    lacking = f"; it would help to know {', '.join(answer.missing)}" if answer.missing else ""
    return Against(kind=LeftOutKind.UNKNOWN, reason=f"nobody says that it works{lacking}")


def support_of(answer: Answer) -> CellSupport:
    """The verdict of a cell with the one reason that decides it."""
    first = next((reason for reason in answer.reasons if reason.verdict is answer.verdict), None)
    if first is None:
        return CellSupport(verdict=answer.verdict, supported_until=answer.supported_until)
    return CellSupport(
        verdict=answer.verdict,
        rule=first.rule,
        because=first.because,
        source=first.source,
        as_of=first.as_of,
        supported_until=answer.supported_until,
    )
