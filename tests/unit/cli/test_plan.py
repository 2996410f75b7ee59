"""The plan, and the recipe of a cell."""

import json
import subprocess
from collections.abc import Callable

from orchestrator import errors

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_plan_prints_the_cells_and_why(torchmatrix: Run) -> None:
    done = torchmatrix("plan")
    assert done.returncode == 0, done.stderr
    assert "ci-cpu" in done.stdout
    assert "train" in done.stdout
    assert "H100" in done.stdout


def test_plan_json_has_the_contract_of_the_design(torchmatrix: Run) -> None:
    done = torchmatrix("plan", "--json")
    plan = json.loads(done.stdout)
    assert {"cells", "left_out", "cost"} <= plan.keys()
    for cell in plan["cells"]:
        assert {"id", "name", "tier", "why", "axes", "image", "placement"} <= cell.keys()
        assert isinstance(cell["image"], str)
    placed = {cell["name"]: cell["placement"]["placed"] for cell in plan["cells"]}
    assert placed["train"] is False
    (train,) = [cell for cell in plan["cells"] if cell["name"] == "train"]
    assert "H100" in train["placement"]["reason"]


def test_plan_is_the_same_twice(torchmatrix: Run) -> None:
    assert torchmatrix("plan", "--json").stdout == torchmatrix("plan", "--json").stdout


def test_a_selection_that_matches_nothing_exits_3_and_suggests(torchmatrix: Run) -> None:
    done = torchmatrix("plan", "--select", "ci-cpuu")
    assert done.returncode == errors.ExitCode.NOTHING_SELECTED
    assert "ci-cpu" in done.stderr
    assert done.stdout == ""


def test_render_prints_a_containerfile_by_name_and_by_id(torchmatrix: Run) -> None:
    by_name = torchmatrix("render", "--cell", "train")
    assert by_name.returncode == 0, by_name.stderr
    assert "\nFROM " in by_name.stdout
    (train,) = [c for c in json.loads(torchmatrix("plan", "--json").stdout)["cells"] if c["name"] == "train"]
    assert torchmatrix("render", "--cell", train["id"]).stdout == by_name.stdout
