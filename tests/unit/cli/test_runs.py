import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import ExitCode

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def runs(tmp_path: Path) -> Path:
    place = tmp_path / "runs"
    for number in (1, 2):
        (place / f"2026112{number}T100000Z-000{number}").mkdir(parents=True)
    return place


def test_runs_are_listed(torchmatrix: Run) -> None:
    done = torchmatrix("runs", "ls")
    assert [line.split()[:3] for line in done.stdout.splitlines()] == [
        ["20261122T100000Z-0002", "empty", "0/0"],
        ["20261121T100000Z-0001", "empty", "0/0"],
    ]
    (first, _) = json.loads(torchmatrix("runs", "ls", "--json").stdout)
    assert (first["id"], first["state"], first["path"]) == ("20261122T100000Z-0002", "empty", f"runs/{first['id']}")


def test_nothing_goes_in_a_dry_run_and_old_ones_go_in_another(torchmatrix: Run, runs: Path) -> None:
    told = torchmatrix("runs", "gc", "--keep", "1", "--dry-run")
    assert told.stdout.startswith("would remove  20261121T100000Z-0001")
    assert len(list(runs.iterdir())) == 2
    done = json.loads(torchmatrix("runs", "gc", "--keep", "1", "--json").stdout)
    assert [run["id"] for run in done["removed"]] == ["20261121T100000Z-0001"]
    assert [path.name for path in runs.iterdir()] == ["20261122T100000Z-0002"]


@pytest.mark.parametrize("arguments", [(), ("--max-age", "soon"), ("--max-age", "3"), ("--keep", "-1")])
def test_what_is_too_many_must_be_said(torchmatrix: Run, runs: Path, arguments: tuple[str, ...]) -> None:
    assert torchmatrix("runs", "gc", *arguments).returncode == ExitCode.BAD_INPUT
    assert len(list(runs.iterdir())) == 2


def test_one_run_is_told_as_one(torchmatrix: Run, tmp_path: Path) -> None:
    (tmp_path / "20261129T100000Z-000a").mkdir()
    assert f"1 run in {tmp_path} takes " in torchmatrix("runs", "ls", "--runs", str(tmp_path)).stderr
    assert torchmatrix("runs", "gc", "--keep", "0", "--runs", str(tmp_path)).stderr.startswith("1 run, ")
    assert f"0 runs in {tmp_path} take " in torchmatrix("runs", "ls", "--runs", str(tmp_path)).stderr
