"""Runs to report on: one with every status, and one in which every text from outside is hostile."""

import difflib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from reported import COVERAGE, CPU, CUDA, HOSTILE, ISSUE, KNOWN_CRASH, finished, planned, run_of, said

from orchestrator.formats import MetricRow
from orchestrator.model import (
    Attempt,
    Case,
    CellSupport,
    Counts,
    Exit,
    KnownFailure,
    LeftOut,
    Log,
    Placement,
    Run,
    Uncovered,
)
from orchestrator.vocabulary import Cause, Direction, LeftOutKind, Outcome, Purpose, Status, Tier, Verdict

GOLDEN = Path(__file__).parents[2] / "golden" / "reports"


@pytest.fixture
def every_status() -> Run:
    """Each of the 13 statuses, as it really looks; a known crash and a passed cell with a known case beside them."""
    cell = planned("ci-cpu", CPU)
    told = [
        (
            cell,
            finished(
                cell, Status.PASSED, counts=Counts(passed=14, skipped=1), observed={**cell.axes, "torch": "2.13.0+cpu"}
            ),
        )
    ]

    cell = planned("serve-openvino", CPU | {"backend": "openvino", "openvino": "2026.4.1"}, known_issues=(ISSUE,))
    known = Case(name="test_conv2d[float32]", outcome=Outcome.FAILED, message="Conv2d refused", known_issue=ISSUE.issue)
    told.append((cell, finished(cell, Status.PASSED, cases=(known,), counts=Counts(passed=13, known=1))))

    cell = planned(
        "edge torch 2.6",
        CPU | {"torch": "2.6.0", "backend": "inductor"},
        tier=Tier.EDGE,
        why="oldest torch",
        support=said(Verdict.DEGRADED),
    )
    failing = tuple(
        Case(
            name=f"test_matmul[{size}]",
            outcome=Outcome.FAILED,
            message=f"max error 3.1e-2 over 1e-5 at {size}",
            detail="E  assert 0.031 < 1e-5",
        )
        for size in (64, 128, 256, 512, 1024)
    )
    reason = "5 of 14 cases failed; the first: max error 3.1e-2 over the tolerance 1e-5 against fp64"
    told.append(
        (cell, finished(cell, Status.FAILED, Cause.NUMERICS, reason, cases=failing, counts=Counts(passed=9, failed=5)))
    )

    cell = planned(
        "train-h100",
        CUDA,
        placement=Placement(placed=True, runner="h100-580", reason="driver 580, H100"),
        support=said(Verdict.SUPPORTED, supported_until="2028-06-30"),
    )
    attempts = tuple(
        Attempt(
            cell=cell.id,
            number=n,
            purpose=purpose,
            host="gpu-7",
            engine="docker",
            devices=("0", "1"),
            relaxed=("ipc=host", "memlock=unlimited"),
            exit=Exit(
                code=139,
                signal=11,
                duration_s=200.0 * n,
                log=Log(tail="Fatal Python error: Segmentation fault\n", bytes=90000),
            ),
        )
        for n, purpose in ((1, Purpose.RUN), (2, Purpose.RETRY))
    )
    told.append(
        (
            cell,
            finished(
                cell,
                Status.CRASHED,
                Cause.SEGMENTATION_FAULT,
                "signal 11 in test_all_reduce[8]",
                attempts=attempts,
                counts=Counts(passed=3),
                notes=("device 1 reported an Xid 79 before",),
            ),
        )
    )

    cell = planned(
        "serve-mi300x",
        {"torch": "2.13.0", "torch_build": "rocm7.1", "python": "3.12", "driver": "6.14", "gpu": "MI300X"},
    )
    told.append(
        (cell, finished(cell, Status.CRASHED_AT_EXIT, Cause.ABORT, "14 cases passed, then the process aborted at exit"))
    )
    cell = planned("arc-xpu", {"torch": "2.13.0", "torch_build": "xpu", "python": "3.12", "gpu": "B580"})
    told.append(
        (
            cell,
            finished(
                cell,
                Status.TIMEOUT,
                Cause.HANG,
                "nothing was heard in test_attention[4096] for 20 min",
                counts=Counts(passed=2),
            ),
        )
    )
    cell = planned("ci-py313", CPU | {"python": "3.13"})
    told.append(
        (
            cell,
            finished(
                cell, Status.OOM, Cause.OUT_OF_MEMORY, "a child was killed at the limit of 16 GiB", counts=Counts()
            ),
        )
    )
    cell = planned(
        "ci-debian13", CPU | {"torch": "2.6.0", "torch_from": "distribution", "base": "debian13", "python": "3.13"}
    )
    told.append(
        (
            cell,
            finished(
                cell,
                Status.MISMATCH,
                Cause.VERSION_MISMATCH,
                "torch: requested 2.6.0, observed 2.7.1+debian",
                observed={**cell.axes, "torch": "2.7.1+debian", "python": "3.13.5"},
            ),
        )
    )
    cell = planned("ci-precise", CPU | {"matmul_precision": "high"})
    told.append(
        (
            cell,
            finished(
                cell,
                Status.ERROR,
                Cause.BUILD,
                "the image was not built: no space left on device",
                counts=Counts(),
                observed={},
            ),
        )
    )
    cell = planned("ci-fallback", CPU | {"backend": "inductor"}, allow_fallback=True)
    told.append(
        (
            cell,
            finished(cell, Status.FELL_BACK, Cause.BACKEND_FELL_BACK, "inductor took 0 of 4 graphs; the row allows it"),
        )
    )
    cell = planned("old-import", CPU | {"torch": "1.13"}, known_issues=(KNOWN_CRASH,))
    told.append(
        (
            cell,
            finished(
                cell,
                Status.CRASHED,
                Cause.ABORT,
                "aborted before the first case",
                counts=Counts(),
                known_issue=KNOWN_CRASH.issue,
            ),
        )
    )

    away = Placement(placed=False, runner=None, reason="no machine here has gpu A100")
    for name, driver in (("a100-535", "535"), ("a100-580", "580")):
        unknown = said(Verdict.UNKNOWN, because=f"nothing that is known proves support of driver {driver}")
        cell = planned(name, CUDA | {"gpu": "A100", "driver": driver}, placement=away, support=unknown)
        told.append(
            (
                cell,
                finished(
                    cell, Status.UNPLACED, Cause.NO_MACHINE, away.reason, counts=Counts(), attempts=(), observed={}
                ),
            )
        )
    refused = said(
        Verdict.UNSUPPORTED, rule="index-mapping", because="there is no wheel of torch 2.14.1 for Python 3.11"
    )
    nowhere = Placement(placed=False, runner=None, reason=f"{refused.because} (index-mapping, manual, 2026-11-01)")
    cell = planned("too-new", CPU | {"torch": "2.14.1"}, support=refused, placement=nowhere)
    told.append(
        (
            cell,
            finished(
                cell,
                Status.UNSUPPORTED,
                Cause.RULE,
                "internal wheels are not built for it",
                counts=Counts(),
                attempts=(),
                observed={},
            ),
        )
    )
    cell = planned("stopped", CPU | {"python": "3.12"})
    told.append(
        (cell, finished(cell, Status.CANCELLED, Cause.INTERRUPTED, "interrupted by the user", counts=Counts(passed=2)))
    )
    cell = planned("waiting", CPU | {"python": "3.10"})
    told.append(
        (
            cell,
            finished(
                cell,
                Status.NOT_RUN,
                Cause.INTERRUPTED,
                "the run ended before it",
                counts=Counts(),
                attempts=(),
                observed={},
            ),
        )
    )

    run = run_of(*told, complete=False, notes=("one bundle belongs to no planned cell",))
    left_out = (
        LeftOut(
            name="torch 2.14.1, Python 3.11",
            tier=Tier.EDGE,
            axes=CPU,
            kind=LeftOutKind.RULE,
            reason="internal wheels are not built for it",
        ),
        *(
            LeftOut(
                name="",
                tier=Tier.EDGE,
                axes=CPU | {"python": f"3.{n}"},
                kind=LeftOutKind.BUDGET,
                reason="24 cells are the budget",
            )
            for n in range(7, 15)
        ),
    )
    return msgspec.structs.replace(run, plan=msgspec.structs.replace(run.plan, left_out=left_out, coverage=(COVERAGE,)))


@pytest.fixture
def hostile() -> Run:
    """Every text from outside is one that tries to act; ids too, as if nothing had checked them."""
    told = []
    for at, bad in enumerate(HOSTILE):
        issue = KnownFailure(test=bad, status=None, because=bad, issue=bad, until=bad)
        cell = planned(
            bad,
            CPU | {"python": f"3.{at}"},
            id=f"{bad}-{at}",
            owner=bad,
            why=bad,
            support=CellSupport(
                verdict=Verdict.DEGRADED, rule=bad, because=bad, source=bad, as_of=bad, supported_until=bad
            ),
            image=bad,
            known_issues=(issue,),
            axes={"torch": bad, "torch_build": "cpu", bad: bad, "backend": bad},
            placement=Placement(placed=True, runner=bad, reason=bad),
        )
        cases = (
            Case(name=bad, outcome=Outcome.FAILED, message=bad, detail=bad),
            Case(name=bad + "2", outcome=Outcome.ERROR, message=bad, detail=bad, known_issue=bad),
        )
        attempt = Attempt(
            cell=cell.id,
            number=1,
            host=bad,
            engine=bad,
            devices=(bad,),
            relaxed=(bad,),
            exit=Exit(log=Log(tail=bad, bytes=9)),
        )
        status = (Status.FAILED, Status.PASSED, Status.UNPLACED, Status.CANCELLED)[at % 4]
        told.append(
            (
                cell,
                finished(
                    cell,
                    status,
                    Cause.ASSERTION,
                    bad,
                    cases=cases,
                    notes=(bad,),
                    attempts=(attempt,),
                    counts=Counts(failed=1, known=1),
                    observed={"torch": "1", bad: bad, "backend": "eager"},
                ),
            )
        )
    run = run_of(*told, id=HOSTILE[1], complete=False, notes=HOSTILE)
    left_out = tuple(
        LeftOut(name=bad, tier=Tier.EDGE, axes={bad: bad}, kind=LeftOutKind.RULE, reason=bad) for bad in HOSTILE
    )
    coverage = tuple(
        msgspec.structs.replace(
            COVERAGE,
            axes=(bad, bad),
            uncovered=(Uncovered(axes={bad: bad}, kind=LeftOutKind.RULE, reason=bad, rule=bad, source=bad),),
        )
        for bad in HOSTILE
    )
    return msgspec.structs.replace(
        run, plan=msgspec.structs.replace(run.plan, matrix=HOSTILE[0], left_out=left_out, coverage=coverage)
    )


@pytest.fixture
def metric() -> Callable[[str, str], MetricRow]:
    def make(cell: str, name: str) -> MetricRow:
        return MetricRow(
            cell=cell,
            metric=name,
            value=123.456,
            unit="ms",
            direction=Direction.LOWER,
            load="matmul",
            model=name,
            model_version="1",
            shapes="2048x2048",
            precision="float32",
            device="cpu",
            warmup=3,
            samples=50,
            statistic="median",
            timer="perf_counter",
            seed=0,
            formula="",
            spread=None,
            conditions=None,
        )

    return make


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Holds a rendered text to the file of that name; `UPDATE_GOLDEN=1` writes the file instead."""

    def check(name: str, rendered: str) -> None:
        file = GOLDEN / name
        if os.environ.get("UPDATE_GOLDEN") == "1":
            file.write_text(rendered, encoding="utf-8")
        difference = list(
            difflib.unified_diff(
                file.read_text(encoding="utf-8").split("\n"), rendered.split("\n"), name, "rendered", lineterm=""
            )
        )
        assert not difference, "\n".join(difference[:60])

    return check
