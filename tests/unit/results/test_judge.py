"""The decision table: evidence beside what it comes to; each row is shown to matter, and so is the order."""

import sys
from collections import Counter
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutants import mutants

from orchestrator import formats
from orchestrator.model import Attempt, Case, CellResult, CellSupport, Counts, Exit, Limits, Log, Placement
from orchestrator.results import judge as judge_module
from orchestrator.results.bundle import Bundle
from orchestrator.results.evidence import gather
from orchestrator.results.judge import TABLE, decide, judge
from orchestrator.results.progress import Progress
from orchestrator.vocabulary import Cause, Outcome, Purpose, Status, Step, Verdict

PASS = Case(name="test_matmul", outcome=Outcome.PASSED)
CONV = Case(name="test_conv", outcome=Outcome.FAILED, message="numerics: off by 1")
SKIP = Case(name="test_gpu", outcome=Outcome.SKIPPED, message="no GPU")
STICKY = Case(name="test_conv", outcome=Outcome.FAILED, message="device lost: CUDA error: misaligned address")
CASCADE = Case(name="cascade", outcome=Outcome.SKIPPED, message="cascade: 198 cases were not run")
FELL = Case(name="test_ov", outcome=Outcome.FAILED, message="backend fell back: took 0 of 3")
NO_COMPILER = Case(name="test_softmax", outcome=Outcome.SKIPPED, message="compiler missing: no g++")
OBSERVED = {"torch": "2.13.0+cpu", "torch_build": "cpu", "python": "3.11.2", "backend": "eager"}
OTHER_TORCH = {**OBSERVED, "torch": "2.12.1+cu130", "torch_build": "cu130"}


def whole(*cases: Case, exit: int = 0, observed: Mapping[str, str] = OBSERVED, **changes: Any) -> Bundle:  # noqa: A002
    """A whole bundle with these cases."""
    failed = sum(case.outcome in {Outcome.FAILED, Outcome.ERROR} for case in cases)
    progress = Progress(
        started=len(cases),
        ended=len(cases),
        failed=failed,
        passed=sum(case.outcome is Outcome.PASSED for case in cases),
        final=formats.ProgressFinal(exit=exit, tests=len(cases)),
    )
    environment = formats.EnvironmentFile(started="2026-11-29T10:00:00Z", axes=observed, facts={})
    facts: dict[str, Any] = {"environment": environment, "cases": cases, "progress": progress, **changes}
    return Bundle(**facts)


def cut(*cases: Case, in_flight: str = "test_conv", **changes: Any) -> Bundle:
    """A bundle that ends in the middle of a test."""
    progress = Progress(started=len(cases) + 1, ended=len(cases), in_flight=in_flight)
    return whole(*cases, progress=progress, gaps=("junit.xml is missing or ends too early",), **changes)


COMPILED = {**OBSERVED, "backend": "inductor"}
ASKED = {"axes": {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11", "backend": "inductor"}}


def compiled(*cases: Case, taken: int = 1, backend: str = "inductor", **changes: Any) -> Bundle:
    """A whole bundle of a run in which the backend took so much of one load that it should take."""
    use = formats.BackendUse(
        load="softmax",
        backend=backend,
        graphs=1,
        graph_breaks=0,
        break_reasons=(),
        taken=taken,
        expected=1,
        unit="graphs",
    )
    return whole(*cases, observed=COMPILED, structure=formats.StructureFile(backends=(use,)), **changes)


NOTHING = Bundle(gaps=("progress.jsonl is missing",))

# name of the row, what the engine saw, what was left, what the cell allows, the cause, the reason
Line = tuple[str, Mapping[str, Any], Bundle | None, Mapping[str, Any], Cause, str]
LINES: tuple[Line, ...] = (
    ("stopped from outside", {"cancelled": True, "code": 137}, None, {}, Cause.INTERRUPTED, "stopped from outside"),
    (
        "stopped from outside",
        {"cancelled": True, "problem": "gone", "step": Step.WAIT, "timed_out": True, "oom": True},
        cut(PASS),
        {},
        Cause.INTERRUPTED,
        "stopped from outside in test_conv",
    ),
    (
        "stopped from outside",
        {"cancelled": True, "problem": "version mismatch: torch", "step": Step.PREPARE, "code": None},
        None,
        {},
        Cause.INTERRUPTED,
        "stopped from outside",
    ),
    (
        "something else was built",
        {"problem": "version mismatch: torch 2.12.1 came, 2.13.0 was asked for", "step": Step.PREPARE, "code": None},
        None,
        {},
        Cause.VERSION_MISMATCH,
        "prepare: version mismatch: torch 2.12.1 came, 2.13.0 was asked for",
    ),
    (
        "engine, build or disk failed",
        {"problem": "version mismatch: of the engine's API", "step": Step.CREATE, "code": None},
        None,
        {},
        Cause.VERSION_MISMATCH,
        "create: version mismatch: of the engine's API",
    ),
    (
        "engine, build or disk failed",
        {"problem": "pip failed", "step": Step.PREPARE, "code": None},
        None,
        {},
        Cause.BUILD,
        "prepare: pip failed",
    ),
    (
        "engine, build or disk failed",
        {"problem": "lock stale: python3-torch 1.13.1-4 is gone", "step": Step.PREPARE, "code": None},
        None,
        {},
        Cause.LOCK_STALE,
        "prepare: lock stale: python3-torch 1.13.1-4 is gone",
    ),
    (
        "engine, build or disk failed",
        {"problem": "write: No space left on device", "step": Step.COLLECT},
        None,
        {},
        Cause.OUT_OF_DISK,
        "collect: write: No space left on device",
    ),
    (
        "engine, build or disk failed",
        {"problem": "the daemon went away", "code": 0, "timed_out": True, "oom": True},
        whole(PASS),
        {},
        Cause.ENGINE,
        "engine: the daemon went away",
    ),
    (
        "deadline",
        {"timed_out": True, "oom": True, "code": 137},
        cut(PASS),
        {"limits": Limits(timeout_s=90)},
        Cause.HANG,
        "no end within 90 s in test_conv",
    ),
    ("deadline", {"timed_out": True, "code": None}, None, {}, Cause.HANG, "no end within 1200 s"),
    (
        "out of memory",
        {"oom": True, "code": 0},
        whole(PASS),
        {"limits": Limits(memory=3 << 29)},
        Cause.OUT_OF_MEMORY,
        "the kernel killed a process at the limit of 1.5 GiB memory, exit code 0",
    ),
    (
        "out of memory",
        {"oom": True, "code": 137},
        cut(PASS, observed=OTHER_TORCH),
        {},
        Cause.OUT_OF_MEMORY,
        "the kernel killed a process at the limit of 16 GiB memory in test_conv, exit SIGKILL",
    ),
    (
        "out of memory",
        {"oom": True, "code": None},
        None,
        {},
        Cause.OUT_OF_MEMORY,
        "the kernel killed a process at the limit of 16 GiB memory, exit no exit code",
    ),
    (
        "engine saw no end",
        {"code": None},
        whole(PASS, observed=OTHER_TORCH),
        {},
        Cause.ENGINE,
        "the engine did not see how the process ended",
    ),
    (
        "something else ran",
        {"code": 4},
        whole(PASS, exit=4, observed=OTHER_TORCH, problems=("junit.xml: it has a DOCTYPE",)),
        {},
        Cause.VERSION_MISMATCH,
        "torch: requested 2.13.0, observed 2.12.1+cu130, torch_build: requested cpu, observed cu130",
    ),
    (
        "something else ran",
        {"code": 0},
        whole(PASS, observed={**OBSERVED, "python": "3.12.1"}),
        {},
        Cause.VERSION_MISMATCH,
        "python: requested 3.11, observed 3.12.1",
    ),
    (
        "device missing or lost",
        {"code": 4, "log": Log(head="collecting\nno CUDA-capable device is detected\n\n")},
        NOTHING,
        {},
        Cause.DEVICE_MISSING,
        "device missing: no CUDA-capable device is detected",
    ),
    (
        "device missing or lost",
        {"code": 4},
        cut(PASS, problems=("cell.json is not JSON",)),
        {},
        Cause.DEVICE_LOST,
        "device lost in test_conv",
    ),
    (
        # What failed first is the cause; what was not run after it is not a second one.
        "device missing or lost",
        {"code": 4},
        whole(PASS, STICKY, CASCADE, exit=4),
        {},
        Cause.DEVICE_LOST,
        "device lost: 1 of 3 cases: test_conv: device lost: CUDA error: misaligned address",
    ),
    (
        "not started",
        {"code": 127, "log": Log(tail="sh: python: not found")},
        Bundle(problems=("cell.json is not JSON",)),
        {},
        Cause.ENGINE,
        "the suite could not be started, exit code 127: sh: python: not found",
    ),
    ("not started", {"code": 125}, None, {}, Cause.ENGINE, "the suite could not be started, exit code 125"),
    (
        "suite refused its command line",
        {"code": 2, "log": Log(tail="unknown option --sise")},
        Bundle(problems=("cell.json is not JSON",)),
        {},
        Cause.UNCLEAR,
        "the suite refused its command line, exit 2: unknown option --sise",
    ),
    (
        "report cannot be believed",
        {"code": 139, "refused": ("junit.xml: a symlink, not a regular file", "x: not a file of a bundle")},
        cut(PASS),
        {},
        Cause.REPORT_UNREADABLE,
        "refused junit.xml: a symlink, not a regular file",
    ),
    (
        "report cannot be believed",
        {"code": 0},
        whole(PASS, problems=("junit.xml: it has a DOCTYPE", "cell.json is not JSON")),
        {},
        Cause.REPORT_UNREADABLE,
        "junit.xml: it has a DOCTYPE; cell.json is not JSON",
    ),
    (
        "no final line",
        {"code": 139, "signal": 11},
        cut(PASS),
        {},
        Cause.SEGMENTATION_FAULT,
        "ended with SIGSEGV in test_conv, before its end",
    ),
    (
        "no final line",
        {"code": 134, "log": Log(tail="terminate called after throwing\nwhat(): CUDA out of memory\n")},
        cut(PASS, CONV),
        {},
        Cause.OUT_OF_MEMORY,
        "ended with SIGABRT in test_conv, before its end: what(): CUDA out of memory",
    ),
    ("no final line", {"code": -9}, cut(PASS), {}, Cause.KILLED, "ended with SIGKILL in test_conv, before its end"),
    ("no final line", {"code": 0}, cut(PASS), {}, Cause.UNCLEAR, "ended with code 0 in test_conv, before its end"),
    ("no final line", {"code": 2}, cut(PASS), {}, Cause.UNCLEAR, "ended with code 2 in test_conv, before its end"),
    ("no final line", {"code": 0}, None, {}, Cause.UNCLEAR, "ended with code 0, before its end"),
    (
        "no final line",
        {"code": 1, "log": Log(tail="ModuleNotFoundError: No module named 'torch'")},
        NOTHING,
        {},
        Cause.MISSING_PACKAGE,
        "ended with code 1, before its end: ModuleNotFoundError: No module named 'torch'",
    ),
    (
        "report is not whole",
        {"code": 1},
        whole(PASS, CONV, exit=1, gaps=("SHA256SUMS is missing",)),
        {},
        Cause.REPORT_UNREADABLE,
        "SHA256SUMS is missing",
    ),
    (
        "report is not whole",
        {"code": 1},
        whole(PASS, CONV, exit=1, observed={}, gaps=("SHA256SUMS does not list junit.xml",)),
        {},
        Cause.REPORT_UNREADABLE,
        "SHA256SUMS does not list junit.xml",
    ),
    (
        # A torch that cannot be imported does not tell its version: what the suite says of that is the answer.
        "cases failed",
        {"code": 1},
        whole(
            Case(name="import torch", outcome=Outcome.ERROR, message="missing library: libcudart.so.13"),
            exit=1,
            observed={"python": "3.11.2", "backend": "eager"},
        ),
        {},
        Cause.MISSING_LIBRARY,
        "1 of 1 cases: import torch: missing library: libcudart.so.13",
    ),
    (
        "cases failed",
        {"code": 1},
        whole(PASS, CONV, exit=1),
        {},
        Cause.NUMERICS,
        "1 of 2 cases: test_conv: numerics: off",
    ),
    ("cases failed", {"code": 139}, whole(PASS, CONV, exit=1), {}, Cause.NUMERICS, "1 of 2 cases: test_conv: numerics"),
    ("cases failed", {"code": 0}, whole(CONV, exit=0), {}, Cause.NUMERICS, "1 of 1 cases: test_conv: numerics: off"),
    (
        "cases failed",
        {"code": 1},
        whole(FELL, exit=1),
        {},
        Cause.BACKEND_FELL_BACK,
        "1 of 1 cases: test_ov: backend fell",
    ),
    (
        "cases failed",
        {"code": 1},
        whole(FELL, CONV, exit=1),
        {"allow_fallback": True},
        Cause.NUMERICS,
        "1 of 2 cases: test_conv: numerics: off by 1",
    ),
    (
        "cases failed",
        {"code": 1},
        whole(msgspec.structs.replace(CONV, message="", detail="CUDA out of memory"), exit=1),
        {},
        Cause.OUT_OF_MEMORY,
        "1 of 1 cases: test_conv: CUDA out of memory",
    ),
    (
        "died after its last test",
        {"code": 139, "log": Log(tail="Fatal Python error: Segmentation fault")},
        whole(PASS, SKIP),
        {},
        Cause.SEGMENTATION_FAULT,
        "all cases were fine, then the process ended with SIGSEGV: Fatal Python error: Segmentation fault",
    ),
    (
        "died after its last test",
        {"code": None, "signal": 6},
        whole(SKIP),
        {},
        Cause.ABORT,
        "all cases were fine, then the process ended with SIGABRT",
    ),
    (
        "died after its last test",
        {"code": 139},
        whole(PASS, observed={}),
        {},
        Cause.SEGMENTATION_FAULT,
        "all cases were fine, then the process ended with SIGSEGV",
    ),
    (
        "what ran is not said",
        {"code": 0},
        whole(PASS, observed={"python": "3.11.2"}),
        {},
        Cause.REPORT_UNREADABLE,
        "environment.json does not say which torch, torch_build, backend ran",
    ),
    (
        "what ran is not said",
        {"code": 0},
        whole(SKIP, observed={}),
        {},
        Cause.REPORT_UNREADABLE,
        "environment.json does not say which torch, torch_build, python, backend ran",
    ),
    ("no case ran", {"code": 0}, whole(), {}, Cause.NO_TESTS, "no tests ran"),
    ("no case ran", {"code": 1}, whole(SKIP, exit=5), {}, Cause.NO_TESTS, "no tests ran: 1 cases, all of them skipped"),
    (
        "exit and report disagree",
        {"code": 1},
        whole(PASS, exit=1),
        {},
        Cause.REPORT_UNREADABLE,
        "exit and report disagree: the process ended with 1, the report has 0 failed cases",
    ),
    (
        "exit and report disagree",
        {"code": 0},
        whole(PASS, exit=1),
        {},
        Cause.REPORT_UNREADABLE,
        "exit and report disagree: the process ended with 0, its last progress line says 1",
    ),
    (
        "exit and report disagree",
        {"code": 0},
        whole(PASS, progress=Progress(passed=1, final=formats.ProgressFinal(exit=0, tests=2))),
        {},
        Cause.REPORT_UNREADABLE,
        "exit and report disagree: 2 tests were run, the report has 1",
    ),
    (
        "exit and report disagree",
        {"code": 0},
        whole(PASS, progress=Progress(passed=1, failed=1, final=formats.ProgressFinal(exit=0, tests=1))),
        {},
        Cause.REPORT_UNREADABLE,
        "exit and report disagree: 1 tests failed while they ran, in the report 0",
    ),
    (
        "exit and report disagree",
        {"code": 0},
        whole(PASS, progress=Progress(final=formats.ProgressFinal(exit=0, tests=1))),
        {},
        Cause.REPORT_UNREADABLE,
        "exit and report disagree: 0 tests passed while they ran, in the report 1",
    ),
    (
        "exit and report disagree",
        {"code": 0},
        whole(
            PASS,
            progress=Progress(
                started=2, ended=1, passed=1, in_flight="test_conv", final=formats.ProgressFinal(exit=0, tests=1)
            ),
        ),
        {},
        Cause.REPORT_UNREADABLE,
        "exit and report disagree: 2 tests began, 1 ended: test_conv did not",
    ),
    (
        "exit and report disagree",
        {"code": 0},
        whole(PASS, progress=Progress(passed=1, final=formats.ProgressFinal(exit=0, tests=0))),
        {},
        Cause.REPORT_UNREADABLE,
        "exit and report disagree: 0 tests were run, the report has 1",
    ),
    (
        "exit and report disagree",
        {"code": 0},
        whole(PASS, progress=Progress(passed=1, final=formats.ProgressFinal(exit=0, tests=1, expected=2))),
        {},
        Cause.REPORT_UNREADABLE,
        "exit and report disagree: 2 tests are in what was asked, 1 were run",
    ),
    (
        "exit and report disagree",
        {"code": 0},
        whole(PASS, FELL, exit=0),
        {"allow_fallback": True},
        Cause.REPORT_UNREADABLE,
        "exit and report disagree: the process ended with 0, the report has 1 failed cases",
    ),
    (
        "exit and report disagree",
        {"code": 130},
        whole(PASS, exit=130),
        {},
        Cause.REPORT_UNREADABLE,
        "exit and report disagree: the process ended with 130, the report has 0 failed cases",
    ),
    (
        # A suite that said how it would end was started, whatever its exit code is used for elsewhere.
        "exit and report disagree",
        {"code": 127},
        whole(PASS, exit=127),
        {},
        Cause.REPORT_UNREADABLE,
        "exit and report disagree: the process ended with 127, the report has 0 failed cases",
    ),
    (
        "exit and report disagree",
        {"code": 1},
        compiled(PASS, NO_COMPILER),
        ASKED,
        Cause.REPORT_UNREADABLE,
        "exit and report disagree: the process ended with 1, its last progress line says 0",
    ),
    (
        "backend has no compiler",
        {"code": 0},
        compiled(PASS, NO_COMPILER),
        ASKED,
        Cause.COMPILER_MISSING,
        "1 of 2 cases: test_softmax: compiler missing: no g++",
    ),
    (
        "backend has no compiler",
        {"code": 0},
        whole(PASS, NO_COMPILER, observed=COMPILED),
        ASKED,
        Cause.COMPILER_MISSING,
        "1 of 2 cases: test_softmax: compiler missing: no g++",
    ),
    (
        "backend is not witnessed",
        {"code": 0},
        whole(PASS, observed=COMPILED),
        ASKED,
        Cause.REPORT_UNREADABLE,
        "structure.json counts no load that went through inductor",
    ),
    (
        "backend is not witnessed",
        {"code": 1},
        compiled(PASS, FELL, exit=1, backend="eager"),
        {**ASKED, "allow_fallback": True},
        Cause.REPORT_UNREADABLE,
        "structure.json counts no load that went through inductor",
    ),
    (
        "backend fell back, as the row allows",
        {"code": 1},
        compiled(PASS, FELL, exit=1, taken=0),
        {**ASKED, "allow_fallback": True},
        Cause.BACKEND_FELL_BACK,
        "1 of 2 cases: test_ov: backend fell back: took 0 of 3",
    ),
    (
        "backend fell back, as the row allows",
        {"code": 1},
        whole(PASS, FELL, exit=1),
        {"allow_fallback": True},
        Cause.BACKEND_FELL_BACK,
        "1 of 2 cases: test_ov: backend fell back: took 0 of 3",
    ),
    (
        "backend took nothing",
        {"code": 0},
        compiled(PASS, taken=0),
        ASKED,
        Cause.BACKEND_FELL_BACK,
        "inductor took no graphs of softmax",
    ),
    ("passed", {"code": 0}, compiled(PASS), ASKED, Cause.NONE, ""),
    ("passed", {"code": 0}, whole(PASS, SKIP), {}, Cause.NONE, ""),
    ("passed", {"code": 0}, whole(PASS), {"allow_fallback": True}, Cause.NONE, ""),
)
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


# --- known issues -----------------------------------------------------------------------------------------------------


def judged(make: SimpleNamespace, bundle: Bundle, code: int, **issue: Any) -> CellResult:
    return judge(make.cell(known_issues=(make.known(**issue),)), [(make.attempt(code=code), bundle)])


def test_a_known_failing_case_leaves_the_cell_passed(make: SimpleNamespace) -> None:
    result = judged(make, whole(PASS, CONV, exit=1), 1)

    assert result.status is Status.PASSED
    assert result.counts == Counts(passed=1, known=1)
    assert [case.known_issue for case in result.cases] == ["", "https://x.test/1"]


def test_a_known_issue_that_fits_no_case_is_noted(make: SimpleNamespace) -> None:
    cell = make.cell(known_issues=(make.known(test="*conf*"), make.known(test="test_mat*", until="2026-01-01")))

    whole_run = judge(cell, [(make.attempt(), whole(PASS))])
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
    assert judged(make, whole(PASS), 0, status=Status.CRASHED, test="", until="2026-01-01").status is Status.PASSED


def test_a_known_status_past_its_last_day_is_not_excused(make: SimpleNamespace) -> None:
    result = judged(make, whole(PASS), 139, status=Status.CRASHED_AT_EXIT, test="", until="2026-01-01")

    assert (result.status, result.known_issue) == (Status.CRASHED_AT_EXIT, "")
    assert result.cause is Cause.KNOWN_ISSUE_EXPIRED
    assert "SIGSEGV" in result.reason


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

    assert result.notes == ("exit and report disagree: the process ended with 0, the report has 1 failed cases",)


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
