"""A shell's container is the cell's: the engine itself says so."""

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from docker.errors import NotFound
from msgspec.structs import replace
from planned_run import plan_of, planned

from orchestrator.engines.docker import container
from orchestrator.engines.docker.labels import OWNER
from orchestrator.engines.docker.labels import RUN as LABEL
from orchestrator.engines.docker.profile import INPUTS, RESULTS, SUITES, VOLUME, interpreter, profile
from orchestrator.engines.owner import this_process
from orchestrator.engines.process.scratch import make_scratch, remove_scratch
from orchestrator.engines.task import Task, arguments
from orchestrator.errors import ExitCode
from orchestrator.model import Attempt, ContainerNeeds, Exit, SecretSource
from orchestrator.running.shell import RUN, Place, in_container, open_to_others, place_of

if TYPE_CHECKING:
    from docker import APIClient

pytestmark = pytest.mark.docker

# What may differ: our results lie in a scratch, and the client writes "no" where we leave the engine its default.
OWN = {"RestartPolicy", "Mounts", "Binds", "AutoRemove", "ContainerIDFile", "ConsoleSize", "Annotations"}
CONFIG = ("User", "WorkingDir", "Hostname", "Image", "Healthcheck", "StopSignal", "StopTimeout", "Entrypoint", "Cmd")


def told(client: "APIClient", name: str) -> dict[str, Any]:
    found = client.inspect_container(name)
    host = {key: value or None for key, value in found["HostConfig"].items() if key not in OWN}
    config = {key: found["Config"].get(key) for key in CONFIG}
    labels = {key: value for key, value in found["Config"]["Labels"].items() if key != OWNER}
    mounts = sorted(mount for mount in mounted(found) if not mount[0].startswith(VOLUME))
    return {**host, **config, "Env": sorted(found["Config"]["Env"]), "Labels": labels, "Mounts": mounts}


def mounted(found: dict[str, Any]) -> list[tuple[str, ...]]:
    """Where what is mounted, and whether it can be written to."""
    return [(each["Destination"], each["Type"], each["Source"], str(each["RW"])) for each in found["Mounts"]]


@pytest.mark.parametrize(
    "needs", [ContainerNeeds(), ContainerNeeds(ipc="host", memlock="unlimited", seccomp="unconfined", groups=("44",))]
)
def test_the_engine_sees_no_difference(
    docker_engine: "APIClient", python_image: str, make_task: Callable[..., Task], tmp_path: Path, needs: ContainerNeeds
) -> None:
    (tmp_path / "TOKEN").write_text("hunter22")
    ref, secrets = docker_engine.inspect_image(python_image)["Id"], {"TOKEN": tmp_path / "TOKEN"}
    task = make_task(container=needs, env={"A": "1"}, ref=ref, secrets=secrets)
    client = shutil.which("docker")
    assert client
    scratch = make_scratch(task, this_process())
    name = f"shell-{task.run_id}"
    try:
        container.create(docker_engine, f"{name}-cell", profile(task, this_process()), task.inputs)
        runs = (interpreter(task), *arguments(task, inputs=INPUTS, results=RESULTS))  # what the cell's container does
        opened = in_container(task, Place(scratch=scratch, container=name), runs, client, os.environ, tty=False)
        words = [word for word in opened.argv if word != "--rm"]
        words[words.index("run")] = "create"
        subprocess.run(words, env=dict(opened.env), check=True, capture_output=True, timeout=60)
        same = told(docker_engine, name)
        assert same == told(docker_engine, f"{name}-cell")
        assert {mount[0] for mount in same["Mounts"]} == {f"{SUITES}/suites", "/run/secrets/TOKEN"}
        others = [each for each in mounted(docker_engine.inspect_container(name)) if each[0].startswith(VOLUME)]
        assert sorted(others) == [
            (INPUTS, "bind", str(scratch.inputs), "False"),
            (RESULTS, "bind", str(scratch.results), "True"),
        ]
    finally:
        for each in (name, f"{name}-cell"):
            with suppress(NotFound):
                docker_engine.remove_container(each, force=True, v=True)
        remove_scratch(scratch)


def test_what_is_typed_runs_with_the_rights_of_the_cell(
    docker_engine: "APIClient", python_image: str, make_task: Callable[..., Task]
) -> None:
    task = make_task(ref=docker_engine.inspect_image(python_image)["Id"])
    client = shutil.which("docker")
    assert client
    scratch = make_scratch(task, this_process())
    try:
        open_to_others(scratch)
        opened = in_container(task, place_of(scratch), (), client, os.environ, tty=False)
        typed = "id -u; cat /results/in/cell.json; echo; echo x >/results/out/y && echo written; echo x >/x; exit 7\n"
        done = subprocess.run(
            opened.argv, env=dict(opened.env), input=typed, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stdout.split()) == (7, ["10001", "{}", "written"])
        assert "Read-only file system" in done.stderr
        assert (scratch.results / "y").read_text() == "x\n"
    finally:
        remove_scratch(scratch)


@pytest.fixture
def run(python_image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of one cell with a secret, in a container of the test's image."""
    place = tmp_path / "runs" / "20261129T100000Z-0001"
    cell = replace(planned("pass", 0), secrets=(SecretSource(name="TOKEN", env="CI_TOKEN"),))
    attempt = place / "cells" / cell.id / "attempt-1"
    attempt.mkdir(parents=True)
    (place / "plan.json").write_bytes(msgspec.json.encode(plan_of((cell,))))
    made = Attempt(cell=cell.id, number=1, engine="docker", image=python_image, exit=Exit())
    (attempt / "attempt.json").write_bytes(msgspec.json.encode(made))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("CI_TOKEN", "hunter22-hunter22")
    return place


def shells(client: "APIClient") -> list[str]:
    return [found["Id"] for found in client.containers(all=True, filters={"label": f"{LABEL}={RUN}"})]


WAITS = "import time; print('here in ' + str(time.time_ns()), flush=True); time.sleep(600)"


def opened_on_a_terminal(run: Path, *command: str) -> tuple[int, int]:
    """The pid of a shell that said that it is there, and its terminal."""
    words = ["-c", "from orchestrator.cli import main; main()", "shell", "0-pass", "--run", str(run), "--", *command]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, *words])
    told = b""
    while not re.search(rb"here in \w+\r\n", told):
        told += os.read(terminal, 4096)
    return pid, terminal


@pytest.mark.parametrize("how", ["the terminal is closed", signal.SIGHUP, signal.SIGTERM])
def test_a_shell_that_is_closed_takes_its_container_scratch_and_secrets_with_it(
    docker_engine: "APIClient", run: Path, tmp_path: Path, how: object
) -> None:
    before = shells(docker_engine)
    pid, terminal = opened_on_a_terminal(run, "python3", "-c", WAITS)
    assert len(shells(docker_engine)) == len(before) + 1
    assert len(list((tmp_path / "tmp").iterdir())) == 2
    if isinstance(how, signal.Signals):
        os.kill(pid, how)
    else:
        os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == ExitCode.INTERRUPTED
    assert shells(docker_engine) == before
    assert list((tmp_path / "tmp").iterdir()) == []
    if isinstance(how, signal.Signals):
        os.close(terminal)


def test_what_a_shell_left_that_was_killed_goes_with_the_next(
    docker_engine: "APIClient", run: Path, tmp_path: Path
) -> None:
    before = shells(docker_engine)
    pid, terminal = opened_on_a_terminal(run, "python3", "-c", WAITS)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    pid, terminal = opened_on_a_terminal(run, "python3", "-c", "print('here in time')")
    os.waitpid(pid, 0)
    os.close(terminal)
    assert shells(docker_engine) == before
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_printed_script_that_is_killed_with_its_terminal_leaves_nothing(
    docker_engine: "APIClient", run: Path, tmp_path: Path
) -> None:
    words = ["-c", "from orchestrator.cli import main; main()", "shell", "0-pass", "--run", str(run), "--print"]
    printed = subprocess.run(
        [sys.executable, *words, "--", "python3", "-c", WAITS], capture_output=True, text=True, check=True, timeout=60
    )
    assert list((tmp_path / "tmp").iterdir()) == []
    script = printed.stdout.replace("/path/to/TOKEN", str(run / "plan.json"))
    before = shells(docker_engine)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv("/bin/sh", ["/bin/sh", "-c", f"{script}\n:"])
    told = b""
    while not re.search(rb"here in \w+\r\n", told):
        told += os.read(terminal, 4096)
    assert len(shells(docker_engine)) == len(before) + 1
    os.close(terminal)
    os.waitpid(pid, 0)
    until = time.monotonic() + 30  # the shell within the script ends after the one that reads it
    while (shells(docker_engine) != before or any((tmp_path / "tmp").iterdir())) and time.monotonic() < until:
        time.sleep(0.1)
    assert shells(docker_engine) == before
    assert list((tmp_path / "tmp").iterdir()) == []
