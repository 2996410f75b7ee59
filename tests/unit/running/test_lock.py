import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from orchestrator.engines.owner import Owner, this_process
from orchestrator.errors import ExitCode, InfrastructureError, InputError
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
        assert (tmp_path / "lock").read_text().splitlines() == [str(os.getpid()), str(this_process())]
    assert (tmp_path / "lock").read_text() == ""


def test_a_stale_file_with_the_pid_of_a_living_process_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(
        f"{os.getppid()}\n{msgspec.structs.replace(this_process(), pid=os.getppid(), started=1)}\n"
    )
    with lock.held(tmp_path):
        assert (tmp_path / "lock").read_text().splitlines() == [str(os.getpid()), str(this_process())]
    assert (tmp_path / "lock").read_text() == ""


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


def test_a_pid_that_a_dead_owner_left_is_not_told_as_the_holders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_TELL_S", 0.2)
    with holder(tmp_path) as first:
        for stale in (
            "1234567\n",
            f"{os.getpid()}\n{Owner(boot='other', namespace='1', pid=os.getpid(), started=1)}\n",  # after a reboot
            f"{os.getpid()}\n{msgspec.structs.replace(this_process(), started=1)}\n",  # the pid given out anew
            "\xff\x00" * 200,
        ):
            (tmp_path / "lock").write_text(stale)
            with pytest.raises(InfrastructureError, match=r"process \(not told\) is writing"), lock.held(tmp_path):
                pass
        first.kill()


def test_a_holder_that_has_not_told_its_pid_yet_is_given_the_time(tmp_path: Path) -> None:
    with holder(tmp_path) as first:
        told = (tmp_path / "lock").read_text()
        (tmp_path / "lock").write_text("")
        telling = threading.Timer(0.2, (tmp_path / "lock").write_text, (told,))
        telling.start()
        with pytest.raises(InfrastructureError, match=f"process {first.pid} is writing"), lock.held(tmp_path):
            pass
        telling.join()
        first.kill()


def test_a_run_that_is_resumed_is_ours_from_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "plan.json").touch()
    with lock.held_again(tmp_path):
        with pytest.raises(lock.Taken, match=f"process {os.getpid()} is writing this run"), lock.held(tmp_path):
            pass
        assert (tmp_path / "lock").read_text().splitlines() == [str(os.getpid()), str(this_process())]
    assert (tmp_path / "lock").read_text() == ""
    with holder(tmp_path) as first:
        with pytest.raises(lock.Taken), lock.held_again(tmp_path):
            pass
        first.kill()


def test_a_folder_that_is_no_run_is_not_written_to(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="there is no run") as refused, lock.held_again(place):
            pass
        assert refused.value.place == str(place)
    assert list(tmp_path.iterdir()) == []


def test_who_only_looks_whether_it_is_held_keeps_nobody_from_it(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    looking = os.open(tmp_path / "lock", os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)  # as `runs ls` does
    leaving = threading.Timer(0.2, os.close, (looking,))
    leaving.start()
    with lock.held(tmp_path):
        pass
    leaving.join()


def test_who_makes_or_removes_folders_does_so_alone_and_does_not_wait_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_GUARD_S", 0.0)
    with (
        lock.guarded(tmp_path),
        pytest.raises(InfrastructureError, match="another process keeps this folder of runs locked") as refused,
        lock.guarded(tmp_path),
    ):
        pass
    assert refused.value.place == str(tmp_path)
    assert refused.value.cause.startswith("likely")  # nobody has looked
    with lock.guarded(tmp_path):
        pass


def test_a_run_whose_lock_cannot_be_taken_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.pwrite", full)
    with pytest.raises(InfrastructureError, match="No space left"), lock.created(tmp_path / "runs"):
        pass
    assert list((tmp_path / "runs").iterdir()) == []


@pytest.mark.parametrize(
    "content", ["mine", "\n", "12", "12 and more", "12\nmore\n", "x" * 1000, "\xff", "12\na/b/1/2\nx"]
)
def test_a_file_that_somebody_else_named_so_stays_as_it_is(tmp_path: Path, content: str) -> None:
    (tmp_path / "lock").write_text(content)
    if content == "12":  # as a short write may leave it
        assert lock.problem_with(tmp_path) == ""
        return
    for hold in (lock.held, lock.held_again):
        with (
            pytest.raises(lock.NotALock, match="this is not the lock of a run: something else is written"),
            hold(tmp_path),
        ):
            pass
    assert (tmp_path / "lock").read_text() == content
    assert lock.problem_with(tmp_path) == "something else is written in it"
    with lock.held_to_remove(tmp_path):
        pass
    assert (tmp_path / "lock").read_text() == content


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/etc/hostname")])
def test_what_is_no_file_is_no_lock(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "lock")
    with pytest.raises(lock.NotALock, match="this is not the lock of a run: ") as refused, lock.held(tmp_path):
        pass
    assert refused.value.exit_code is ExitCode.BAD_INPUT
    assert refused.value.place == str(tmp_path / "lock")
    assert lock.problem_with(tmp_path)
    with lock.held_to_remove(tmp_path):
        pass


@pytest.mark.parametrize("content", ["", "\0" * 60, f"1\n{this_process()}\n"], ids=["empty", "zeros", "ours"])
def test_what_an_owner_of_ours_left_is_a_lock(tmp_path: Path, content: str) -> None:
    assert lock.problem_with(tmp_path) == ""
    (tmp_path / "lock").write_text(content)
    assert lock.problem_with(tmp_path) == ""
    with lock.held(tmp_path):
        assert lock.problem_with(tmp_path) == ""
