"""The one decision table: from the facts of engine and bundle to a status, a cause and a reason. Nobody else decides.

The first row that holds wins. Their order answers one question: whose word is worth more? What we did ourselves (a
stop, an engine that failed, a deadline, the kernel's memory limit) comes before what the cell says about itself. Of
what the cell says, first *what* ran (`mismatch`: results of another combination say nothing about this one, not even
that its device was missing), then whether its report can be believed and is whole, and only then what its cases did.
`passed` is the last row and is reached only by a whole bundle in which exit code, progress and report agree.
"""

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from orchestrator import text
from orchestrator.model import Attempt, Case, CellResult, PlannedCell
from orchestrator.results import causes, known, reasons
from orchestrator.results.bundle import Bundle
from orchestrator.results.evidence import Evidence, count, gather, is_failing
from orchestrator.vocabulary import Cause, Outcome, Purpose, Status, Step, Verdict

_REASON = 600  # characters of a reason: the differences of several axes fit
_DEVICE_EXIT = 4  # the suite's own exit code: device missing or lost
_USAGE_EXIT = 2
_NOT_STARTED = frozenset({125, 126, 127})  # the engine's, and a shell's: the command could not be started


class Row(Struct, frozen=True, kw_only=True):
    """One row of the table."""

    name: str
    when: Callable[[Evidence], bool]
    status: Status
    cause: Callable[[Evidence], Cause]
    reason: Callable[[Evidence], str]


def _always(cause: Cause) -> Callable[[Evidence], Cause]:
    return lambda _: cause


TABLE: tuple[Row, ...] = (
    Row(
        name="stopped from outside",
        when=lambda e: e.exit.cancelled,
        status=Status.CANCELLED,
        cause=_always(Cause.INTERRUPTED),
        reason=lambda e: f"stopped from outside{e.where}",
    ),
    Row(
        # Found before anything ran: what was resolved, fetched or built is not what was asked for.
        name="something else was built",
        when=lambda e: e.exit.step is Step.PREPARE and causes.stated(e.exit.problem) is Cause.VERSION_MISMATCH,
        status=Status.MISMATCH,
        cause=_always(Cause.VERSION_MISMATCH),
        reason=lambda e: f"prepare: {e.exit.problem}",
    ),
    Row(
        name="engine, build or disk failed",
        when=lambda e: bool(e.exit.problem),
        status=Status.ERROR,
        cause=reasons.cause_of_problem,
        reason=lambda e: f"{e.exit.step or 'engine'}: {e.exit.problem}",
    ),
    Row(
        name="deadline",
        when=lambda e: e.exit.timed_out,
        status=Status.TIMEOUT,
        cause=_always(Cause.HANG),
        reason=lambda e: f"no end within {e.cell.limits.timeout_s:g} s{e.where}",
    ),
    Row(
        # Also when the process ended with 0: the kernel may have killed a child only.
        name="out of memory",
        when=lambda e: e.exit.oom,
        status=Status.OOM,
        cause=_always(Cause.OUT_OF_MEMORY),
        reason=lambda e: (
            f"the kernel killed a process at the limit of {reasons.gib(e.cell.limits.memory)} memory{e.where}, "
            f"exit {reasons.exit_text(e)}"
        ),
    ),
    Row(
        name="engine saw no end",
        when=lambda e: bool(e.attempt.engine) and e.exit.code is None and e.signal is None,
        status=Status.ERROR,
        cause=_always(Cause.ENGINE),
        reason=lambda e: f"the engine did not see how the process ended{e.where}",
    ),
    Row(
        name="something else ran",
        when=lambda e: bool(e.differences),
        status=Status.MISMATCH,
        cause=_always(Cause.VERSION_MISMATCH),
        reason=reasons.differences,
    ),
    Row(
        name="device missing or lost",
        when=lambda e: e.exit.code == _DEVICE_EXIT,
        status=Status.ERROR,
        cause=lambda e: Cause.DEVICE_LOST if e.bundle.progress.started else Cause.DEVICE_MISSING,
        reason=reasons.device,
    ),
    Row(
        name="not started",
        when=lambda e: e.exit.code in _NOT_STARTED and e.bundle.progress.final is None,
        status=Status.ERROR,
        cause=_always(Cause.ENGINE),
        reason=lambda e: f"the suite could not be started, exit {reasons.exit_text(e)}{reasons.last_words(e)}",
    ),
    Row(
        name="suite refused its command line",
        when=lambda e: e.exit.code == _USAGE_EXIT and not e.bundle.progress.started,
        status=Status.ERROR,
        cause=_always(Cause.UNCLEAR),
        reason=lambda e: f"the suite refused its command line, exit 2{reasons.last_words(e)}",
    ),
    Row(
        name="report cannot be believed",
        when=lambda e: bool(e.problems),
        status=Status.ERROR,
        cause=_always(Cause.REPORT_UNREADABLE),
        reason=lambda e: "; ".join(e.problems),
    ),
    Row(
        # Whatever the exit code: `os._exit(0)` in a test ends with 0 and a silent report.
        name="no final line",
        when=lambda e: e.bundle.progress.final is None,
        status=Status.CRASHED,
        cause=reasons.cause_of_crash,
        reason=lambda e: f"ended with {reasons.exit_text(e)}{e.where}, before its end{reasons.last_words(e)}",
    ),
    Row(
        name="report is not whole",
        when=lambda e: bool(e.bundle.gaps),
        status=Status.ERROR,
        cause=_always(Cause.REPORT_UNREADABLE),
        reason=lambda e: "; ".join(e.bundle.gaps),
    ),
    Row(
        name="cases failed",
        when=lambda e: bool(e.failing),
        status=Status.FAILED,
        cause=lambda e: causes.cause_of(e.failing[0].message, e.failing[0].detail),
        reason=lambda e: reasons.failures(e.failing, e),
    ),
    Row(
        name="died after its last test",
        when=lambda e: e.died_late,
        status=Status.CRASHED_AT_EXIT,
        cause=lambda e: causes.cause_of_signal(e.signal or 0, e.log),
        reason=lambda e: (
            f"all cases were fine, then the process ended with {reasons.exit_text(e)}{reasons.last_words(e)}"
        ),
    ),
    Row(
        # After the failures: a torch that cannot be imported does not say its version, and its case says why.
        name="what ran is not said",
        when=lambda e: bool(e.unwitnessed),
        status=Status.ERROR,
        cause=_always(Cause.REPORT_UNREADABLE),
        reason=lambda e: f"environment.json does not say which {', '.join(e.unwitnessed)} ran",
    ),
    Row(
        name="no case ran",
        when=lambda e: e.ran == 0,
        status=Status.ERROR,
        cause=_always(Cause.NO_TESTS),
        reason=lambda e: f"no tests ran: {len(e.cases)} cases, all of them skipped" if e.cases else "no tests ran",
    ),
    Row(
        name="exit and report disagree",
        when=lambda e: bool(e.disagreement),
        status=Status.ERROR,
        cause=_always(Cause.REPORT_UNREADABLE),
        reason=lambda e: f"exit and report disagree: {e.disagreement}",
    ),
    Row(
        # A skip where the suite runs alone; here the backend is what was asked for, and part of it never ran.
        name="backend has no compiler",
        when=lambda e: bool(e.uncompiled),
        status=Status.FAILED,
        cause=_always(Cause.COMPILER_MISSING),
        reason=lambda e: reasons.failures(e.uncompiled, e),
    ),
    Row(
        name="backend is not witnessed",
        when=lambda e: e.unused,
        status=Status.ERROR,
        cause=_always(Cause.REPORT_UNREADABLE),
        reason=lambda e: f"structure.json counts no load that went through {e.backend}",
    ),
    Row(
        name="backend fell back, as the row allows",
        when=lambda e: bool(e.fallbacks),
        status=Status.FELL_BACK,
        cause=_always(Cause.BACKEND_FELL_BACK),
        reason=lambda e: reasons.failures(e.fallbacks, e),
    ),
    Row(
        name="backend took nothing",
        when=lambda e: bool(e.untaken),
        status=Status.FAILED,
        cause=_always(Cause.BACKEND_FELL_BACK),
        reason=lambda e: f"{e.backend} took no {e.untaken[0].unit} of {', '.join(use.load for use in e.untaken)}",
    ),
    Row(
        name="passed",
        when=lambda _: True,
        status=Status.PASSED,
        cause=_always(Cause.NONE),
        reason=lambda _: "",
    ),
)


def decide(evidence: Evidence) -> Row:
    """The first row of the table that holds; the last one holds always."""
    return next(row for row in TABLE if row.when(evidence))


Attempts = Sequence[tuple[Attempt, Bundle | None]]


def judge(cell: PlannedCell, attempts: Attempts) -> CellResult:
    """What became of a planned cell, from every attempt at it, in whatever order they come.

    The highest number among runs and retries decides. Equal numbers with different content: the worst status wins and
    a note says so; the same content counts once.
    """
    every = distinct(attempts)
    if not every:
        return _without_attempt(cell)
    deciding = [pair for pair in every if pair[0].purpose in {Purpose.RUN, Purpose.RETRY}] or every
    last = max(attempt.number for attempt, _ in deciding)
    judged = sorted(
        (judge_attempt(cell, attempt, bundle) for attempt, bundle in deciding if attempt.number == last), key=_severity
    )
    worst = judged[0]
    notes = worst.notes
    if len(judged) > 1:
        found = ", ".join(result.status for result in judged)
        notes = (*notes, f"attempt {last} came {len(judged)} times with different content ({found}): the worst counts")
    told = sorted((attempt for attempt, _ in every), key=lambda attempt: (attempt.number, _bytes(attempt)))
    return msgspec.structs.replace(worst, notes=notes, attempts=tuple(told))


def distinct(attempts: Attempts) -> Attempts:
    """The attempts without the second of two that are the same in every byte that was read."""
    once: list[tuple[Attempt, Bundle | None]] = []
    for pair in attempts:
        if pair not in once:
            once.append(pair)
    return once


def _without_attempt(cell: PlannedCell) -> CellResult:
    reason = cell.placement.reason
    if cell.support.verdict is Verdict.UNSUPPORTED:
        status, cause = Status.UNSUPPORTED, Cause.RULE  # no machine could help
    elif cell.placement.placed:
        status, cause, reason = Status.NOT_RUN, Cause.NONE, "no attempt at it is there"
    else:
        status, cause = Status.UNPLACED, Cause.NO_MACHINE
    return CellResult(
        id=cell.id,
        status=status,
        cause=cause,
        reason=text.one_line(reason, _REASON),
        requested=cell.axes,
        observed={},
        cases=(),
        counts=count(()),
        notes=(),
        attempts=(),
    )


def judge_attempt(cell: PlannedCell, attempt: Attempt, bundle: Bundle | None) -> CellResult:
    """What one attempt by itself comes to."""
    evidence = gather(cell, attempt, bundle)
    row = decide(evidence)
    cases = tuple(_excused(case, row.status) for case in evidence.cases)
    result = CellResult(
        id=cell.id,
        status=row.status,
        cause=row.cause(evidence),
        reason=text.one_line(row.reason(evidence), _REASON),
        requested=cell.axes,
        observed=evidence.observed,
        cases=cases,
        counts=count(cases),
        notes=_notes(evidence, row.status),
        attempts=(attempt,),
    )
    return _apply_status_issue(evidence, result)


def _excused(case: Case, status: Status) -> Case:
    """An allowed fall-back as the pass that it is; its message stays and says so."""
    if status is Status.FELL_BACK and is_failing(case):
        return msgspec.structs.replace(case, outcome=Outcome.PASSED)
    return case


def _apply_status_issue(evidence: Evidence, result: CellResult) -> CellResult:
    """A status of the whole cell that is known, that is known no more, or that should have come and did not."""
    issues = known.of_status(evidence.cell.known_issues)
    day = known.day_of(evidence.started)
    met = known.expecting(issues, result.status)
    if met is not None and not known.expired(met, day):
        cases = tuple(
            msgspec.structs.replace(case, known_issue=known.link(met))
            if case.outcome in {Outcome.FAILED, Outcome.ERROR} and not case.known_issue
            else case
            for case in result.cases
        )
        return msgspec.structs.replace(result, cases=cases, counts=count(cases), known_issue=known.link(met))
    if met is not None:
        reason = text.one_line(f"{known.told_expired(met)}: {result.reason}", _REASON)
        return msgspec.structs.replace(result, cause=Cause.KNOWN_ISSUE_EXPIRED, reason=reason)
    if issues and result.status in {Status.PASSED, Status.FELL_BACK}:
        return msgspec.structs.replace(
            result,
            status=Status.FAILED,
            cause=Cause.KNOWN_ISSUE_GONE,
            reason=text.one_line(f"{known.told_gone(issues[0])}: expected {issues[0].status}", _REASON),
        )
    return result


def _notes(evidence: Evidence, status: Status) -> tuple[str, ...]:
    bundle = evidence.bundle
    notes = [*bundle.notes]
    others = [name for name in evidence.exit.refused if name not in evidence.refused]
    if others:
        notes.append(f"the engine did not take: {'; '.join(others)}")
    if status is not Status.ERROR:
        notes += bundle.problems
    if status not in {Status.ERROR, Status.MISMATCH} and evidence.differences:
        notes.append(reasons.differences(evidence))
    if status is Status.FAILED and evidence.signal is not None:
        notes.append(f"after its last test the process ended with {reasons.exit_text(evidence)}")
    elif status is Status.FAILED and evidence.disagreement:
        notes.append(f"exit and report disagree: {evidence.disagreement}")
    if bundle.progress.final is not None and status in {Status.PASSED, Status.FAILED, Status.FELL_BACK}:
        notes += known.told_unmet(evidence.cell.known_issues, evidence.reported)
    return tuple(text.one_line(note) for note in notes)


# Worst first: what hides most of what happened comes before what tells it.
_WORST_FIRST = (
    Status.ERROR,
    Status.MISMATCH,
    Status.CRASHED,
    Status.OOM,
    Status.TIMEOUT,
    Status.FAILED,
    Status.CRASHED_AT_EXIT,
    Status.CANCELLED,
    Status.NOT_RUN,
    Status.UNPLACED,
    Status.UNSUPPORTED,
    Status.FELL_BACK,
    Status.PASSED,
)


def _severity(result: CellResult) -> tuple[int, bytes]:
    return _WORST_FIRST.index(result.status), _bytes(result)


def _bytes(value: Struct) -> bytes:
    """A value's content in one byte form, to order values by when nothing else tells them apart."""
    return msgspec.json.encode(value, order="deterministic")
