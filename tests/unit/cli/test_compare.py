"""`compare` as a command: verdict, exit code, and JSON whatever the exit code."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from simulated import pairs

from orchestrator import schemas

Run = Callable[..., subprocess.CompletedProcess[str]]


def written(folder: Path, name: str = "pairs.csv", seed: int = 1, **simulated: Any) -> str:
    base, head = pairs(np.random.default_rng(seed), **({"count": 20, "noise": 0.01} | simulated))
    rows = "".join(f"{one},{other}\n" for one, other in zip(base, head, strict=True))
    (folder / name).write_text(f"base,head\n{rows}")
    return name


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(done.stdout)
    jsonschema.validate(told, schemas.read("comparison"))
    assert list(told) == ["verdict", "effect", "interval", "smallest_detectable", "pairs", "why"]
    return told


@pytest.mark.parametrize(
    ("loss", "options", "verdict", "code"),
    [
        (0.0, (), "PASS", 0),
        (0.05, (), "FAIL", 5),
        (-0.05, (), "IMPROVED", 0),
        (-0.05, ("--higher-is-better",), "FAIL", 5),
        (0.05, ("--higher-is-better",), "IMPROVED", 0),
        (0.0, ("--margin", "0.5%"), "INCONCLUSIVE", 0),
        (0.05, ("--margin", "0.2"), "PASS", 0),
    ],
)
def test_a_verdict_has_its_exit_code(
    torchmatrix: Run, tmp_path: Path, loss: float, options: tuple[str, ...], verdict: str, code: int
) -> None:
    done = torchmatrix("compare", "--pairs", written(tmp_path, loss=loss), *options, "--json")
    told = answer(done)
    assert (told["verdict"], done.returncode) == (verdict, code)
    assert told["pairs"] == 20
    assert told["effect"] == pytest.approx(loss, abs=0.01)
    assert told["interval"][0] < told["effect"] < told["interval"][1]


def test_without_json_the_verdict_leads_and_the_pairs_are_drawn(torchmatrix: Run, tmp_path: Path) -> None:
    done = torchmatrix("compare", "--pairs", written(tmp_path, loss=0.05))
    assert done.returncode == 5
    assert done.stdout.startswith("FAIL: head is ")
    assert "head / base, pair by pair\n" in done.stdout
    assert set(done.stdout.splitlines()[-1]) <= set("▁▂▃▄▅▆▇█")


def test_a_calibration_makes_five_pairs_enough(torchmatrix: Run, tmp_path: Path) -> None:
    few = written(tmp_path, seed=4, count=5, loss=0.04)
    assert torchmatrix("compare", "--pairs", few).stdout.startswith("INCONCLUSIVE: ")
    same = written(tmp_path, "same.csv", seed=2)
    assert torchmatrix("compare", "--pairs", few, "--calibration", same).returncode == 5


def test_one_pair_is_shown_without_a_verdict(torchmatrix: Run, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("base,head\n100,150\n")
    done = torchmatrix("compare", "--pairs", "one.csv", "--json")
    told = answer(done)
    assert (told["verdict"], told["effect"], done.returncode) == ("UNMEASURABLE", pytest.approx(0.5), 0)


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (None, ()),
        ("base,head\n1,2\n3,4\n", ("--pairs", "-", "--calibration", "-")),
        ("", ()),
        ("base,head\n", ()),
        ("base,head\n1,nan\n", ()),
        ("base,head\n1,0\n2,3\n", ()),
        ("base,head\n1,2\n1\n", ()),
        ("base,head\n1,2\n3,4\n", ("--margin", "3")),
        ("base,head\n1,2\n3,4\n", ("--margin", "0%")),
        ("base,head\n1,2\n3,4\n", ("--margin", "-3%")),
        ("base,head\n1,2\n3,4\n", ("--calibration", "none.csv")),
    ],
)
def test_bad_input_exits_2_with_json_and_a_reason(
    torchmatrix: Run, tmp_path: Path, content: str | None, options: tuple[str, ...]
) -> None:
    if content is not None:
        (tmp_path / "f.csv").write_text(content)
    done = torchmatrix("compare", "--pairs", "f.csv", *options, "--json")
    assert done.returncode == 2
    told = answer(done)
    assert (told["verdict"], told["effect"], told["pairs"]) == ("UNMEASURABLE", None, 0)
    assert told["why"] in done.stderr
    assert "Traceback" not in done.stderr


def test_a_fifo_is_refused_and_keeps_nobody_waiting(torchmatrix: Run, tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "f.csv")
    done = torchmatrix("compare", "--pairs", "f.csv")
    assert (done.returncode, "`-` reads from stdin" in done.stderr) == (2, True)


def test_without_a_file_there_is_a_reason_in_json_too(torchmatrix: Run) -> None:
    for verb, option in (("compare", "--pairs"), ("history", "--series")):
        done = torchmatrix(verb, "--json")
        assert (done.returncode, json.loads(done.stdout)["why"].split("\n")[0]) == (2, f"{option}: no file is given")


def test_a_million_pairs_have_an_answer(torchmatrix: Run, tmp_path: Path) -> None:
    written(tmp_path, count=10**6, loss=0.05)
    assert torchmatrix("compare", "--pairs", "pairs.csv").returncode == 5
