"""The merged JUnit file: each status as design section 2 says, legal whatever the texts are."""

import io
from typing import Any
from xml.etree import ElementTree as ET

import junitparser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model import Case, CellResult
from orchestrator.results import junit, merged_junit
from orchestrator.results.evidence import count
from orchestrator.results.merged_junit import Totals, totals_of
from orchestrator.vocabulary import Cause, Outcome, Status

PASS = Case(name="a", outcome=Outcome.PASSED, duration_s=0.25)
FAIL = Case(name="b", outcome=Outcome.FAILED, message="assert 1", detail="Traceback", duration_s=1.0)
ERROR = Case(name="c", outcome=Outcome.ERROR, message="setup")
SKIP = Case(name="d", outcome=Outcome.SKIPPED, message="no GPU")
KNOWN = Case(name="e", outcome=Outcome.FAILED, message="broken", known_issue="https://x.test/1")


def result(status: Status, *cases: Case, **changes: Any) -> CellResult:
    facts: dict[str, Any] = {"reason": f"it is {status}", "known_issue": "", "id": "c1", **changes}
    return CellResult(
        status=status,
        cause=Cause.UNCLEAR,
        requested={"torch": "2.13.0"},
        observed={"torch": "2.13.0+cpu"},
        cases=cases,
        counts=count(cases),
        notes=("a note",),
        attempts=(),
        **facts,
    )


def written(*results: CellResult) -> bytes:
    file = io.BytesIO()
    merged_junit.write(file, sum((totals_of(one) for one in results), Totals()), results)
    return file.getvalue()


def elements(*results: CellResult) -> list[tuple[str, str, str | None, str | None]]:
    """name, element, type and message of each testcase."""
    found = []
    for case in ET.fromstring(written(*results)).iter("testcase"):
        inner = next((child for child in case if child.tag != "properties"), None)
        kind = (inner.tag, inner.get("type"), inner.get("message")) if inner is not None else ("passed", None, None)
        found.append((case.get("name") or "", *kind))
    return found


@pytest.mark.parametrize(
    "status",
    [Status.CRASHED, Status.CRASHED_AT_EXIT, Status.TIMEOUT, Status.OOM, Status.MISMATCH, Status.ERROR],
)
def test_what_no_case_tells_is_an_error_of_the_cell_with_its_type(status: Status) -> None:
    assert elements(result(status, PASS)) == [
        ("a", "passed", None, None),
        ("cell", "error", status.value, f"it is {status}"),
    ]


@pytest.mark.parametrize("status", [Status.UNPLACED, Status.UNSUPPORTED, Status.CANCELLED, Status.NOT_RUN])
def test_what_did_not_run_is_skipped_with_the_reason(status: Status) -> None:
    assert elements(result(status)) == [("cell", "skipped", status.value, f"it is {status}")]


def test_failed_cases_tell_it_themselves() -> None:
    assert elements(result(Status.FAILED, PASS, FAIL, ERROR, SKIP)) == [
        ("a", "passed", None, None),
        ("b", "failure", "failed", "assert 1"),
        ("c", "error", "error", "setup"),
        ("d", "skipped", "skipped", "no GPU"),
    ]


def test_a_failed_cell_without_a_failing_case_has_a_failure_of_its_own() -> None:
    assert elements(result(Status.FAILED, PASS))[1] == ("cell", "failure", "failed", "it is failed")


def test_a_passed_cell_has_its_cases_only() -> None:
    assert elements(result(Status.PASSED, PASS, reason="")) == [("a", "passed", None, None)]


def test_a_known_issue_of_a_case_is_skipped_with_its_link() -> None:
    assert elements(result(Status.PASSED, PASS, KNOWN))[1] == (
        "e",
        "skipped",
        "known issue",
        "known issue: https://x.test/1: broken",
    )


def test_a_known_status_of_a_cell_is_skipped_with_its_link() -> None:
    assert elements(result(Status.CRASHED, PASS, known_issue="link"))[1] == (
        "cell",
        "skipped",
        "known issue",
        "known issue: link: it is crashed",
    )


def test_a_fall_back_passes_with_a_property_that_says_so() -> None:
    fell = Case(name="f", outcome=Outcome.PASSED, message="backend fell back: took 0 of 3")

    (case,) = ET.fromstring(written(result(Status.FELL_BACK, fell))).iter("testcase")

    assert [child.tag for child in case] == ["properties"]
    assert case.find("properties/property").attrib == {  # type: ignore[union-attr]
        "name": "fell-back",
        "value": "backend fell back: took 0 of 3",
    }


def test_every_status_leaves_at_least_one_case() -> None:
    for status in Status:
        assert elements(result(status, FAIL)), status
        if status not in {Status.PASSED, Status.FELL_BACK}:
            assert elements(result(status)), status


def test_names_detail_properties_and_times() -> None:
    root = ET.fromstring(written(result(Status.FAILED, PASS, FAIL)))

    assert [case.get("classname") for case in root.iter("testcase")] == ["c1", "c1"]
    assert [case.get("time") for case in root.iter("testcase")] == ["0.25", "1.0"]
    assert root.findtext(".//failure") == "Traceback"
    assert {one.get("name"): one.get("value") for one in root.iter("property")} == {
        "status": "failed",
        "cause": "unclear",
        "reason": "it is failed",
        "requested.torch": "2.13.0",
        "observed.torch": "2.13.0+cpu",
        "note": "a note",
    }
    assert root.find("testsuite").get("time") == "1.25"  # type: ignore[union-attr]


def test_an_allowed_fall_back_leaves_other_passes_as_they_are() -> None:
    assert b"properties" not in written(result(Status.FELL_BACK, PASS)).split(b"<testcase ")[1]


def test_each_case_stands_in_a_line_of_its_own() -> None:
    lines = written(result(Status.FAILED, PASS, FAIL, SKIP)).decode().splitlines()

    assert sum(line.startswith("<testcase ") for line in lines) == 3


def test_the_counts_are_those_of_the_elements() -> None:
    results = [
        result(status, PASS, FAIL, ERROR, SKIP, KNOWN, id=f"c-{status}", known_issue=known)
        for status in Status
        for known in ("", "link")
    ]

    report = junit.parse([written(*results)])

    assert report.problem == ""
    assert report.notes == ()  # the reader counts for itself and notes each attribute that differs
    assert ET.fromstring(written(*results)).get("tests") == str(len(report.cases))


def test_junitparser_reads_the_file() -> None:
    xml = junitparser.JUnitXml.fromstring(written(result(Status.FAILED, PASS, FAIL), result(Status.OOM, id="c2")))

    suites = list(xml)
    assert [suite.name for suite in suites] == ["c1", "c2"]
    assert [(case.name, case.classname) for case in suites[0]] == [("a", "c1"), ("b", "c1")]
    (failure,) = list(suites[0])[1].result
    assert (failure.message, failure.type, failure.text) == ("assert 1", "failed", "Traceback")
    assert (xml.tests, xml.failures, xml.errors, xml.skipped) == (3, 1, 1, 0)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("\x00", "\\x00"),
        ("\ud800", "\\ud800"),
        ("\ufffe", "\\ufffe"),
        ("a]]>b", "a]]>b"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ('"><img src=x onerror=alert(1)>', '"><img src=x onerror=alert(1)>'),
        ("<testcase name='x'/>", "<testcase name='x'/>"),
        ("&amp;", "&amp;"),
        ("\u202eevil", "\u202eevil"),
    ],
)
def test_hostile_text_reads_back_as_visible_text(text: str, read: str) -> None:
    root = ET.fromstring(
        written(result(Status.FAILED, Case(name=text, outcome=Outcome.FAILED, message=text, detail=text), reason=text))
    )

    (case,) = root.iter("testcase")
    (failure,) = case
    assert (case.get("name"), failure.get("message"), failure.text) == (read, read, read)
    assert {one.get("value") for one in root.iter("property") if one.get("name") == "reason"} == {read}


anything = st.text(st.characters(), max_size=40)


@given(
    st.lists(
        st.builds(
            Case,
            name=st.text(st.characters(), min_size=1, max_size=20),
            outcome=st.sampled_from(Outcome),
            message=anything,
            detail=anything,
            duration_s=st.none() | st.floats(0, 1e6),
            known_issue=st.sampled_from(["", "link"]),
        ),
        max_size=4,
        unique_by=lambda case: case.name,
    ),
    st.sampled_from(Status),
    anything,
)
def test_whatever_it_holds_the_file_is_read_again(cases: list[Case], status: Status, reason: str) -> None:
    data = written(result(status, *cases, reason=reason))

    report = junit.parse([data])

    assert report.problem == ""
    assert not report.cut
    assert not any("says" in note for note in report.notes)
    junitparser.JUnitXml.fromstring(data)
    failing = sum(case.outcome in {Outcome.FAILED, Outcome.ERROR} and not case.known_issue for case in cases)
    assert sum(case.outcome in {Outcome.FAILED, Outcome.ERROR} for case in report.cases) >= failing
