"""How far a session came, by the whole lines of its progress file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats import ProgressFinal
from orchestrator.results.progress import read_progress

START = b'{"event": "start", "test": "a"}\n'
END = b'{"event": "end", "test": "a", "outcome": "failed"}\n'
NEXT = b'{"event": "start", "test": "b"}\n'
FINAL = b'{"event": "final", "exit": 1, "tests": 1}\n'


def test_a_whole_session() -> None:
    progress = read_progress(START + END + FINAL)

    assert (progress.started, progress.ended, progress.failed) == (1, 1, 1)
    assert progress.in_flight == ""
    assert progress.final == ProgressFinal(exit=1, tests=1)
    assert progress.notes == ()


def test_the_test_in_flight_at_death_is_the_last_that_did_not_end() -> None:
    assert read_progress(START + END + NEXT).in_flight == "b"
    assert read_progress(START + NEXT).in_flight == "b"
    assert read_progress(START + END).in_flight == ""


def test_the_tests_that_ended_are_kept_for_where_there_is_no_report() -> None:
    passed = b'{"event": "end", "test": "b", "outcome": "passed"}\n'

    progress = read_progress(START + END + NEXT + passed + NEXT)

    assert [(case.name, case.outcome) for case in progress.cases] == [("a", "failed"), ("b", "passed")]
    assert (progress.passed, progress.failed, progress.in_flight) == (1, 1, "b")
    # The merged report has a case of this name of its own.
    assert read_progress(END.replace(b'"a"', b'"cell"')).cases == ()


def test_half_a_line_is_left_out_and_noted() -> None:
    progress = read_progress(START + END + FINAL[:-1])

    assert progress.final is None
    assert progress.notes == ("half a line at the end was left out",)


@pytest.mark.parametrize("after", [NEXT, b"nonsense\n", b"\n", b'{"event": "final"}\n', b"{"])
def test_a_final_line_counts_only_as_the_last_one(after: bytes) -> None:
    assert read_progress(START + END + FINAL + after).final is None


@pytest.mark.parametrize(
    "bad",
    [
        b"\n",
        b"[]\n",
        b"\xff\n",
        END.replace(b"{", b'{"unread": "\xc3", ', 1),
        b'{"event": "end", "test": "a", "outcome": "fine"}\n',
        b"[" * 5000 + b"\n",
    ],
)
def test_bad_lines_are_counted_and_the_others_used(bad: bytes) -> None:
    progress = read_progress(START + bad + END + FINAL)

    assert progress.notes == ("1 line is no progress line",)
    assert progress.unread == 1
    assert progress.ended == 1
    assert progress.final is not None


def test_nothing_is_nothing() -> None:
    assert read_progress(b"").final is None


@given(st.binary(max_size=200))
def test_no_bytes_raise_and_none_of_them_are_a_final_line_by_chance(data: bytes) -> None:
    progress = read_progress(START + data)

    assert progress.final is None or b'"final"' in data or b"\\u" in data
