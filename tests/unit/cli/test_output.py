"""What goes to which stream, and readers that leave early."""

import os
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
