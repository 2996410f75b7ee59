"""Killed at every journalled step, by hand and at once: a resumed run ends as one that was never killed."""

import json
import os
import signal
from pathlib import Path

import pytest
from crash_matrix import commit, sample
from planned_run import PER_CELL, check, ended, is_gone, only_run, started, statuses, until

from orchestrator.vocabulary import Step

ONCE = ("prepare:begin", "prepare:end", "plan:end", "merge:begin", "merge:end")
EACH = tuple(f"{step}:{state}:2" for step in PER_CELL for state in ("begin", "end"))  # in the second of three cells


def test_every_step_is_among_those_that_are_killed_at() -> None:
    assert {fault.split(":")[0] for fault in (*ONCE, *EACH)} == set(Step)


@pytest.mark.slow
@pytest.mark.parametrize("fault", sample((*ONCE, *EACH), commit(), 3))  # all of them, one after the other: below
def test_a_run_killed_at_a_step_ends_as_if_it_had_not_been(tmp_path: Path, fault: str) -> None:
    ended(started("run", tmp_path, "pass", "fail", "pass", fault=fault), -signal.SIGKILL)
    run = only_run(tmp_path)
    ended(started("resume", run), 0)
    assert statuses(run) == ["passed", "failed", "passed"]
    check(run)


@pytest.mark.slow
def test_a_run_killed_at_every_step_in_turn_still_ends(tmp_path: Path) -> None:
    faults = [f"{step}:{state}" for step in ("prepare", *PER_CELL, "merge") for state in ("begin", "end")]
    ended(started("run", tmp_path, "pass", "fail", fault="plan:end"), -signal.SIGKILL)
    run = only_run(tmp_path)
    killed = 0
    for fault in faults:  # a step of a cell that is done is not reached again: there the run just ends
        process = started("resume", run, fault=fault)
        process.communicate(timeout=60)
        assert process.returncode in {0, -signal.SIGKILL}
        killed += process.returncode != 0
    assert killed >= len(PER_CELL)
    ended(started("resume", run), 0)
    assert statuses(run) == ["passed", "failed"]
    check(run)


def test_a_run_killed_before_its_plan_was_written_has_nothing_to_resume(tmp_path: Path) -> None:
    ended(started("run", tmp_path, "pass", fault="plan:begin"), -signal.SIGKILL)
    _, said = ended(started("resume", only_run(tmp_path)), 2)
    assert "no such plan" in said


def test_what_the_dead_owner_left_running_is_stopped_before_anything_runs_again(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    process = started("run", tmp_path / "runs", "pass", f"hang:{flag}")
    until(flag.exists, process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    left = flag.read_text()
    assert not is_gone(left)
    run = only_run(tmp_path / "runs")
    _, said = ended(started("resume", run), 0)
    assert f"the wait of {_second(run)} was cut off: done again" in said
    assert is_gone(left)
    assert statuses(run) == ["passed", "passed"]
    check(run)


def _second(run: Path) -> str:
    cell: str = json.loads((run / "plan.json").read_bytes())["cells"][1]["id"]
    return cell


def test_resuming_a_finished_run_runs_nothing_and_changes_nothing(tmp_path: Path) -> None:
    ended(started("run", tmp_path, "pass", "fail"), 0)
    run = only_run(tmp_path)
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    _, said = ended(started("resume", run), 0)
    assert said == ""
    assert {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} == before
    check(run)


def test_a_half_line_and_a_half_attempt_are_no_obstacle(tmp_path: Path) -> None:
    ended(started("run", tmp_path, "pass", "pass", fault="commit:begin:2"), -signal.SIGKILL)
    run = only_run(tmp_path)
    with (run / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"seq":99,"time":"2026-')
    (half,) = (file for file in run.glob("cells/*/attempt-1") if not (file / "attempt.json").exists())
    (half / "attempt.json").write_text('{"cell": "')
    ended(started("resume", run), 0)
    assert statuses(run) == ["passed", "passed"]
    check(run)


def test_a_second_process_does_not_write_a_run_that_is_being_written(tmp_path: Path) -> None:
    process = started("run", tmp_path / "runs", f"hang:{tmp_path}/flag")
    until((tmp_path / "flag").exists, process)
    run = only_run(tmp_path / "runs")
    before = (run / "journal.jsonl").read_bytes()
    _, said = ended(started("resume", run), 4)
    assert f"process {process.pid} is writing this run" in said
    assert (run / "journal.jsonl").read_bytes() == before
    process.send_signal(signal.SIGINT)
    ended(process, 130)
