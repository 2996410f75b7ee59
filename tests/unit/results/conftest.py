"""Cells, attempts and bundles to judge: complete and good, unless a test changes one thing about them."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from orchestrator import formats
from orchestrator.model import (
    Attempt,
    ContainerNeeds,
    Cost,
    Exit,
    KnownFailure,
    Limits,
    Placement,
    Plan,
    PlannedCell,
)
from orchestrator.vocabulary import Tier

AXES = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11", "backend": "eager"}
OBSERVED = {"torch": "2.13.0+cpu", "torch_build": "cpu", "python": "3.11.2", "backend": "eager", "host_arch": "x86_64"}
METRIC: Mapping[str, Any] = {
    "cell": "c1",
    "metric": "latency",
    "value": 1.5,
    "unit": "ms",
    "direction": "lower",
    "load": "matmul",
    "model": "none",
    "model_version": "1",
    "shapes": "512x512",
    "precision": "fp32",
    "device": "cpu",
    "warmup": 3,
    "samples": 10,
    "statistic": "median",
    "timer": "perf_counter",
    "seed": 0,
    "formula": "",
    "spread": {"minimum": 1.25, "p5": 1.25, "p50": 1.5, "p95": 2.0, "p99": 2.0, "iqr": 0.25, "discarded": 0},
    "conditions": {"clock_mhz": 2400.0, "temperature_c": None, "power_w": None, "throttle": None},
}


def suite_xml(*cases: str, **attributes: object) -> str:
    """A JUnit file of the given testcase elements."""
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<testsuites><testsuite name='pytest'{written}>{''.join(cases)}</testsuite></testsuites>"


GOOD_CASES = ('<testcase name="test_matmul" time="0.5"/>', '<testcase name="test_conv" time="1.25"/>')


def write_bundle(
    folder: Path,
    *,
    cell: str = "c1",
    cases: tuple[str, ...] = GOOD_CASES,
    exit_code: int = 0,
    observed: Mapping[str, str] | None = None,
    metrics: tuple[Mapping[str, Any], ...] | None = None,
    files: Mapping[str, bytes | None] | None = None,
    attempt: Attempt | None = None,
) -> Path:
    """A whole bundle in `folder`; `files` replaces one by these bytes, or by nothing, after the sums were taken."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"t{number}" for number in range(len(cases))]
    progress = [line for name in names for line in ({"event": "start", "test": name}, _end(name))]
    progress.append({"event": "final", "exit": exit_code, "tests": len(cases)})
    rows = ({**METRIC, "cell": cell},) if metrics is None else metrics
    content = {
        formats.CELL: json.dumps({"id": cell, "axes": AXES}),
        formats.JUNIT: suite_xml(*cases),
        formats.METRICS: "".join(json.dumps(row) + "\n" for row in rows),
        formats.ENVIRONMENT: json.dumps(
            {"started": "2026-11-29T10:00:00Z", "axes": observed or OBSERVED, "facts": {"cpu": "one"}}
        ),
        formats.STRUCTURE: json.dumps({"backends": []}),
        formats.PROGRESS: "".join(json.dumps(line) + "\n" for line in progress),
    }
    for name, written in content.items():
        (folder / name).write_text(written)
    sums = "".join(f"{hashlib.sha256(content[name].encode()).hexdigest()}  {name}\n" for name in sorted(content))
    (folder / formats.CHECKSUMS).write_text(sums)
    for name, data in (files or {}).items():
        if data is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(data)
    if attempt is not None:
        (folder / formats.ATTEMPT).write_bytes(msgspec.json.encode(attempt))
    return folder


def _end(test: str) -> dict[str, str]:
    return {"event": "end", "test": test, "outcome": "passed"}


def make_cell(**changes: Any) -> PlannedCell:
    """A placed production cell."""
    known = tuple(changes.pop("known_issues", ()))
    return msgspec.structs.replace(
        PlannedCell(
            id="c1",
            name="one",
            owner="infra@team",
            tier=Tier.PRODUCTION,
            why="production runs it",
            axes=AXES,
            image="i1",
            placement=Placement(placed=True, runner=None, reason="this host"),
            allow_fallback=False,
            limits=Limits(),
            container=ContainerNeeds(),
            known_issues=known,
        ),
        **changes,
    )


def make_attempt(number: int = 1, **of_exit: Any) -> Attempt:
    """An attempt that ended with 0, unless `of_exit` says something else."""
    facts = {"code": 0, "started": "2026-11-29T10:00:00Z", **of_exit}
    return Attempt(cell="c1", number=number, engine="docker", exit=Exit(**facts))


def make_plan(*cells: PlannedCell) -> Plan:
    """A plan of these cells."""
    cost = Cost(
        cells=len(cells), placed=len(cells), unplaced=0, images=1, minutes=1, gpu_hours=0, money=0, build_bytes=0
    )
    return Plan(matrix="matrix.yaml", cells=cells, left_out=(), cost=cost)


def make_known(**changes: Any) -> KnownFailure:
    """A known issue of a case."""
    facts = {"test": "*conv*", "status": None, "because": "it is broken", "issue": "https://x.test/1", "until": ""}
    return KnownFailure(**{**facts, **changes})


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """The makers of this file, for tests to call."""
    return SimpleNamespace(
        cell=make_cell,
        attempt=make_attempt,
        plan=make_plan,
        known=make_known,
        bundle=write_bundle,
        xml=suite_xml,
        metric=METRIC,
        observed=OBSERVED,
        axes=AXES,
    )
