import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.errors import ExitCode, InfrastructureError
from orchestrator.running import lock

HOLDER = """
import sys, time
from pathlib import Path
from orchestrator.running import lock
with lock.held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def holder(run: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(run)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_the_second_writer_is_told_the_pid_of_the_first(tmp_path: Path) -> None:
    with holder(tmp_path) as first:
        with (
            pytest.raises(InfrastructureError, match=f"process {first.pid} is writing this run") as refused,
            lock.held(tmp_path),
        ):
            pass
        first.kill()
    assert refused.value.exit_code is ExitCode.INFRASTRUCTURE
    assert refused.value.place == str(tmp_path)


def test_a_killed_owner_holds_nothing(tmp_path: Path) -> None:
    with holder(tmp_path) as first:
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
    with lock.held(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_stale_file_with_the_pid_of_a_living_process_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(f"{os.getppid()}\nand a longer rest\n")
    with lock.held(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_child_process_does_not_keep_the_lock(tmp_path: Path) -> None:
    with lock.held(tmp_path):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        with lock.held(tmp_path):
            pass
    finally:
        child.kill()
        child.wait()


def test_a_file_system_without_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(_descriptor: int, _operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with (
        pytest.raises(InfrastructureError, match=r"No locks available \(a network file system, perhaps\)"),
        lock.held(tmp_path),
    ):
        pass


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="No such file"), lock.held(tmp_path / "nowhere"):
        pass
