"""Known issues against what the cases did."""

from datetime import date
from types import SimpleNamespace

import pytest

from orchestrator.model import Case
from orchestrator.results import known
from orchestrator.vocabulary import Outcome, Status

TODAY = date(2026, 11, 29)
LINK = "https://x.test/1"


def one(make: SimpleNamespace, outcome: Outcome, *, day: date | None = TODAY, **issue: object) -> Case:
    (case,) = known.apply([make.known(**issue)], [Case(name="test_conv", outcome=outcome, message="m")], day)
    return case


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.ERROR])
def test_a_failing_case_that_matches_is_known(make: SimpleNamespace, outcome: Outcome) -> None:
    case = one(make, outcome)

    assert (case.known_issue, case.outcome, case.message) == (LINK, outcome, "m")


def test_a_passing_case_that_matches_is_a_failure(make: SimpleNamespace) -> None:
    case = one(make, Outcome.PASSED)

    assert (case.known_issue, case.outcome) == ("", Outcome.FAILED)
    assert case.message == f"known issue gone: it passes; take the entry out of known_issues ({LINK})"


def test_a_skipped_case_says_nothing_about_an_issue(make: SimpleNamespace) -> None:
    assert one(make, Outcome.SKIPPED) == Case(name="test_conv", outcome=Outcome.SKIPPED, message="m")


@pytest.mark.parametrize(
    ("until", "day", "over"),
    [
        ("", TODAY, False),
        ("", None, False),
        ("2026-11-29", TODAY, False),
        ("2026-11-30", TODAY, False),
        ("2026-11-28", TODAY, True),
        ("2026-11-30", None, True),
        ("soon", TODAY, True),
    ],
)
def test_an_issue_is_over_after_its_last_day(make: SimpleNamespace, until: str, day: date | None, over: bool) -> None:
    failed = one(make, Outcome.FAILED, day=day, until=until)
    passed = one(make, Outcome.PASSED, day=day, until=until)

    assert failed.known_issue == ("" if over else LINK)
    assert failed.message == (f"known issue expired: accepted until {until} ({LINK}): m" if over else "m")
    assert passed.outcome is Outcome.FAILED, "what passes takes its entry out, also after its last day"


@pytest.mark.parametrize("name", sorted(known.OF_THE_RUN))
def test_no_issue_however_wide_excuses_that_a_run_could_not_begin_or_lost_cases(
    make: SimpleNamespace, name: str
) -> None:
    lost = Case(name=name, outcome=Outcome.ERROR, message="m")

    assert known.apply([make.known(test="*")], [lost], TODAY) == (lost,)
    assert known.told_unmet([make.known(test=name)], [lost]) == (
        f"known issue `{name}` fits no case of this run ({LINK})",
    )


def test_names_match_as_globs_with_case(make: SimpleNamespace) -> None:
    cases = [Case(name=name, outcome=Outcome.FAILED) for name in ("test_conv[cpu]", "test_CONV", "x")]

    found = known.apply([make.known(test="*conv*")], cases, TODAY)

    assert [bool(case.known_issue) for case in found] == [True, False, False]


def test_the_first_issue_that_fits_decides(make: SimpleNamespace) -> None:
    issues = [make.known(issue="first"), make.known(issue="second")]

    (case,) = known.apply(issues, [Case(name="test_conv", outcome=Outcome.FAILED)], TODAY)

    assert case.known_issue == "first"


def test_an_issue_of_a_status_leaves_cases_alone(make: SimpleNamespace) -> None:
    issue = make.known(test="*", status=Status.CRASHED)
    failing = Case(name="a", outcome=Outcome.FAILED)

    assert known.apply([issue], [failing], TODAY) == (failing,)
    assert known.of_status([issue, make.known()]) == (issue,)
    assert known.expecting([issue], Status.CRASHED) is issue
    assert known.expecting([issue], Status.FAILED) is None


def test_without_an_address_the_reason_stands_for_it(make: SimpleNamespace) -> None:
    assert one(make, Outcome.FAILED, issue="").known_issue == "it is broken"
    assert one(make, Outcome.FAILED, issue="", because="").known_issue == "known issue"


@pytest.mark.parametrize(
    ("moment", "day"),
    [("2026-11-29T10:00:00Z", TODAY), ("2026-11-29", TODAY), ("", None), ("29.11.2026", None), ("2026-13-01", None)],
)
def test_day_of(moment: str, day: date | None) -> None:
    assert known.day_of(moment) == day
