"""The schemas are fresh, and they tell a good file from a bad one."""

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from orchestrator import schemas
from orchestrator.formats import SummaryCell, SummaryFile
from orchestrator.model import Alternative, Answer, Attempt, Counts, Exit, Observation, Reason
from orchestrator.vocabulary import Cause, RuleKind, Status, Tier, Verdict

GENERATOR = Path(__file__).parents[1] / "generate_schemas.py"
FOLDER = Path(schemas.__file__).parent
NAMES = (
    "attempt",
    "cell",
    "check-answer",
    "comparison",
    "environment",
    "images",
    "images-cleared",
    "impact",
    "lock-check",
    "lock-file",
    "locking",
    "matrix",
    "metric",
    "plan",
    "progress",
    "runs",
    "runs-cleared",
    "site",
    "started",
    "structure",
    "summary",
    "trend",
    "upgrade",
)


def in_json(value: msgspec.Struct) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return told


CELL = {
    "schema_version": 1,
    "id": "torch2.13.0-cpu-5f1c09aa",
    "axes": {"torch": "2.13.0"},
    "device": "cpu",
    "profile": "smoke",
    "seed": 0,
}
ENVIRONMENT = {
    "schema_version": 1,
    "started": "2026-10-09T10:15:00Z",
    "axes": {"torch": "2.13.0+cpu"},
    "facts": {"cpus": "8"},
}
METRIC = {
    "cell": "torch2.13.0-cpu-5f1c09aa",
    "metric": "latency",
    "value": 1.5,
    "unit": "ms",
    "direction": "lower",
    "load": "matmul",
    "model": "matmul",
    "model_version": "1",
    "shapes": "2048x2048",
    "precision": "float32",
    "device": "cpu",
    "warmup": 3,
    "samples": 50,
    "statistic": "median",
    "timer": "perf_counter",
    "seed": 0,
    "formula": "",
    "spread": {"minimum": 1.25, "p5": 1.25, "p50": 1.5, "p95": 2.0, "p99": 2.0, "iqr": 0.25},
    "conditions": {"clock_mhz": None, "temperature_c": None, "power_w": None, "throttle": None},
}
USE = {
    "load": "model",
    "backend": "inductor",
    "graphs": 1,
    "graph_breaks": 0,
    "break_reasons": [],
    "taken": 1,
    "expected": 1,
    "unit": "graphs",
}
COST = {
    "cells": 1,
    "placed": 1,
    "unplaced": 0,
    "images": 1,
    "minutes": 3.5,
    "gpu_hours": 0,
    "money": 0,
    "build_bytes": 10,
}
PLANNED = {
    "id": "torch2.13.0-cpu-5f1c09aa",
    "name": "ci",
    "owner": "",
    "tier": "production",
    "why": "production row ci",
    "axes": {},
    "image": "torch2.13.0-cpu-00000000",
    "placement": {"placed": True, "runner": None, "reason": ""},
    "allow_fallback": False,
    "limits": {},
    "container": {},
    "known_issues": [],
}
PLAN = {"schema_version": 1, "matrix": "matrix.yaml", "cells": [PLANNED], "left_out": [], "cost": COST}
ATTEMPT = in_json(Attempt(cell="torch2.13.0-cpu-5f1c09aa", number=1, exit=Exit(code=0, duration_s=1.5)))
SUMMARY = in_json(
    SummaryFile(
        complete=True,
        planned=1,
        totals={Status.PASSED: 1},
        left_out=(),
        notes=(),
        cells=(
            SummaryCell(
                id="torch2.13.0-cpu-5f1c09aa",
                name="ci",
                tier=Tier.PRODUCTION,
                status=Status.PASSED,
                cause=Cause.NONE,
                reason="",
                known_issue="",
                requested={},
                observed={},
                counts=Counts(passed=3),
                notes=(),
                attempts=1,
            ),
        ),
    )
)
ANSWER = in_json(
    Answer(
        verdict=Verdict.UNSUPPORTED,
        reasons=(
            Reason(
                kind=RuleKind.BINARY_COMPATIBILITY,
                rule="arch-binary",
                axes=("gpu_arch",),
                verdict=Verdict.UNSUPPORTED,
                because="no code for it",
                source="the wheel",
                as_of="2026-10-01",
            ),
        ),
        supported_until="2027-04-30",
        nearest=(Alternative(change={"torch_build": "cu126"}, verdict=Verdict.SUPPORTED),),
        missing=("driver",),
        observed=(Observation(run="r", cell="torch2.13.0-cpu-5f1c09aa", status=Status.PASSED, axes={}),),
        ignored=("colour",),
    )
)
MATRIX = {
    "version": 1,
    "axes": {"torch": ["2.13.0"]},
    "production": [{"name": "ci", "torch": "2.13.0", "torch_build": "cpu", "python": "3.11"}],
}


def refuses(name: str, value: object) -> bool:
    validator = jsonschema.Draft202012Validator(schemas.read(name))
    return any(validator.iter_errors(value))


def test_the_files_are_what_the_types_make() -> None:
    made = runpy.run_path(str(GENERATOR))["rendered"]()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert there.keys() == made.keys()
    stale = [name for name, content in made.items() if there[name] != content]
    assert not stale, f"`python tests/generate_schemas.py` writes them anew: {stale}"


@pytest.mark.parametrize("name", NAMES)
def test_each_is_a_schema_with_its_own_name(name: str) -> None:
    schema = schemas.read(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:torchmatrix:schema:{name}:1"
    assert schema["title"]


def test_there_is_no_other_schema() -> None:
    assert {path.name.removesuffix(".schema.json") for path in FOLDER.glob("*.json")} == set(NAMES)
    with pytest.raises(FileNotFoundError):
        schemas.read("nothing")


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("attempt", ATTEMPT),
        ("cell", CELL),
        ("cell", {"id": "a", "axes": {}}),
        ("check-answer", ANSWER),
        ("check-answer", ANSWER | {"supported_until": None, "nearest": [], "observed": []}),
        ("check-answer", {"error": "the line is not a JSON object"}),
        ("environment", ENVIRONMENT),
        ("matrix", MATRIX),
        ("metric", METRIC),
        ("metric", METRIC | {"value": 3}),
        ("plan", PLAN),
        ("plan", PLAN | {"cells": []}),
        ("progress", {"event": "start", "test": "test_a"}),
        ("progress", {"event": "end", "test": "test_a", "outcome": "passed"}),
        ("progress", {"event": "final", "exit": 0, "tests": 3}),
        ("structure", {"schema_version": 1, "backends": [USE]}),
        ("summary", SUMMARY),
    ],
)
def test_a_good_file_is_taken(name: str, good: object) -> None:
    assert not refuses(name, good)


def without(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: part for name, part in value.items() if name != key}


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("attempt", without(ATTEMPT, "exit")),
        ("attempt", ATTEMPT | {"cell": "../x"}),
        ("attempt", ATTEMPT | {"purpose": "fun"}),
        ("cell", without(CELL, "id")),
        ("cell", CELL | {"schema_version": 2}),
        ("cell", CELL | {"device": "a TPU"}),
        ("cell", CELL | {"axes": {"torch": 2.1}}),
        ("cell", CELL | {"id": "a/b"}),
        ("cell", CELL | {"id": "a\n"}),
        ("check-answer", {}),
        ("check-answer", {"error": ""}),
        ("check-answer", {"error": "x", "more": 1}),
        ("check-answer", without(ANSWER, "reasons")),
        ("check-answer", ANSWER | {"verdict": "maybe"}),
        ("check-answer", ANSWER | {"reasons": [without(ANSWER["reasons"][0], "kind")]}),
        ("check-answer", ANSWER | {"nearest": [{"change": {"torch": 2.6}, "verdict": "supported"}]}),
        ("environment", without(ENVIRONMENT, "axes")),
        ("environment", ENVIRONMENT | {"started": ""}),
        ("matrix", without(MATRIX, "version")),
        ("matrix", MATRIX | {"versoin": 1}),
        *(("metric", without(METRIC, key)) for key in METRIC),
        ("metric", METRIC | {"more": 1}),
        ("metric", METRIC | {"value": "1.5"}),
        ("metric", METRIC | {"unit": ""}),
        ("metric", METRIC | {"unit": "x" * 401}),
        ("metric", METRIC | {"direction": "sideways"}),
        ("metric", METRIC | {"samples": 0}),
        ("metric", METRIC | {"warmup": -1}),
        ("plan", without(PLAN, "cost")),
        ("plan", PLAN | {"cells": [without(PLANNED, "placement")]}),
        ("plan", PLAN | {"cells": [PLANNED | {"tier": "other"}]}),
        ("progress", {"event": "end", "test": "test_a"}),
        ("progress", {"event": "over"}),
        ("progress", {"test": "test_a"}),
        ("structure", {"schema_version": 1}),
        ("structure", {"backends": [without(USE, "taken")]}),
        ("summary", without(SUMMARY, "totals")),
        ("summary", SUMMARY | {"cells": [SUMMARY["cells"][0] | {"status": "fine"}]}),
    ],
)
def test_a_bad_file_is_refused(name: str, bad: object) -> None:
    assert refuses(name, bad)
