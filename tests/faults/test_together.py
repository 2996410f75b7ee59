"""Several processes at once: runs that begin in the same second, and resumes of the same run."""

import re
import signal
import time
from pathlib import Path

import pytest
from planned_run import check, ended, only_run, paused, plan_file, started, statuses
from tiny_command import command

AT_ONCE = 4


@pytest.mark.slow
def test_runs_that_begin_in_the_same_moment_all_end_whole(tmp_path: Path) -> None:
    go = str(time.time() + 3)
    every = [started("run", tmp_path, "pass", "fail", START_AT=go) for _ in range(AT_ONCE)]
    for process in every:
        ended(process, 0)
    runs = sorted(tmp_path.iterdir())
    assert len(runs) == AT_ONCE
    assert len({run.name.partition("-")[0] for run in runs}) <= 2  # one second, or the change to the next
    for run in runs:
        assert statuses(run) == ["passed", "failed"]
        check(run)


@pytest.mark.slow
def test_of_resumes_of_one_run_in_the_same_moment_one_writes_and_each_other_says_who(tmp_path: Path) -> None:
    ended(started("run", tmp_path, "pass", "fail", fault="wait:begin"), -signal.SIGKILL)
    run = only_run(tmp_path)
    go = str(time.time() + 3)
    every = [started("resume", run, START_AT=go) for _ in range(AT_ONCE)]
    said = {process.pid: process.communicate(timeout=60)[1] for process in every}
    codes = {process.pid: process.returncode for process in every}
    assert set(codes.values()) <= {0, 4}
    writers = {pid for pid, code in codes.items() if code == 0}
    assert writers
    for pid, code in codes.items():
        if code == 4:
            told = re.search(r"process (\d+) is writing this run", said[pid])
            assert told is not None, said[pid]
            assert int(told[1]) in writers
    assert statuses(run) == ["passed", "failed"]
    check(run)


def test_commands_that_are_given_the_same_name_for_their_run_take_two(tmp_path: Path) -> None:
    """As two of the same second would be that drew the same tail: whoever comes second draws again."""
    name, plan = "20261130T120000Z-0000", plan_file(tmp_path, "pass", "fail")
    asked = ("run", "--engine", "here", "--plan", plan, "--runs", tmp_path / "runs")
    every = [command(*asked, FIRST_ID=name) for _ in range(2)]
    for process in every:
        ended(process, 1)
    runs = list((tmp_path / "runs").iterdir())
    assert len(runs) == 2
    assert (tmp_path / "runs" / name) in runs
    for run in runs:
        assert statuses(run) == ["passed", "failed"]
        check(run)


def test_a_command_that_resumes_what_another_writes_ends_with_its_pid(tmp_path: Path) -> None:
    asked = ("run", "--engine", "here", "--plan", plan_file(tmp_path, "pass", "fail"), "--runs", tmp_path / "runs")
    ended(command(*asked, TORCHMATRIX_FAULT="wait:begin"), -signal.SIGKILL)
    run = only_run(tmp_path / "runs")
    writer = command("run", "--resume", run, TORCHMATRIX_FAULT="commit:begin=pause")
    assert paused(writer)
    for other in [command("run", "--resume", run) for _ in range(2)]:
        _, said = ended(other, 4)
        assert f"process {writer.pid} is writing this run" in said
    writer.send_signal(signal.SIGCONT)
    ended(writer, 1)
    assert statuses(run) == ["passed", "failed"]
    check(run)
