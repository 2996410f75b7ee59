import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from orchestrator.errors import Interrupted
from orchestrator.running.foreground import Foreground, foreground
from orchestrator.running.signals import SIGNALS

CLOSING = (signal.SIGHUP, signal.SIGTERM)
WAITS = "import signal, sys, time; {first}; open(sys.argv[1], 'w').write('x'); time.sleep(60)"


def run(front: Foreground, code: str, *arguments: str) -> int:
    return front.run((sys.executable, "-c", code, *arguments), os.environ)


def when_there(file: Path, *numbers: int) -> threading.Thread:
    """Sends us the signals once the command has made the file."""
    os.mkfifo(file)

    def wait() -> None:
        file.read_text()
        for number in numbers:
            os.kill(os.getpid(), number)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_the_exit_code_is_that_of_the_command_as_a_shell_has_it() -> None:
    with foreground() as front:
        assert run(front, "import sys; sys.exit(3)") == 3
        assert run(front, "import os; os.abort()") == 128 + signal.SIGABRT


@pytest.mark.parametrize("number", SIGNALS)
def test_before_anything_was_made_a_signal_leaves_what_is_being_done(number: int) -> None:
    done = []

    def open_and_be_told() -> None:
        with foreground():
            os.kill(os.getpid(), number)
            done.append("the next thing")

    with pytest.raises(Interrupted, match="before the command was begun"):
        open_and_be_told()
    assert done == []


@pytest.mark.parametrize("number", SIGNALS)
def test_what_was_begun_to_be_made_is_not_cut_off_and_nothing_is_run(tmp_path: Path, number: int) -> None:
    with foreground() as front:
        front.hold()
        os.kill(os.getpid(), number)
        with pytest.raises(Interrupted, match="before the command was begun"):
            run(front, "import sys; open(sys.argv[1], 'w')", str(tmp_path / "ran"))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("number", CLOSING)
def test_a_command_is_told_when_we_are_asked_to_close(tmp_path: Path, number: int) -> None:
    first = f"signal.signal(signal.SIGHUP, lambda *_: (open({str(tmp_path / 'told')!r}, 'w'), sys.exit()))"
    with foreground() as front:
        front.hold()
        sender = when_there(tmp_path / "there", number)
        with pytest.raises(Interrupted, match=r"^closed$"):
            run(front, WAITS.format(first=first), str(tmp_path / "there"))
    sender.join()
    assert (tmp_path / "told").exists()


def test_a_command_that_does_not_listen_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.running.foreground._GRACE_S", 0.1)
    first = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    with foreground() as front:
        sender = when_there(tmp_path / "there", signal.SIGHUP)
        with pytest.raises(Interrupted, match=r"^closed$"):
            run(front, WAITS.format(first=first), str(tmp_path / "there"))
    sender.join()


def test_an_interrupt_is_the_business_of_the_command(tmp_path: Path) -> None:
    program = (
        "import os, sys; from orchestrator.running.foreground import foreground\n"
        "with foreground() as front:\n"
        " code = front.run((sys.executable, '-c', sys.argv[1], sys.argv[2]), os.environ)\n"
        "sys.exit(code + 1)"
    )
    command = WAITS.format(first="signal.signal(signal.SIGINT, lambda *_: sys.exit(7))")
    os.mkfifo(tmp_path / "there")
    words = [sys.executable, "-c", program, command, str(tmp_path / "there")]
    with subprocess.Popen(words, start_new_session=True) as process:
        (tmp_path / "there").read_text()
        os.killpg(process.pid, signal.SIGINT)
    assert process.returncode == 8


def test_handlers_come_back_and_what_was_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        handlers = [signal.getsignal(number) for number in SIGNALS]
        with foreground():
            os.kill(os.getpid(), signal.SIGHUP)
        assert [signal.getsignal(number) for number in SIGNALS] == handlers
    finally:
        signal.signal(signal.SIGHUP, before)
