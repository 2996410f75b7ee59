"""From a combination to an answer: what follows from it, what every rule says, and what that comes to together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial

from orchestrator import axes as cell_axes
from orchestrator.axes import AXES
from orchestrator.model import Answer, Axes, Reason, Rule
from orchestrator.support import coverage, reading
from orchestrator.support.axes import COMPANIONS, INHERENT
from orchestrator.support.derive import derive
from orchestrator.support.facts import Facts
from orchestrator.support.lifetimes import Lifetimes
from orchestrator.support.listed import listed_arches
from orchestrator.support.modes import Modes
from orchestrator.support.nearest import find_nearest
from orchestrator.support.question import Question
from orchestrator.support.said import Said, in_order, of_site_rule, worst
from orchestrator.support.table import Finding
from orchestrator.vocabulary import Verdict

_REMEMBERED = 50_000
_NAMES = {"gfx_as": "gpu", "gpu_arch": "gpu"}
_BY_TORCH = COMPANIONS | {"cxx11_abi"}


class Support:
    """What vendors say, asked as of a day or (None) without regard to ends of life; `rules` are a site's own."""

    def __init__(self, facts: Facts, on: date | None = None, rules: Sequence[Rule] = ()) -> None:
        self.facts = facts
        self.on = on.isoformat() if on else ""
        self._rules = rules
        self._lifetimes = Lifetimes(facts)
        compatibility = facts.file.compatibility
        self._modes = Modes(compatibility, facts.source_of, self._lifetimes.end_of_branch) if compatibility else None
        self._refusals: dict[tuple[frozenset[tuple[str, str]], frozenset[str]], Reason | None] = {}

    def answer(self, combination: Mapping[str, object], *, nearest: bool = False) -> Answer:
        """The answer to a combination, as a user wrote it or as the axes of a cell."""
        question = self.question(combination)
        verdict, told = _together(question, self._said(question, self._whole(combination)))
        reasons, shown = in_order(told, verdict), question.texts
        missing = _unsaid(question, told)
        if verdict is Verdict.UNSUPPORTED:  # nothing that was left unsaid can mend it
            missing = dict.fromkeys(axis for axis in missing if axis == "cuda_compat")
        until = min((each.until for each in told if each.until), default=None)
        return Answer(
            verdict=verdict,
            reasons=tuple(dict.fromkeys(each.reason(shown) for each in reasons)),
            supported_until=until,
            nearest=find_nearest(self, combination, verdict, reasons, tuple(missing)) if nearest else (),
            missing=tuple(missing),
            ignored=question.ignored,
        )

    def verdict(self, combination: Mapping[str, object]) -> Verdict:
        """The verdict alone."""
        question = self.question(combination)
        return _together(question, self._said(question, self._whole(combination)))[0]

    def refusal(self, axes: Mapping[str, str], undecided: frozenset[str] = frozenset()) -> Reason | None:
        """The first reason that no completion of these axes can mend, or None. It is remembered.

        A site's rule counts only by what was given: a default is a completion too.
        `undecided` are axes with a default (such as the compatibility package, which has none) that may still be given.
        """
        still = undecided.difference(axes)
        key = frozenset(axes.items()), still
        if key not in self._refusals:
            if len(self._refusals) > _REMEMBERED:
                self._refusals.clear()
            question = self.question(axes, still)
            refusing = [each for each in self._refusing(question, axes) if each.verdict is Verdict.UNSUPPORTED]
            self._refusals[key] = (
                in_order(refusing, Verdict.UNSUPPORTED)[0].reason(question.texts) if refusing else None
            )
        return self._refusals[key]

    def question(self, combination: Mapping[str, object], undecided: frozenset[str] = frozenset()) -> Question:
        """A combination, read and completed with all that follows from it."""
        question = reading.read(combination)
        question.undecided = undecided
        derive(question, self.facts.devices, self.facts.derivations, self.facts.file.amdgpu_releases)
        question.close()
        return question

    def _whole(self, combination: Mapping[str, object]) -> Axes:
        """The combination as the cell that a site's rules speak of: what was not given is at its default."""
        if not self._rules:
            return {}
        return cell_axes.complete({name: str(value) for name, value in combination.items() if name in AXES})

    def _said(self, question: Question, cell: Axes) -> Iterator[Said]:
        yield from self._site(cell)
        for finding in self._findings(question):
            yield self._of_finding(question, finding)
        yield from self._beside_the_tables(question)
        yield from self._lifetimes.said(question, self.on)

    def _refusing(self, question: Question, partial: Axes) -> Iterator[Said]:
        """What `_said` gives, without what refuses nothing: a plan asks this of thousands of parts of cells."""
        yield from self._site(partial)
        for finding in self._findings(question):
            if finding.verdict is Verdict.UNSUPPORTED:
                yield self._of_finding(question, finding)
        yield from self._beside_the_tables(question)

    def _site(self, cell: Axes) -> Iterator[Said]:
        return (of_site_rule(rule) for rule in self._rules if cell_axes.selects(rule.forbid, cell))

    def _findings(self, question: Question) -> Iterator[Finding]:
        for table in self.facts.tables:
            if table.concerns(question):
                yield from table.findings(question)

    def _beside_the_tables(self, question: Question) -> Iterator[Said]:
        yield from map(partial(coverage.contradiction, question), question.contradictions)
        yield from listed_arches(question, self.facts)
        if self._modes is not None:
            yield from self._modes.said(question, self.facts.cuda_builds(question))

    def _of_finding(self, question: Question, finding: Finding) -> Said:
        rule, row = finding.rule, finding.row
        holds = finding.verdict is Verdict.SUPPORTED
        if row is None or (holds and _tells_itself(question, finding)):
            return Said(
                kind=rule.kind,
                rule=rule.name,
                rank=rule.rank,
                verdict=finding.verdict,
                missing=finding.missing,
                scope=finding.scope,
            )
        source, as_of = self.facts.source(row)
        return Said(
            kind=rule.kind,
            rule=rule.name,
            rank=rule.rank_yes if holds and rule.rank_yes is not None else rule.rank,
            verdict=finding.verdict,
            axes=question.given(finding.axes),
            because=rule.yes if holds else row.because or rule.no,
            need=row.need or {},
            aside=finding.aside,
            source=source,
            as_of=as_of,
            missing=finding.missing,
            scope=(*rule.answers, *row.scope),
            proves=rule.proves,
        )


def _together(question: Question, said: Iterable[Said]) -> tuple[Verdict, list[Said]]:
    """What all that was said comes to. What nothing spoke of is never called supported."""
    told = list(said)
    verdict = worst(told)
    if verdict in {Verdict.UNSUPPORTED, Verdict.UNKNOWN}:
        return verdict, told
    silent = coverage.uncovered(question, told)
    if silent or verdict is None:
        return Verdict.UNKNOWN, [*told, coverage.no_data(question, silent)]
    return verdict, told


def _unsaid(question: Question, told: Sequence[Said]) -> dict[str, None]:
    """The axes that could change the answer, by the names that people use."""
    axes = (_NAMES.get(axis, axis) for each in told for axis in each.missing)
    return dict.fromkeys(axis for axis in axes if axis not in question.values)


def _tells_itself(question: Question, finding: Finding) -> bool:
    """Whether a row only finds that what follows from torch fits torch: nobody named the companion."""
    derived = set(finding.axes) & question.origin.keys() - INHERENT
    return bool(derived) and derived <= _BY_TORCH and not (finding.row and finding.row.scope)
