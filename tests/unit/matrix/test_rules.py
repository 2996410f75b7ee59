from typing import Any

import pytest

from orchestrator.matrix.rules import KNOWN_ISSUES, RULES
from orchestrator.vocabulary import Status

KNOWN = "when: {torch: 2.6.0}, because: x, issue: 'https://example.org/1', until: 2027-03-01"


def test_a_rule_stands_where_its_condition_stands(read: Any) -> None:
    (rule,) = read(RULES, "[{because: no wheels, forbid: {torch: 2.6.0}}]")
    assert (dict(rule.forbid), rule.because, rule.source) == ({"torch": "2.6.0"}, "no wheels", "")
    assert str(rule.place) == "m:1:31"


def test_a_known_issue_is_a_case_or_a_status(read: Any) -> None:
    case, cell = read(KNOWN_ISSUES, f"[{{{KNOWN}, test: '*conv*'}}, {{{KNOWN}, status: crashed-at-exit}}]")
    assert (case.test, case.status) == ("*conv*", None)
    assert (cell.test, cell.status) == ("", Status.CRASHED_AT_EXIT)
    assert (case.issue, case.until) == ("https://example.org/1", "2027-03-01")


@pytest.mark.parametrize("more", ["", ", test: x, status: failed"])
def test_a_known_issue_is_not_neither_and_not_both(told: Any, more: str) -> None:
    assert told(KNOWN_ISSUES, f"[{{{KNOWN}{more}}}]") == ["m:1:2: a known issue has either `test` or `status`"]


def test_a_broken_test_is_not_told_to_be_absent(told: Any) -> None:
    assert len(told(KNOWN_ISSUES, f"[{{{KNOWN}, test: ''}}]")) == 1


@pytest.mark.parametrize("status", ["passed", "error", "unplaced", "unsupported", "cancelled", "not-run"])
def test_what_is_not_a_known_status(told: Any, status: str) -> None:
    assert f"`status` is `{status}`" in told(KNOWN_ISSUES, f"[{{{KNOWN}, status: {status}}}]")[0]
