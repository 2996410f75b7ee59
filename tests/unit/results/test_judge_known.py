"""Known issues: what they excuse, and what they do not."""

from types import SimpleNamespace
from typing import Any

import msgspec
from judged import CONV, PASS, cut, whole

from orchestrator import formats
from orchestrator.model import Attempt, CellResult, Counts, Exit
from orchestrator.results.bundle import Bundle
from orchestrator.results.judge import judge
from orchestrator.results.progress import Progress
from orchestrator.vocabulary import Cause, Outcome, Status


def judged(make: SimpleNamespace, bundle: Bundle, code: int, **issue: Any) -> CellResult:
    return judge(make.cell(known_issues=(make.known(**issue),)), [(make.attempt(code=code), bundle)])


def test_a_known_failing_case_leaves_the_cell_passed(make: SimpleNamespace) -> None:
    result = judged(make, whole(PASS, CONV, exit=1), 1)

    assert result.status is Status.PASSED
    assert result.counts == Counts(passed=1, known=1)
    assert [case.known_issue for case in result.cases] == ["", "https://x.test/1"]


def test_a_known_issue_that_fits_no_case_is_noted(make: SimpleNamespace) -> None:
    cell = make.cell(known_issues=(make.known(test="*conf*"), make.known(test="test_con*")))

    whole_run = judge(cell, [(make.attempt(code=1), whole(PASS, CONV, exit=1))])
    crashed = judge(cell, [(make.attempt(code=139), cut(PASS))])

    assert whole_run.status is Status.PASSED
    assert whole_run.notes == ("known issue `*conf*` fits no case of this run (https://x.test/1)",)
    assert not any("known issue" in note for note in crashed.notes)


def test_as_many_tests_as_expected_or_an_unknown_number_pass(make: SimpleNamespace) -> None:
    for expected in (None, 1):
        progress = Progress(passed=1, final=formats.ProgressFinal(exit=0, tests=1, expected=expected))
        assert judge(make.cell(), [(make.attempt(), whole(PASS, progress=progress))]).status is Status.PASSED


def test_another_failing_case_beside_a_known_one_fails_the_cell(make: SimpleNamespace) -> None:
    result = judged(make, whole(msgspec.structs.replace(CONV, name="test_matmul"), CONV, exit=1), 1)

    assert result.status is Status.FAILED
    assert result.counts == Counts(failed=1, known=1)
    assert result.reason.startswith("1 of 2 cases: test_matmul")


def test_a_known_failing_case_does_not_excuse_a_clean_exit(make: SimpleNamespace) -> None:
    assert judged(make, whole(PASS, CONV, exit=0), 0).status is Status.ERROR


def test_only_known_failing_cases_are_a_run_of_tests(make: SimpleNamespace) -> None:
    assert judged(make, whole(CONV, exit=1), 1).status is Status.PASSED


def test_a_case_that_passes_in_spite_of_its_issue_fails_the_cell(make: SimpleNamespace) -> None:
    result = judged(make, whole(PASS, msgspec.structs.replace(CONV, outcome=Outcome.PASSED)), 0)

    assert (result.status, result.cause) == (Status.FAILED, Cause.KNOWN_ISSUE_GONE)
    assert result.counts == Counts(passed=1, failed=1)


def test_an_issue_past_its_last_day_is_a_failure(make: SimpleNamespace) -> None:
    result = judged(make, whole(PASS, CONV, exit=1), 1, until="2026-11-01")

    assert (result.status, result.cause) == (Status.FAILED, Cause.KNOWN_ISSUE_EXPIRED)


def test_the_day_comes_from_the_bundle_when_no_engine_told_it(make: SimpleNamespace) -> None:
    cell = make.cell(known_issues=(make.known(until="2026-11-29"),))
    attempt = Attempt(cell="c1", number=1, exit=Exit(code=1))

    assert judge(cell, [(attempt, whole(PASS, CONV, exit=1))]).status is Status.PASSED


def test_a_known_status_stays_and_carries_its_link(make: SimpleNamespace) -> None:
    result = judged(make, whole(PASS), 139, status=Status.CRASHED_AT_EXIT, test="")

    assert (result.status, result.known_issue) == (Status.CRASHED_AT_EXIT, "https://x.test/1")


def test_a_known_failed_status_covers_the_failing_cases(make: SimpleNamespace) -> None:
    result = judged(make, whole(PASS, CONV, exit=1), 1, status=Status.FAILED, test="")

    assert result.known_issue
    assert result.counts == Counts(passed=1, known=1)


def test_another_status_than_the_known_one_is_not_excused(make: SimpleNamespace) -> None:
    result = judged(make, whole(PASS, CONV, exit=1), 1, status=Status.CRASHED, test="")

    assert (result.status, result.known_issue) == (Status.FAILED, "")


def test_a_cell_that_passes_in_spite_of_a_known_status_failed(make: SimpleNamespace) -> None:
    result = judged(make, whole(PASS), 0, status=Status.CRASHED, test="")

    assert (result.status, result.cause) == (Status.FAILED, Cause.KNOWN_ISSUE_GONE)
    assert result.reason.endswith("expected crashed")
    over = judged(make, whole(PASS), 0, status=Status.CRASHED, test="", until="2026-01-01")
    assert over.cause is Cause.KNOWN_ISSUE_GONE, "an entry that is over would lie there unseen"


def test_a_known_status_past_its_last_day_is_not_excused(make: SimpleNamespace) -> None:
    result = judged(make, whole(PASS), 139, status=Status.CRASHED_AT_EXIT, test="", until="2026-01-01")

    assert (result.status, result.known_issue) == (Status.CRASHED_AT_EXIT, "")
    assert result.cause is Cause.KNOWN_ISSUE_EXPIRED
    assert "SIGSEGV" in result.reason
