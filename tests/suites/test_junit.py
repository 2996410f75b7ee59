"""The JUnit file."""

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from suites.junit import Case, document


def case(name: str = "t", outcome: str = "passed", message: str = "", detail: str = "") -> Case:
    return Case(name=name, outcome=outcome, message=message, detail=detail, seconds=0.25)


def test_the_cell_is_the_class_of_every_case_and_the_counts_are_right() -> None:
    kinds = ("passed", "failed", "failed", "error", "skipped")
    root = ET.fromstring(document("cell-1", [case(f"t{n}", kind, "why") for n, kind in enumerate(kinds)]))
    suite = root.find("testsuite")
    assert suite is not None
    assert [suite.get(key) for key in ("name", "tests", "failures", "errors", "skipped", "time")] == [
        *("cell-1", "5", "2", "1", "1", "1.250")
    ]
    assert {found.get("classname") for found in root.iter("testcase")} == {"cell-1"}
    assert [[child.tag for child in found] for found in root.iter("testcase")] == [
        *([], ["failure"], ["failure"], ["error"], ["skipped"])
    ]


def test_a_message_begins_with_what_it_was_given() -> None:
    root = ET.fromstring(document("c", [case(outcome="failed", message='numerics: 1 < 2 & "x"', detail="]]> trace")]))
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.get("message") == 'numerics: 1 < 2 & "x"'
    assert failure.text == "]]> trace"


@given(st.text(st.characters()), st.text(st.characters()))
def test_any_text_parses_again(name: str, message: str) -> None:
    root = ET.fromstring(document("c", [case(name, "failed", message, name)]))
    assert len(list(root.iter("failure"))) == 1
