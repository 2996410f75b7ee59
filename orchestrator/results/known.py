"""Known issues of a cell against what its cases did: a failure that is expected, one that is no more, one overdue."""

import fnmatch
from collections.abc import Iterable, Sequence
from datetime import date

import msgspec

from orchestrator.model import Case, KnownFailure
from orchestrator.vocabulary import Outcome, Status

_FAILING = frozenset({Outcome.FAILED, Outcome.ERROR})
OF_THE_RUN = frozenset({"import torch", "import pytest", "number of cases", "session", "cascade"})
"""Cases of the suite that are no tests: that it could not begin, lost some of them, or broke. No issue excuses them."""


def apply(issues: Iterable[KnownFailure], cases: Sequence[Case], day: date | None) -> tuple[Case, ...]:
    """The cases with the known issues in force on `day`; the first issue whose `test` fits a case's name decides.

    A failing case carries the link in `known_issue`; after `until` it stays a failure that says so. A passing one
    becomes a failure, before `until` and after it, so that the entry is taken out: one that is over would lie there
    unseen. Without a known day an issue with an end counts as ended.
    """
    of_cases = [issue for issue in issues if issue.status is None]
    return tuple(_apply_one(of_cases, case, day) for case in cases)


def _apply_one(issues: Sequence[KnownFailure], case: Case, day: date | None) -> Case:
    issue = next((issue for issue in issues if _names(issue, case)), None)
    if issue is None or case.outcome is Outcome.SKIPPED:
        return case
    if case.outcome in _FAILING:
        if not expired(issue, day):
            return msgspec.structs.replace(case, known_issue=link(issue))
        return msgspec.structs.replace(case, message=f"{told_expired(issue)}: {case.message}")
    return msgspec.structs.replace(case, outcome=Outcome.FAILED, message=told_gone(issue))


def told_unmet(issues: Iterable[KnownFailure], cases: Sequence[Case]) -> tuple[str, ...]:
    """A line for each issue of a case that fits none of these: it excuses nothing, and nobody would see that."""
    return tuple(
        f"known issue `{issue.test}` fits no case of this run ({link(issue)})"
        for issue in issues
        if issue.status is None and not any(_names(issue, case) for case in cases)
    )


def _names(issue: KnownFailure, case: Case) -> bool:
    return case.name not in OF_THE_RUN and fnmatch.fnmatchcase(case.name, issue.test)


def of_status(issues: Iterable[KnownFailure]) -> tuple[KnownFailure, ...]:
    """The issues that expect a status of the whole cell."""
    return tuple(issue for issue in issues if issue.status is not None)


def expecting(issues: Iterable[KnownFailure], status: Status) -> KnownFailure | None:
    """The issue that expects this very status of the whole cell."""
    return next((issue for issue in issues if issue.status is status), None)


def expired(issue: KnownFailure, day: date | None) -> bool:
    """Whether the issue's last day lies before `day`; an end that is no date is over."""
    if not issue.until:
        return False
    last = day_of(issue.until)
    return last is None or day is None or last < day


def day_of(moment: str) -> date | None:
    """The day of an ISO moment, or None when the text does not begin with one."""
    try:
        return date.fromisoformat(moment[:10])
    except ValueError:
        return None


def link(issue: KnownFailure) -> str:
    """Where the issue is told, or why it is known when there is no address; never empty."""
    return issue.issue or issue.because or "known issue"


def told_gone(issue: KnownFailure) -> str:
    """The message of what passed in spite of a known issue."""
    return f"known issue gone: it passes; take the entry out of known_issues ({link(issue)})"


def told_expired(issue: KnownFailure) -> str:
    """The beginning of the message of what failed after the last day of its known issue."""
    return f"known issue expired: accepted until {issue.until} ({link(issue)})"
