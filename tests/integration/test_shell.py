"""A shell's container is the cell's: the engine itself says so."""

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from docker.errors import NotFound

from orchestrator.engines.docker import container
from orchestrator.engines.docker.profile import profile
from orchestrator.engines.owner import this_process
from orchestrator.engines.process.scratch import make_scratch, remove_scratch
from orchestrator.engines.task import Task
from orchestrator.model import ContainerNeeds
from orchestrator.running.shell import in_container

if TYPE_CHECKING:
    from docker import APIClient

pytestmark = pytest.mark.docker

# What may differ: our results lie in a scratch, and the client writes "no" where we leave the engine its default.
OWN = {"RestartPolicy", "Mounts", "Binds", "AutoRemove", "ContainerIDFile", "ConsoleSize", "Annotations"}
CONFIG = ("User", "WorkingDir", "Hostname", "Image", "Healthcheck", "StopSignal", "StopTimeout")


def told(client: "APIClient", name: str) -> dict[str, Any]:
    found = client.inspect_container(name)
    host = {key: value or None for key, value in found["HostConfig"].items() if key not in OWN}
    config = {key: found["Config"].get(key) for key in CONFIG}
    return {**host, **config, "Env": sorted(found["Config"]["Env"])}


@pytest.mark.parametrize(
    "needs", [ContainerNeeds(), ContainerNeeds(ipc="host", memlock="unlimited", seccomp="unconfined", groups=("44",))]
)
def test_the_engine_sees_no_difference(
    docker_engine: "APIClient", python_image: str, make_task: Callable[..., Task], needs: ContainerNeeds
) -> None:
    task = make_task(container=needs, env={"A": "1"}, ref=docker_engine.inspect_image(python_image)["Id"])
    client = shutil.which("docker")
    assert client
    scratch = make_scratch(task, this_process())
    name = f"shell-{task.run_id}"
    try:
        container.create(docker_engine, f"{name}-cell", profile(task, this_process()), task.inputs)
        opened = in_container(task, scratch, (), client, os.environ, tty=False)
        words = [word for word in opened.argv if word != "--rm"]
        words[words.index("run") : words.index("run") + 1] = ["create", f"--name={name}"]
        subprocess.run(words, env=dict(opened.env), check=True, capture_output=True, timeout=60)
        assert told(docker_engine, name) == told(docker_engine, f"{name}-cell")
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
        opened = in_container(task, scratch, (), client, os.environ, tty=False)
        typed = "id -u; cat /results/in/cell.json; echo; echo x >/results/out/y && echo written; echo x >/x; exit 7\n"
        done = subprocess.run(
            opened.argv, env=dict(opened.env), input=typed, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stdout.split()) == (7, ["10001", "{}", "written"])
        assert "Read-only file system" in done.stderr
        assert (scratch.results / "y").read_text() == "x\n"
    finally:
        remove_scratch(scratch)
