"""Untrusted JUnit: each file of tests/data/results/junit beside what is to be read from it, then the laws."""

import json
from pathlib import Path
from typing import Any
from xml.parsers import expat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.results import junit
from orchestrator.results.junit import Report, parse, read_cases, seconds
from orchestrator.vocabulary import Outcome

DATA = Path(__file__).parents[2] / "data" / "results" / "junit"
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))
WHOLE = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<testsuites><testsuite name="é" tests="3">'
    '<testcase name="a" time="1"/>'
    '<testcase name="b"><failure message="m &amp; n"><![CDATA[x ]] y]]>é\U0001f600</failure></testcase>'
    "<!-- between --><testcase name='c'><skipped/></testcase>"
    "</testsuite></testsuites>"
).encode()


def read(text: str) -> Report:
    return parse([text.encode()])


@pytest.mark.parametrize("name", EXPECTED)
def test_each_file_is_read_as_the_answer_beside_it_says(name: str) -> None:
    report = read_cases(DATA / name)

    assert [[case.name, case.outcome, case.duration_s] for case in report.cases] == EXPECTED[name]["cases"]
    assert list(report.notes) == EXPECTED[name]["notes"]
    assert report.problem == EXPECTED[name]["problem"]
    assert not report.cut


def test_every_data_file_has_an_answer() -> None:
    assert {path.name for path in DATA.iterdir()} == {*EXPECTED, "expected.json"}


def test_cut_at_every_byte_it_is_cut_and_keeps_the_cases_until_there() -> None:
    names = ["a", "b", "c"]
    last = 0
    for end in range(len(WHOLE)):
        report = parse([WHOLE[:end]])
        assert report.cut, WHOLE[:end]
        assert not report.problem
        read_names = [case.name for case in report.cases]
        assert read_names == names[: len(read_names)]
        assert len(read_names) >= last
        last = len(read_names)
    assert last == len(names)
    whole = parse([WHOLE])
    assert not whole.cut
    assert [case.outcome for case in whole.cases] == [Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED]


def test_a_case_that_is_open_at_the_cut_is_not_kept_as_passed() -> None:
    assert (
        read('<testsuite><testcase name="a"/><testcase name="b">').cases
        == read('<testsuite><testcase name="a"/></testsuite>').cases
    )


def test_a_missing_file_is_a_cut_one(tmp_path: Path) -> None:
    assert read_cases(tmp_path / "junit.xml") == Report(cut=True)


def test_message_and_detail_are_kept_up_to_their_caps() -> None:
    long = f"<testsuite><testcase name='a'><error message='{'m' * 5000}'>{'d' * 20000}</error></testcase></testsuite>"
    (case,) = read(long).cases

    assert case.message == "m" * (junit.MAX_MESSAGE - 1) + "…"
    assert case.detail == "d" * (junit.MAX_DETAIL - 1) + "…"


def test_detail_is_the_text_of_the_worst_element_only() -> None:
    (case,) = read(
        "<testsuite><testcase name='a'><system-out>out</system-out><skipped>s</skipped><failure message='f'>why"
        "<![CDATA[ <b>]]></failure>tail</testcase></testsuite>"
    ).cases

    assert (case.outcome, case.message, case.detail) == (Outcome.FAILED, "f", "why <b>")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<testsuite>" * 33, "elements are nested deeper than 32"),
        ("<testsuite>" * 100_000, "elements are nested deeper than 32"),
        (f"<testsuite><testcase name='{'n' * 4097}'/></testsuite>", "a name has more than 4096 characters"),
        (
            f"<testsuite><testcase name='{'n' * (2 << 20)}'/></testsuite>",
            "a name has more than 4096 characters",
        ),
    ],
)
def test_depth_and_names_are_capped(text: str, problem: str) -> None:
    assert read(text).problem == problem


def test_cases_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "MAX_CASES", 3)

    assert read("<testsuite>" + "<testcase name='a'/>" * 3 + "</testsuite>").problem == ""
    report = read("<testsuite>" + "<testcase name='a'/>" * 4 + "</testsuite>")
    assert report.problem == "it has more than 3 cases"
    assert len(report.cases) == 3


def test_bytes_are_capped_while_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "MAX_BYTES", 1000)
    given_out = 0

    def endless() -> Any:
        nonlocal given_out
        yield b"<testsuite>"
        while True:
            given_out += 1
            yield b"<testcase name='a'/>"

    assert parse(endless()).problem == "it has more than 1000 bytes"
    assert given_out <= 50


def test_a_growing_token_is_refused_before_it_costs_the_square_of_its_length() -> None:
    def growing() -> Any:
        yield b"<testsuite name='"
        for _ in range(1000):
            yield b"x" * (1 << 16)

    assert parse(growing()).problem == f"a tag or a comment has more than {junit.MAX_TOKEN} bytes"


def test_long_text_is_no_long_token() -> None:
    chunks = [b"<testsuite><testcase name='a'><system-out>", *[b"x" * (1 << 16)] * 40, b"</system-out></testcase>"]

    report = parse([*chunks, b"</testsuite>"])

    assert report.problem == ""
    assert [case.outcome for case in report.cases] == [Outcome.PASSED]


def test_a_million_cases_hold_no_more_than_the_cap() -> None:
    report = parse([b"<testsuite>", *[b"<testcase name='a'/>" * 100] * 10_000])

    assert report.problem == f"it has more than {junit.MAX_CASES} cases"
    assert len(report.cases) == junit.MAX_CASES
    assert len({case.name for case in report.cases}) == junit.MAX_CASES


def test_notes_are_bounded() -> None:
    report = read("<testsuite>" + "".join(f"<testcase name='a' time='x{n}'/>" for n in range(100)) + "</testsuite>")

    assert len(report.notes) == 20
    assert len(report.cases) == 100


@pytest.mark.parametrize(("written", "value"), [("0", 0.0), ("1.5", 1.5), ("-0.0", 0.0), (None, None), ("e", None)])
def test_seconds(written: str | None, value: float | None) -> None:
    assert seconds(written) == value


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    report = parse([data])

    if not report.problem and not report.cut:
        assert expat.ParserCreate("utf-8").Parse(data, True) == 1


@given(st.data())
def test_no_damage_to_a_good_file_raises_or_makes_a_failure_pass(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(WHOLE) - 1))
    damaged = WHOLE[:at] + data.draw(st.binary(max_size=4)) + WHOLE[at + data.draw(st.integers(0, 3)) :]

    report = parse([damaged])

    if not report.problem and not report.cut and len(report.cases) == 3:
        assert report.cases[1].outcome is not Outcome.PASSED or b"<failure" not in damaged


@given(st.lists(st.integers(1, 40), max_size=20))
def test_the_size_of_the_pieces_does_not_matter(sizes: list[int]) -> None:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(WHOLE[at : at + size])
        at += size

    assert parse([*pieces, WHOLE[at:]]) == parse([WHOLE])
