"""`history --series` as a command: flags, exit code, and JSON whatever the exit code."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from simulated import Numbers, runs, stepped

from orchestrator import schemas

Run = Callable[..., subprocess.CompletedProcess[str]]
QUIET = runs(np.random.default_rng(1), 100, 0.01)


def written(folder: Path, values: Numbers) -> str:
    rows = "".join(f"{1700000000 + 86400 * at},{value}\n" for at, value in enumerate(values))
    (folder / "f.csv").write_text(f"time,value\n{rows}")
    return "f.csv"


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(done.stdout)
    jsonschema.validate(told, schemas.read("trend"))
    assert list(told) == ["flags", "points", "why"]
    return told


def test_a_series_that_did_not_change_has_no_flags(torchmatrix: Run, tmp_path: Path) -> None:
    done = torchmatrix("history", "--series", written(tmp_path, QUIET), "--json")
    told = answer(done)
    assert (told["flags"], told["points"], done.returncode) == ([], 100, 0)


def test_a_change_exits_5_and_is_flagged_with_its_time(torchmatrix: Run, tmp_path: Path) -> None:
    done = torchmatrix("history", "--series", written(tmp_path, stepped(QUIET, 70, 0.05)), "--json")
    (flag,) = answer(done)["flags"]
    assert done.returncode == 5
    assert flag["index"] == pytest.approx(70, abs=3)
    assert flag["time"] == 1700000000 + 86400 * flag["index"]
    assert flag["effect"] == pytest.approx(0.05, abs=0.01)


def test_without_json_the_changes_lead_and_the_series_is_drawn(torchmatrix: Run, tmp_path: Path) -> None:
    done = torchmatrix("history", "--series", written(tmp_path, stepped(QUIET, 70, 0.05)))
    assert done.stdout.startswith("1 change: ")
    assert done.stdout.splitlines()[-1].strip() == "^"


def test_a_terminal_without_the_characters_gets_escapes_and_the_same_exit_code(
    torchmatrix: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    done = torchmatrix("history", "--series", written(tmp_path, stepped(QUIET, 70, 0.05)))
    assert (done.returncode, done.stderr) == (5, "")
    assert "\\u2581" in done.stdout


def test_too_few_points_are_said_to_be_too_few(torchmatrix: Run, tmp_path: Path) -> None:
    done = torchmatrix("history", "--series", written(tmp_path, QUIET[:5]), "--json")
    told = answer(done)
    assert (told["flags"], told["points"], done.returncode) == (None, 5, 0)
    assert told["why"] == "a change is told from 33 points on, and there are 5"
    assert torchmatrix("history", "--series", "f.csv").stdout.startswith("not told: a change is told from 33 points on")


@pytest.mark.parametrize(
    "content", ["", "time,value\n", "time,value\n1,nan\n", "time,value\n1,-5\n", "time,value\n1\n"]
)
def test_bad_input_exits_2_with_json_and_a_reason(torchmatrix: Run, tmp_path: Path, content: str) -> None:
    (tmp_path / "f.csv").write_text(content)
    done = torchmatrix("history", "--series", "f.csv", "--json")
    told = answer(done)
    assert (told["flags"], told["points"], done.returncode) == (None, 0, 2)
    assert told["why"] in done.stderr
