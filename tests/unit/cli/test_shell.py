import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from planned_run import plan_of, planned

from orchestrator.cli.shell import _image_of, shell
from orchestrator.errors import ExitCode, InfrastructureError
from orchestrator.images.docker import Docker, Found
from orchestrator.model import Attempt, Exit, Image, SecretSource

Run = Callable[..., subprocess.CompletedProcess[str]]


MAIN = ("-c", "from orchestrator.cli import main; main()")
WAITS = "print('here', flush=True); import time; time.sleep(60)"


@contextmanager
def started(*command: str, **more: Any) -> Iterator["subprocess.Popen[str]"]:
    """A command that said that it is there, in a session of its own; waited for at the end."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True, **more) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        yield process


def left(folder: Path) -> list[str]:
    """What is in the temporary folder of whatever is called ours."""
    return sorted(path.name for path in folder.glob("torchmatrix-*"))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of one cell with our own interpreter."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    place = tmp_path / "runs" / "20261129T100000Z-0001"
    cell = planned("pass", 0)
    attempt = place / "cells" / cell.id / "attempt-1"
    attempt.mkdir(parents=True)
    (place / "plan.json").write_bytes(msgspec.json.encode(plan_of((cell,))))
    (attempt / "attempt.json").write_text(
        f'{{"cell": "{cell.id}", "number": 1, "engine": "here", "image": "here", "exit": {{"code": 0}}}}'
    )
    return place


def test_a_command_runs_as_the_cell_did(torchmatrix: Run, run: Path) -> None:
    code = "import os, sys; print(os.environ['DOES'], sys.executable, os.environ['VIRTUAL_ENV']); sys.exit(3)"
    done = torchmatrix("shell", "0-pass", "--", "python", "-c", code)
    assert (done.returncode, done.stdout.split()) == (3, ["pass", sys.executable, sys.prefix])
    assert f"as in runs/{run.name}; the suite: {sys.executable} -m suites --cell " in done.stderr


def test_the_command_can_be_printed(torchmatrix: Run, run: Path, tmp_path: Path) -> None:
    done = torchmatrix("shell", "0-pass", "--run", str(run), "--print", "--", "python", "-c", "print(1 + 1)")
    assert done.returncode == ExitCode.GOOD
    assert left(tmp_path) == []
    again = subprocess.run(["sh", "-c", done.stdout], capture_output=True, text=True, timeout=60, check=True)
    assert again.stdout == "2\n"
    assert left(tmp_path) == []


def test_the_printed_script_is_at_what_a_shell_is_at(torchmatrix: Run, run: Path, tmp_path: Path) -> None:
    code = """import json, os, sys; print(json.dumps([
        sorted(os.listdir(os.pardir)), os.listdir(os.environ["HOME"]), os.environ["DOES"], len(sys.argv[1]),
        open(os.path.join(os.pardir, "inputs", "cell.json")).read(), __import__("suites").__name__,
    ])); sys.exit(5)"""
    words = ("--run", str(run), "--", "python", "-c", code, """it's "$scratch" $HOME `x` %s \\n""")
    printed = torchmatrix("shell", "0-pass", "--print", *words)
    again = subprocess.run(["sh", "-c", printed.stdout], capture_output=True, text=True, timeout=60, check=False)
    opened = torchmatrix("shell", "0-pass", *words)
    seen, wanted = json.loads(again.stdout), json.loads(opened.stdout)
    wanted[0].remove("owner.json")
    assert seen == wanted
    assert (again.returncode, opened.returncode) == (5, 5)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_printed_script_that_is_closed_leaves_nothing(
    torchmatrix: Run, run: Path, tmp_path: Path, number: int
) -> None:
    waits = (sys.executable, "-c", WAITS)
    printed = torchmatrix("shell", "0-pass", "--run", str(run), "--print", "--", *waits).stdout
    with started("sh", "-c", printed) as process:
        assert len(left(tmp_path)) == 1
        os.killpg(process.pid, number)
        assert process.stdout is not None
        assert process.stdout.read() == ""  # the shell within the script ends after the one that reads it
    assert process.returncode in {128 + number, -number}
    assert left(tmp_path) == []


def test_without_a_run_there_is_nothing_to_open(torchmatrix: Run) -> None:
    done = torchmatrix("shell", "ci-cpu")
    assert done.returncode == ExitCode.BAD_INPUT
    assert "runs: there is no run" in done.stderr


def test_it_is_the_newest_run_in_which_the_cell_ran(torchmatrix: Run, run: Path) -> None:
    empty = run.with_name("20261130T100000Z-0001")
    empty.mkdir()
    (empty / "plan.json").write_bytes((run / "plan.json").read_bytes())
    run.with_name("20261130T110000Z-0001").mkdir()
    done = torchmatrix("shell", "0-pass", "--", "true")
    assert (done.returncode, f"as in runs/{run.name};" in done.stderr) == (0, True), done.stderr


def test_the_runs_are_named_in_none_of_which_the_cell_ran(torchmatrix: Run, run: Path) -> None:
    done = torchmatrix("shell", "train", "--print")
    assert done.returncode == ExitCode.BAD_INPUT
    assert f"error: runs: `train` ran in none of 1 run: {run.name}" in done.stderr


def test_an_image_of_ours_is_opened_without_what_its_base_would_steer(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Found(
        id="sha256:0", names=(), labels={}, size=1, env={"LD_PRELOAD": "/x.so", "LANG": "C"}, volumes=("/data",)
    )
    monkeypatch.setattr(Docker, "answers", lambda _: None)
    monkeypatch.setattr(Docker, "inspect", lambda _, ref: held if ref == "torchmatrix/x:1" else None)
    attempt = Attempt(cell="c", number=1, engine="docker", image="torchmatrix/x:1", exit=Exit())
    image = _image_of(planned("pass", 0), attempt)
    assert image.ref == "sha256:0"
    assert image.ready is not None
    assert (image.ready.unset, image.ready.volumes) == (("LD_PRELOAD",), ("/data",))


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
@pytest.mark.parametrize("to_all", [True, False])
def test_a_shell_that_is_closed_leaves_nothing(run: Path, tmp_path: Path, number: int, to_all: bool) -> None:
    words = ("shell", "0-pass", "--run", str(run), "--", sys.executable, "-c", WAITS)
    with started(sys.executable, *MAIN, *words) as process:
        assert len(left(tmp_path)) == 1
        (os.killpg if to_all else os.kill)(process.pid, number)
    assert process.returncode == ExitCode.INTERRUPTED
    assert left(tmp_path) == []


def test_a_terminal_that_is_closed_takes_scratch_and_secrets_with_it(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = SecretSource(name="TOKEN", env="CI_TOKEN")
    cell = replace(planned("pass", 0), secrets=(secret,))
    (run / "plan.json").write_bytes(msgspec.json.encode(plan_of((cell,))))
    monkeypatch.setenv("CI_TOKEN", "hunter22-hunter22")
    words = ["shell", "0-pass", "--run", str(run), "--", sys.executable, "-c", WAITS]
    pid, terminal = pty.fork()
    if pid == 0:  # a session whose terminal is ours to close
        os.execv(sys.executable, [sys.executable, *MAIN, *words])
    told = b""
    while b"here\r\n" not in told:  # the whole line, or its writer meets the end in the middle of it
        told += os.read(terminal, 4096)
    assert len(left(tmp_path)) == 2
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == ExitCode.INTERRUPTED
    assert left(tmp_path) == []


def test_without_a_docker_client_nothing_is_made(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "orchestrator.cli.shell._image_of", lambda *_: Image(id="i", name="i", ref="r", axes={}, observed={})
    )
    (attempt,) = run.glob("cells/*/attempt-1/attempt.json")
    attempt.write_text(attempt.read_text().replace('"engine": "here"', '"engine": "docker"'))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(InfrastructureError, match="no docker client is on PATH"):
        shell.main(["0-pass", "--run", str(run)], standalone_mode=False)
    assert left(tmp_path) == []
