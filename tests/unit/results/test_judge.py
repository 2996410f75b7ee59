"""The decision table: evidence beside what it comes to; each row is shown to matter, and so is the order."""

import sys
from collections import Counter
from types import SimpleNamespace

import msgspec
import pytest
from evidence_of_ends import ENDS
from evidence_of_reports import REPORTS
from hypothesis import given
from hypothesis import strategies as st
from judged import (
    CONV,
    OTHER_TORCH,
    PASS,
    SKIP,
    Line,
    cut,
    whole,
)
from mutants import mutants

from orchestrator.model import Attempt, CellSupport, Exit, Placement
from orchestrator.results import judge as judge_module
from orchestrator.results.bundle import Bundle
from orchestrator.results.evidence import gather
from orchestrator.results.judge import TABLE, decide, judge
from orchestrator.results.progress import Progress
from orchestrator.vocabulary import Cause, Outcome, Purpose, Status, Step, Verdict

LINES = (*ENDS, *REPORTS)
STATUS = {
    "stopped from outside": Status.CANCELLED,
    "something else was built": Status.MISMATCH,
    "engine, build or disk failed": Status.ERROR,
    "deadline": Status.TIMEOUT,
    "out of memory": Status.OOM,
    "engine saw no end": Status.ERROR,
    "something else ran": Status.MISMATCH,
    "device missing or lost": Status.ERROR,
    "not started": Status.ERROR,
    "suite refused its command line": Status.ERROR,
    "report cannot be believed": Status.ERROR,
    "no final line": Status.CRASHED,
    "report is not whole": Status.ERROR,
    "cases failed": Status.FAILED,
    "died after its last test": Status.CRASHED_AT_EXIT,
    "what ran is not said": Status.ERROR,
    "no case ran": Status.ERROR,
    "exit and report disagree": Status.ERROR,
    "backend has no compiler": Status.FAILED,
    "backend is not witnessed": Status.ERROR,
    "backend fell back, as the row allows": Status.FELL_BACK,
    "backend took nothing": Status.FAILED,
    "passed": Status.PASSED,
}


def row_name(make: SimpleNamespace, line: Line) -> str:
    _, facts, bundle, changes, *_ = line
    return decide(gather(make.cell(**changes), make.attempt(**facts), bundle)).name


@pytest.mark.parametrize("line", LINES, ids=[f"{line[0]}-{at}" for at, line in enumerate(LINES)])
def test_each_line_of_evidence(make: SimpleNamespace, line: Line) -> None:
    name, facts, bundle, changes, cause, reason = line

    result = judge(make.cell(**changes), [(make.attempt(**facts), bundle)])

    assert row_name(make, line) == name
    assert result.status is STATUS[name]
    assert result.cause is cause
    assert result.reason.startswith(reason)
    assert result.reason or result.status is Status.PASSED


def test_every_row_has_evidence_and_a_status() -> None:
    assert [row.name for row in TABLE] == list(dict.fromkeys(line[0] for line in LINES)) == list(STATUS)


@pytest.mark.parametrize("at", range(len(TABLE) - 1), ids=[row.name for row in TABLE[:-1]])
def test_no_row_can_be_left_out(make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    monkeypatch.setattr(judge_module, "TABLE", TABLE[:at] + TABLE[at + 1 :])

    assert [row_name(make, line) for line in LINES] != [line[0] for line in LINES]


# Neighbours that no evidence satisfies both of, so that their order says nothing.
APART = {
    ("not started", "suite refused its command line"),  # other exit codes
    ("device missing or lost", "not started"),
}


@pytest.mark.parametrize("at", range(len(TABLE) - 1), ids=[row.name for row in TABLE[:-1]])
def test_no_row_can_change_places_with_the_next(
    make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    pair = (TABLE[at].name, TABLE[at + 1].name)
    swapped = (*TABLE[:at], TABLE[at + 1], TABLE[at], *TABLE[at + 2 :])
    monkeypatch.setattr(judge_module, "TABLE", swapped)

    changed = [row_name(make, line) for line in LINES] != [line[0] for line in LINES]

    assert changed is (pair not in APART)


def told(make: SimpleNamespace, line: Line) -> bool:
    """Whether the line comes to what stands in it."""
    name, facts, bundle, changes, cause, reason = line
    try:
        result = judge(make.cell(**changes), [(make.attempt(**facts), bundle)])
    except Exception:  # noqa: BLE001 - a row that was changed may do anything
        return False
    found = (row_name(make, line), result.status, result.cause, result.reason.startswith(reason))
    return found == (name, STATUS[name], cause, True) and bool(result.reason) == (name != "passed")


def test_no_part_of_any_row_can_be_changed(make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row's status, cause, reason and every part of its condition: some line of evidence tells the difference."""
    counts: Counter[tuple[str, str]] = Counter()
    survived = []
    for mutant in mutants(judge_module, TABLE):
        name = TABLE[mutant.at].name
        monkeypatch.setattr(judge_module, "TABLE", (*TABLE[: mutant.at], mutant.row, *TABLE[mutant.at + 1 :]))
        counts[name, mutant.of] += 1
        nearest = sorted(LINES, key=lambda line: line[0] != name)
        if all(told(make, line) for line in nearest):
            survived.append(f"{name}: {mutant.of} as {mutant.reads}")
    for row in TABLE:  # shown with -s
        parts = "".join(f"{counts[row.name, of]:8} {of}" for of in ("status", "cause", "reason", "when"))
        sys.stdout.write(f"{row.name:40}{parts}\n")
    sys.stdout.write(f"{sum(counts.values())} mutants, {len(survived)} survived\n")
    assert survived == []


def test_a_pass_needs_a_whole_bundle_in_every_part(make: SimpleNamespace) -> None:
    good = whole(PASS)
    assert judge(make.cell(), [(make.attempt(), good)]).status is Status.PASSED
    for change in (
        {"gaps": ("x is missing",)},
        {"problems": ("x",)},
        {"progress": Progress()},
        {"environment": None},
        {"cases": ()},
        {"cases": (SKIP,)},
        {"cases": (PASS, CONV)},
    ):
        result = judge(make.cell(), [(make.attempt(), msgspec.structs.replace(good, **change))])
        assert result.status is not Status.PASSED, change


@given(
    st.builds(
        Exit,
        code=st.sampled_from([None, 0, 1, 2, 4, 5, 127, 137, 139, -11]),
        oom=st.booleans(),
        timed_out=st.booleans(),
        cancelled=st.booleans(),
        problem=st.sampled_from(["", "gone"]),
        signal=st.sampled_from([None, 11]),
    ),
    st.sampled_from([line[2] for line in LINES]),
    st.booleans(),
)
def test_nothing_passes_without_a_clean_exit_and_a_whole_good_report(
    make: SimpleNamespace, facts: Exit, bundle: Bundle | None, allow: bool
) -> None:
    attempt = Attempt(cell="c1", number=1, engine="docker", exit=facts)

    result = judge(make.cell(allow_fallback=allow), [(attempt, bundle)])

    if result.status is Status.PASSED:
        assert facts == Exit(code=0)
        assert bundle is not None
        assert not bundle.gaps + bundle.problems
        assert {case.outcome for case in bundle.cases} <= {Outcome.PASSED, Outcome.SKIPPED}


def test_without_an_attempt_the_plan_says_why(make: SimpleNamespace) -> None:
    placed = judge(make.cell(), [])
    unplaced = judge(make.cell(placement=Placement(placed=False, runner=None, reason="needs gpu=H100")), [])
    forbidden = Placement(placed=False, runner=None, reason="no wheel for 3.14")
    unsupported = judge(make.cell(placement=forbidden, support=CellSupport(verdict=Verdict.UNSUPPORTED)), [])

    assert (placed.status, placed.cause) == (Status.NOT_RUN, Cause.NONE)
    assert (unplaced.status, unplaced.cause, unplaced.reason) == (Status.UNPLACED, Cause.NO_MACHINE, "needs gpu=H100")
    assert (unsupported.status, unsupported.cause) == (Status.UNSUPPORTED, Cause.RULE)
    assert unsupported.reason == "no wheel for 3.14"


def test_an_unplaced_cell_that_ran_elsewhere_is_judged_by_what_ran(make: SimpleNamespace) -> None:
    cell = make.cell(placement=Placement(placed=False, runner=None, reason="not here"))

    assert judge(cell, [(make.attempt(), whole(PASS))]).status is Status.PASSED


def test_a_bundle_of_a_ci_job_is_judged_by_its_final_line(make: SimpleNamespace) -> None:
    attempt = Attempt(cell="c1", number=1, exit=Exit(code=None))

    assert judge(make.cell(), [(attempt, cut(PASS))]).status is Status.CRASHED
    assert judge(make.cell(), [(attempt, cut(PASS))]).reason == "ended with no exit code in test_conv, before its end"


# --- several attempts -------------------------------------------------------------------------------------------------


def test_the_highest_number_decides_in_whatever_order(make: SimpleNamespace) -> None:
    first = (make.attempt(1, problem="gone", step=Step.WAIT), None)
    retry = (msgspec.structs.replace(make.attempt(2), purpose=Purpose.RETRY), whole(PASS))

    for attempts in ([first, retry], [retry, first]):
        result = judge(make.cell(), attempts)
        assert result.status is Status.PASSED
        assert [attempt.number for attempt in result.attempts] == [1, 2]
        assert result.notes == ()


def test_a_confirm_does_not_decide_what_the_run_was(make: SimpleNamespace) -> None:
    run = (make.attempt(1), whole(PASS))
    confirm = (msgspec.structs.replace(make.attempt(7, timed_out=True), purpose=Purpose.CONFIRM), None)

    assert judge(make.cell(), [run, confirm]).status is Status.PASSED
    assert judge(make.cell(), [confirm]).status is Status.TIMEOUT


def test_the_same_content_counts_once(make: SimpleNamespace) -> None:
    pair = (make.attempt(), whole(PASS))

    assert judge(make.cell(), [pair, pair, pair]) == judge(make.cell(), [pair])


def test_of_equal_numbers_the_worst_counts_and_a_note_says_so(make: SimpleNamespace) -> None:
    good, bad = (make.attempt(), whole(PASS)), (make.attempt(code=1), whole(CONV, exit=1))

    one, other = judge(make.cell(), [good, bad, good]), judge(make.cell(), [bad, good])

    assert one == other
    assert one.status is Status.FAILED
    assert one.notes == ("attempt 1 came 2 times with different content (failed, passed): the worst counts",)


def test_every_status_has_a_severity() -> None:
    assert set(judge_module._WORST_FIRST) == set(Status)
    assert judge_module._WORST_FIRST[-1] is Status.PASSED


# --- notes ------------------------------------------------------------------------------------------------------------


def test_what_ran_is_noted_beside_a_stronger_status(make: SimpleNamespace) -> None:
    result = judge(make.cell(), [(make.attempt(timed_out=True), cut(PASS, observed=OTHER_TORCH))])

    assert result.status is Status.TIMEOUT
    assert "torch: requested 2.13.0, observed 2.12.1+cu130, torch_build: requested cpu, observed cu130" in result.notes


def test_a_late_death_is_noted_beside_failed_cases(make: SimpleNamespace) -> None:
    result = judge(make.cell(), [(make.attempt(code=139), whole(CONV, exit=1))])

    assert result.notes == ("after its last test the process ended with SIGSEGV",)


def test_a_disagreement_is_noted_beside_failed_cases(make: SimpleNamespace) -> None:
    result = judge(make.cell(), [(make.attempt(code=0), whole(CONV, exit=0))])

    assert result.notes == ("exit and report disagree: the process ended with 0, the report has 1 failed case",)


def test_files_that_the_engine_did_not_take_are_noted(make: SimpleNamespace) -> None:
    result = judge(make.cell(), [(make.attempt(refused=("evil.sh: not a file of a bundle",)), whole(PASS))])

    assert result.status is Status.PASSED
    assert result.notes == ("the engine did not take: evil.sh: not a file of a bundle",)


def test_a_reason_is_one_printable_line(make: SimpleNamespace) -> None:
    hostile = msgspec.structs.replace(
        CONV, name="a\n::set-env x", message="\x1b[31mred\x1b]0;t\x07\n\u202e" + "x" * 9000
    )

    result = judge(make.cell(), [(make.attempt(code=1), whole(hostile, exit=1))])

    assert result.reason.isprintable()
    assert len(result.reason) <= 600
