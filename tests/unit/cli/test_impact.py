"""`impact` as a command: its table, its JSON, its plan file, its exit codes."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from orchestrator import schemas
from orchestrator.results.merge import read_plan

Run = Callable[..., subprocess.CompletedProcess[str]]
NOW = ("--on", "2026-11-29")
MATRIX = """\
version: 1
axes:
  torch: ["2.6.0", "2.13.0"]
  torch_build: [cpu, cu126, cu130]
  python: ["3.11", "3.12"]
  base: [ubuntu24.04]
  driver: {when: {torch_build: "cu*"}, values: ["535", "580"]}
  gpu: {when: {torch_build: "cu*"}, values: [H100, V100]}
production:
  - {name: ci, torch: 2.13.0, torch_build: cpu, python: "3.11", base: ubuntu24.04}
  - {name: train, torch: 2.13.0, torch_build: cu126, python: "3.12", base: ubuntu24.04, driver: "535", gpu: H100}
  - {name: old, torch: 2.13.0, torch_build: cu126, python: "3.12", base: ubuntu24.04, driver: "580", gpu: V100}
"""


@pytest.fixture
def impact(torchmatrix: Run, tmp_path: Path) -> Run:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    return lambda *arguments: torchmatrix("impact", *NOW, *arguments)


def test_a_change_that_all_rows_bear_exits_0_and_leaves_its_plan(impact: Run, tmp_path: Path) -> None:
    done = impact("--set", "driver=580")
    assert done.returncode == 0, done.stderr
    assert "driver=580: 1 of 3 rows concerned: 1 supported" in done.stdout
    assert "torchmatrix run --plan impact-plan.json" in done.stdout
    plan = read_plan(tmp_path / "impact-plan.json")
    assert [(cell.name, cell.axes["driver"]) for cell in plan.cells] == [("train", "580")]
    assert [entry.name for entry in plan.left_out] == ["ci", "old"]


def test_a_change_that_a_row_does_not_bear_exits_1(impact: Run, tmp_path: Path) -> None:
    done = impact("--set", "torch_build=cu130", "--plan-out", "mine.json")
    assert done.returncode == 1
    assert "nothing helps" in done.stdout
    assert "driver=580" in done.stdout
    assert [cell.name for cell in read_plan(tmp_path / "mine.json").cells] == ["train"]
    assert not (tmp_path / "impact-plan.json").exists()


def test_the_json_has_its_schema(impact: Run) -> None:
    for arguments in (("--set", "torch_build=cu130"), ("--horizon", "2y")):
        done = impact(*arguments, "--json")
        told = json.loads(done.stdout)
        jsonschema.validate(told, schemas.read("impact"))
        assert {row["name"] for row in told["rows"]} == {"ci", "train", "old"}
        assert told["plan"] == "impact-plan.json"


def test_a_horizon_names_what_ends_and_when(impact: Run) -> None:
    done = impact("--horizon", "12m")
    assert done.returncode == 1
    assert done.stdout.startswith("up to 2027-11-29: 2 of 3 rows concerned")
    assert "2027-10-31" in done.stdout
    assert done.stdout.index("train") < done.stdout.index("ci")


def test_only_the_rows_named_are_asked(impact: Run) -> None:
    done = impact("--set", "torch_build=cu130", "--rows", "tr*", "--json")
    told = {row["name"]: row["unchanged"] for row in json.loads(done.stdout)["rows"]}
    assert told["old"] == "`--rows` does not name it"
    assert told["train"] == ""
    assert impact("--set", "driver=580", "--rows", "nobody").returncode == 3


def test_what_a_run_saw_is_not_untested(impact: Run, tmp_path: Path) -> None:
    never = json.loads(impact("--set", "driver=580", "--json").stdout)
    cell = next(row for row in never["rows"] if row["cell"])
    assert never["cost"]["cells"] == 1
    planned = json.loads((tmp_path / "impact-plan.json").read_text())["cells"][0]
    counts = {"passed": 3, "failed": 0, "error": 0, "skipped": 0, "known": 0}
    one = {"id": cell["cell"], "name": "train", "tier": "edge", "status": "passed", "cause": "none", "reason": ""}
    one |= {"known_issue": "", "requested": planned["axes"], "observed": {}, "counts": counts, "notes": []}
    summary = {"schema_version": 1, "complete": True, "planned": 1, "totals": {"passed": 1}, "left_out": []}
    (tmp_path / "runs" / "20261128T000000Z-0000").mkdir(parents=True)
    (tmp_path / "runs" / "20261128T000000Z-0000" / "summary.json").write_text(
        json.dumps(summary | {"notes": [], "cells": [one | {"attempts": 1}]})
    )
    seen = json.loads(impact("--set", "driver=580", "--json").stdout)
    row = next(row for row in seen["rows"] if row["cell"])
    assert [observed["status"] for observed in row["observed"]] == ["passed"]
    assert seen["cost"]["cells"] == 0
    assert "passed in 20261128T000000Z-0000" in impact("--set", "driver=580").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--set", "driver=580", "--horizon", "1y"),
        ("--horizon", "soon"),
        ("--set", "drivr=580"),
        ("--set", "driver=new"),
        ("--set", "rocm_userspace=7.1"),
        ("--set", "driver=580", "--on", "tomorrow"),
        ("--set", "driver=580", "--matrix", "nowhere.yaml"),
    ],
)
def test_bad_input_exits_2_and_leaves_no_plan(impact: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = impact(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr
    assert not (tmp_path / "impact-plan.json").exists()


def test_a_plan_replaces_a_plan_and_nothing_else(impact: Run, tmp_path: Path) -> None:
    before = (tmp_path / "matrix.yaml").read_bytes()
    done = impact("--set", "driver=580", "--plan-out", "matrix.yaml")
    assert done.returncode == 2
    assert "there is a file that is no plan" in done.stderr
    assert (tmp_path / "matrix.yaml").read_bytes() == before
    assert [impact("--set", "driver=580").returncode for _ in range(2)] == [0, 0]
