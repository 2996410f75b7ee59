"""The `rules` and `known_issues` sections: what is not planned, and what is known to fail."""

from orchestrator.matrix import quantities
from orchestrator.matrix.conditions import CONDITION
from orchestrator.matrix.forms import LINE, TEXT_SCHEMA, Field, Record, choice, listing, scalar, table
from orchestrator.matrix.problems import Problems
from orchestrator.model import KnownIssue, Rule
from orchestrator.vocabulary import Status

# Statuses that a combination earns by itself: infrastructure and placement are never a known issue.
KNOWN_STATUSES = (
    Status.FAILED,
    Status.CRASHED,
    Status.CRASHED_AT_EXIT,
    Status.TIMEOUT,
    Status.OOM,
    Status.MISMATCH,
    Status.FELL_BACK,
)

_FORBID = Field("forbid", CONDITION, "the cells that are not planned: axis -> glob or version range", required=True)
_BECAUSE = Field("because", LINE, "the reason, shown in the plan and the report", required=True)
_SOURCE = Field("source", LINE, "where the reason is written down", default="")
_WHEN = Field("when", CONDITION, "the cells that have the issue: axis -> glob or version range", required=True)
_TEST = Field("test", LINE, "glob on the names of the cases that fail")
_STATUS = Field("status", choice(KNOWN_STATUSES), "the status of the whole cell, in place of `test`")
_ISSUE = Field("issue", scalar(quantities.url, {"type": "string", "format": "uri"}), "its address", required=True)
_UNTIL = Field("until", scalar(quantities.date, TEXT_SCHEMA), "the day it must be looked at again", required=True)


def _rule(record: Record, _: Problems) -> Rule:
    return Rule(
        forbid=record[_FORBID], because=record[_BECAUSE], source=record[_SOURCE], place=record.places[_FORBID.name]
    )


def _known_issue(record: Record, problems: Problems) -> KnownIssue | None:
    test, status = record.get(_TEST), record.get(_STATUS)
    if (test is None) == (status is None) and not record.broken & {_TEST.name, _STATUS.name}:
        problems.add(record.place, "a known issue has either `test` or `status`")
    if record.broken or (test is None) == (status is None):
        return None
    return KnownIssue(
        when=record[_WHEN],
        test=test or "",
        status=Status(status) if status else None,
        because=record[_BECAUSE],
        issue=record[_ISSUE],
        until=record[_UNTIL],
        place=record.places[_WHEN.name],
    )


RULES = listing(table((_FORBID, _BECAUSE, _SOURCE), _rule))
KNOWN_ISSUES = listing(table((_WHEN, _TEST, _STATUS, _BECAUSE, _ISSUE, _UNTIL), _known_issue, partly=True))
