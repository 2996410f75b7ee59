"""Cells and their results, as reports are given them, and texts from outside that are hostile."""

import msgspec

from orchestrator import axes
from orchestrator.model import (
    Attempt,
    Axes,
    CellResult,
    CellSupport,
    ContainerNeeds,
    Cost,
    Counts,
    Coverage,
    Exit,
    KnownFailure,
    Limits,
    Log,
    Placement,
    Plan,
    PlannedCell,
    Run,
    Uncovered,
)
from orchestrator.vocabulary import Cause, LeftOutKind, Status, Tier, Verdict

CPU = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11"}
CUDA = {"torch": "2.13.0", "torch_build": "cu130", "python": "3.12", "driver": "580", "gpu": "H100", "gpus": "8"}
ISSUE = KnownFailure(
    test="*conv*",
    status=None,
    because="Conv2d under torch.compile is refused since OpenVINO 2026.1.0",
    issue="https://example.org/issues/1",
    until="2027-03-01",
)
KNOWN_CRASH = KnownFailure(
    test="",
    status=Status.CRASHED,
    because="the driver's library aborts at import",
    issue="tracker TM-17",
    until="",
)
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "</style></title></pre></textarea><!-- ]]> -->",
    "::error file=app.py::owned",
    "##[set-env name=PATH;]x",
    "section_start:1:owned\r\x1b[0K",
    "\x1b[2J\x1b]0;title\x07\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\u202egnp.exe\u2066\u061c",
    "zero\u200bwidth\ufeff\u00ad",
    "nul\x00bell\x07c1\x9b31m",
    "lone\ud800surrogate\uffff",
    "first\nsecond\rthird\u2028fourth\x0bfifth",
    "\u5bbd\u5b57 \u0627\u0644\u0639\u0631\u0628\u064a\u0629 \U0001f525",
)


def planned(name: str, requested: Axes, **changes: object) -> PlannedCell:
    full = axes.complete(requested)
    cell = PlannedCell(
        id=axes.cell_id(full),
        name=name,
        owner="infra@team",
        tier=Tier.PRODUCTION,
        why=f"production row {name}",
        axes=full,
        image=axes.image_id(full),
        placement=Placement(placed=True, runner="cpu", reason="this machine"),
        allow_fallback=False,
        limits=Limits(),
        container=ContainerNeeds(),
        known_issues=(),
        support=CellSupport(verdict=Verdict.SUPPORTED, because="the wheel is there"),
    )
    return msgspec.structs.replace(cell, **changes)


def said(verdict: Verdict, **changes: str | None) -> CellSupport:
    support = CellSupport(verdict=verdict, rule="window", because="b", source="manual", as_of="2026-11-01")
    return msgspec.structs.replace(support, **changes)


def finished(
    cell: PlannedCell, status: Status, cause: Cause = Cause.NONE, reason: str = "", **changes: object
) -> CellResult:
    attempt = Attempt(
        cell=cell.id,
        number=1,
        host="build-1",
        engine="docker",
        exit=Exit(
            code=0 if status is Status.PASSED else 1, duration_s=41.2, log=Log(tail="end of the log\n", bytes=15)
        ),
    )
    result = CellResult(
        id=cell.id,
        status=status,
        cause=cause,
        reason=reason,
        requested=cell.axes,
        observed=dict(cell.axes),
        cases=(),
        counts=Counts(passed=14),
        notes=(),
        attempts=(attempt,),
    )
    return msgspec.structs.replace(result, **changes)


def run_of(*told: tuple[PlannedCell, CellResult], **changes: object) -> Run:
    cells = tuple(cell for cell, _ in told)
    placed = sum(cell.placement.placed for cell in cells)
    plan = Plan(
        matrix="matrix.yaml",
        cells=cells,
        left_out=(),
        cost=Cost(
            cells=len(cells),
            placed=placed,
            unplaced=len(cells) - placed,
            images=len({cell.image for cell in cells}),
            minutes=22.4,
            gpu_hours=1.5,
            money=0.0,
            build_bytes=3 << 30,
        ),
    )
    run = Run(id="20261009-101500-4f2a", plan=plan, results=tuple(result for _, result in told), complete=True)
    return msgspec.structs.replace(run, **changes)


COVERAGE = Coverage(
    axes=("torch", "torch_build"),
    strength=2,
    wanted=13,
    planned=6,
    placed=6,
    uncovered=(
        Uncovered(
            axes={"torch": "2.6.0", "torch_build": "cu130"},
            kind=LeftOutKind.NO_WHEEL,
            reason="there is no cu130 build of torch 2.6.0 (index-mapping, manual, 2026-11-01)",
            rule="index-mapping",
            source="manual, 2026-11-01",
        ),
        *(
            Uncovered(
                axes={"torch": f"2.{n}.0", "torch_build": "rocm7.1"},
                kind=LeftOutKind.BUDGET,
                reason="the budget of the edge is 24 cells",
            )
            for n in range(7, 14)
        ),
    ),
)
