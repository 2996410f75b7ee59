"""A run that is stopped from outside: once it commits what is done and says how to go on, twice it ends at once."""

import signal
from pathlib import Path

import pytest
from planned_run import check, ended, is_gone, only_run, started, statuses, until


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_once_stops_the_cell_keeps_what_is_done_and_can_be_resumed(tmp_path: Path, number: signal.Signals) -> None:
    flag = tmp_path / "flag"
    process = started("run", tmp_path / "runs", "pass", f"hang:{flag}", "fail")
    until(flag.exists, process)
    process.send_signal(number)
    _, said = ended(process, 130)
    run = only_run(tmp_path / "runs")
    assert f"stopped by {number.name}, 1 of 3 cells are done" in said
    assert f"torchmatrix run --resume {run}" in said
    assert statuses(run) == ["passed", "cancelled", "not-run"]
    assert is_gone(flag.read_text())
    ended(started("resume", run), 0)
    assert statuses(run) == ["passed", "passed", "failed"]
    check(run, attempts={"1-hang": 2})


def test_twice_ends_at_once_and_can_be_resumed(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    process = started("run", tmp_path / "runs", "pass", f"deafly-hang:{flag}")
    until(flag.exists, process)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    while "once more ends at once" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    ended(process, 130)
    run = only_run(tmp_path / "runs")
    assert not (run / "summary.json").exists()  # it did not wait for the cell that does not listen
    ended(started("resume", run), 0)
    assert statuses(run) == ["passed", "passed"]
    assert is_gone(flag.read_text())
    check(run)


def test_a_signal_that_was_ignored_from_the_start_stays_ignored(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what nohup does to a child
    try:
        process = started("run", tmp_path / "runs", f"hang:{tmp_path}/flag", TIMEOUT_S="1")
    finally:
        signal.signal(signal.SIGHUP, before)
    until((tmp_path / "flag").exists, process)
    process.send_signal(signal.SIGHUP)
    ended(process, 0)
    assert statuses(only_run(tmp_path / "runs")) == ["timeout"]


def test_a_terminal_that_closes_does_not_end_a_run(tmp_path: Path) -> None:
    process = started("run", tmp_path, "pass", "pass")
    assert process.stderr is not None
    assert process.stdout is not None
    process.stderr.close()
    process.stdout.close()
    process.wait(60)
    run = only_run(tmp_path)
    assert statuses(run) == ["passed", "passed"]
    check(run)
