"""What goes to which stream, and readers that leave early."""

import errno
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.cli.output import keep_out, say, show, show_json
from orchestrator.masking import NOTHING, Masker

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("code", [0, 1])
def test_a_reader_that_leaves_early_changes_no_exit_code(tmp_path: Path, code: int) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "from orchestrator import cli\n"
        "from orchestrator.cli.output import show\n"
        "@cli.torchmatrix.command()\n"
        "def speak():\n"
        "    for _ in range(50):\n"
        "        show('x' * 9999)\n"  # more than a pipe holds
        f"    sys.exit({code})\n"
        "sys.argv = ['torchmatrix', 'speak']\n"
        "cli.main()\n"
    )
    command = f"{sys.executable} {program} | head -c 10"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert (done.returncode, done.stdout) == (code, "x" * 10)


@pytest.mark.parametrize(("code", "select"), [(0, "ci-cpu"), (3, "nothing")])
def test_a_listener_that_has_gone_changes_nothing(torchmatrix: Run, tmp_path: Path, code: int, select: str) -> None:
    command = [sys.executable, "-c", "from orchestrator.cli import main, output; output.say('hello'); main()"]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*command, "plan", "--select", select], stdout=subprocess.PIPE, stderr=writing, cwd=tmp_path, check=False
        )
    finally:
        os.close(writing)
    assert done.returncode == code
    assert (b"ci-cpu" in done.stdout) is (code == 0)


def test_what_is_said_cannot_act_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("run: \x1b]0;title\x07\u202e")
    assert capsys.readouterr().err == "run: \\x1b]0;title\\x07\\u202e\n"


def test_no_secret_in_force_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    keep_out(Masker([b"hunter22"]))
    try:
        show("a hunter22 b")
        show_json({"cause": "hunter22"})
        say("error: hunter22\x1b")
    finally:
        keep_out(NOTHING)
    told = capsys.readouterr()
    assert "hunter22" not in told.out + told.err
    assert (told.out.count("[MASKED]"), told.err) == (2, "error: [MASKED]\\x1b\n")
    show("hunter22")
    assert capsys.readouterr().out == "hunter22\n"


def test_a_terminal_that_was_closed_is_a_listener_that_has_gone(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from orchestrator.cli.output import say, show\n"
        # Blocked and waited for: a signal that came before a `pause` would leave it waiting for ever.
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})\n"
        "print('here', flush=True)\n"
        "signal.sigwait({signal.SIGHUP})\n"
        "say('a'); show('b'); say('c')\n"
        "open(sys.argv[1], 'w').write('went on')\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", program, str(tmp_path / "told")])
    told = b""
    while b"here\r\n" not in told:  # the whole line, or its writer meets the end in the middle of it
        told += os.read(terminal, 4096)
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert (status, (tmp_path / "told").read_text()) == (0, "went on")


def test_a_broken_disk_is_no_reader_that_has_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("orchestrator.cli.output.click.echo", broken)
    with (tmp_path / "answer.json").open("w") as file:
        monkeypatch.setattr("sys.stdout", file)
        with pytest.raises(OSError, match="Input/output error"):
            show("answer")
