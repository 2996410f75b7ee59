"""`upgrade` as a command: its table, its JSON, its exit codes."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from orchestrator import schemas

Run = Callable[..., subprocess.CompletedProcess[str]]
NOW = ("--on", "2026-11-29")
START = "torch=2.6.0,torch_build=cu124,python=3.12,driver=535,gpu=H100"
GOAL = "torch=2.15.0,torch_build=cu132,driver=580"


@pytest.fixture
def upgrade(torchmatrix: Run) -> Run:
    return lambda *arguments: torchmatrix("upgrade", *NOW, *arguments)


def test_a_way_exits_0_and_shows_its_steps_in_order(upgrade: Run) -> None:
    done = upgrade("--from", START, "--to", GOAL)
    assert done.returncode == 0, done.stderr
    changes = ["driver=580", "torch_build=cu126", "torch=2.14.1", "torch_build=cu132", "torch=2.15.0"]
    lines = [line.split() for line in done.stdout.split("\n") if line[:1].isdigit() and line[1:2] == " "]
    assert [(number, where, change) for number, where, change, *_ in lines if where in {"host", "image"}] == [
        (str(number), "image" if number > 1 else "host", change) for number, change in enumerate(changes, start=1)
    ]


def test_no_way_exits_1_and_names_the_rule_and_the_nearest_goal(upgrade: Run) -> None:
    done = upgrade("--from", START, "--to", "torch=2.15.0")
    assert done.returncode == 1
    assert "in the way" in done.stdout
    assert "The nearest goal that can be reached has" in done.stdout


def test_the_json_has_its_schema(upgrade: Run) -> None:
    for goal in (GOAL, "torch=2.15.0"):
        told = json.loads(upgrade("--from", START, "--to", goal, "--json").stdout)
        jsonschema.validate(told, schemas.read("upgrade"))
        assert told["found"] is (goal == GOAL)


def test_pairs_may_come_one_by_one(upgrade: Run) -> None:
    words = [word for pair in START.split(",") for word in ("--from", pair)]
    words += [word for pair in GOAL.split(",") for word in ("--to", pair)]
    assert upgrade(*words, "--json").stdout == upgrade("--from", START, "--to", GOAL, "--json").stdout


def test_a_row_is_what_is_there(upgrade: Run, tmp_path: Path) -> None:
    matrix = (tmp_path / "matrix.yaml").read_text()
    (tmp_path / "matrix.yaml").write_text(matrix + 'rules: [{forbid: {torch: "2.6.0"}, because: "not here yet"}]\n')
    done = upgrade("--row", "train", "--to", "torch=2.6.0", "--json")
    told = json.loads(done.stdout)
    assert told["start"]["axes"]["gpus"] == "8"
    assert told["blocked"]["because"] == "not here yet"
    assert done.returncode == 1


def test_degraded_states_count_when_they_are_allowed(upgrade: Run) -> None:
    words = ("--from", "torch=2.8.0,torch_build=cu126,python=3.12,driver=535,gpu=H100", "--to", "torch=2.13.0")
    strict, lenient = upgrade(*words), upgrade(*words, "--allow-degraded")
    assert (strict.returncode, lenient.returncode) == (1, 0)
    assert "--allow-degraded" in strict.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--to", GOAL),
        ("--from", START),
        ("--from", START, "--row", "train", "--to", GOAL),
        ("--row", "trian", "--to", GOAL),
        ("--row", "t*", "--to", GOAL),
        ("--from", "torhc=2.6.0", "--to", GOAL),
        ("--from", START, "--to", "torch=new"),
        ("--from", START, "--to", GOAL, "--on", "never"),
    ],
)
def test_bad_input_exits_2(upgrade: Run, arguments: tuple[str, ...]) -> None:
    done = upgrade(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr
