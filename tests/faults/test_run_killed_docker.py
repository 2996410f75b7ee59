"""Killed at steps where a container exists: the resumed run removes it first, and ends as if nothing had been."""

import signal
import time
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from docker.errors import APIError
from planned_run import check, ended, only_run, paused, started, statuses, until

from orchestrator.engines.docker import labels

if TYPE_CHECKING:
    from docker import APIClient

pytestmark = [pytest.mark.docker, pytest.mark.slow]
ENDS = ("begin", "end")
WITH_A_CONTAINER = {"create:end:2", "remove:begin:2"}
WITH_A_CONTAINER |= {f"{step}:{state}:2" for step in ("start", "wait", "collect") for state in ENDS}


@pytest.fixture
def ready(docker_engine: "APIClient", python_image: str) -> dict[str, str]:
    """What makes a run use the engine and an image that is there."""
    return {"ENGINE": "docker", "READY_IMAGE": docker_engine.inspect_image(python_image)["Id"]}


def left(client: "APIClient", run: Path) -> list[str]:
    """The containers of the run, running or not, and its volumes."""
    wanted = {"label": f"{labels.RUN}={run.name}"}
    containers = [container["Id"] for container in client.containers(all=True, filters=wanted)]
    return containers + [volume["Name"] for volume in client.volumes(filters=wanted)["Volumes"] or ()]


@pytest.mark.parametrize(
    "fault",
    [
        "prepare:end",
        *(f"{step}:{state}:2" for step in ("create", "start", "wait", "collect", "remove", "commit") for state in ENDS),
        "merge:begin",
    ],
)
def test_a_killed_run_is_resumed_and_leaves_no_container(
    docker_engine: "APIClient", ready: dict[str, str], tmp_path: Path, fault: str
) -> None:
    ended(started("run", tmp_path, "pass", "fail", fault=fault, **ready), -signal.SIGKILL)
    run = only_run(tmp_path)
    assert bool(left(docker_engine, run)) == (fault in WITH_A_CONTAINER)
    ended(started("resume", run, **ready), 0)
    assert statuses(run) == ["passed", "failed"]
    assert left(docker_engine, run) == []
    check(run)


@pytest.mark.parametrize(("fault", "code"), [("wait:begin=short", -signal.SIGKILL), ("create:begin=enospc", 4)])
def test_a_disk_that_fails_a_run_leaves_no_container(
    docker_engine: "APIClient", ready: dict[str, str], tmp_path: Path, fault: str, code: int
) -> None:
    ended(started("run", tmp_path, "pass", fault=fault, **ready), code)
    run = only_run(tmp_path)
    ended(started("resume", run, **ready), 0)
    assert statuses(run) == ["passed"]
    assert left(docker_engine, run) == []
    check(run)


def test_a_container_removed_between_two_steps_is_made_again(
    docker_engine: "APIClient", ready: dict[str, str], tmp_path: Path
) -> None:
    process = started("run", tmp_path, "pass", fault="create:end=pause", **ready)
    assert paused(process)
    run = only_run(tmp_path)
    made, _ = left(docker_engine, run)
    docker_engine.remove_container(made, v=True, force=True)
    process.send_signal(signal.SIGCONT)
    ended(process, 0)
    assert statuses(run) == ["passed"]
    assert left(docker_engine, run) == []
    check(run, attempts={"0-pass": 2})


@pytest.mark.parametrize(("does", "may_be"), [("slow", {"passed", "timeout"}), ("hang", {"timeout"})])
def test_a_machine_that_was_suspended_for_longer_than_the_deadline(
    docker_engine: "APIClient", ready: dict[str, str], tmp_path: Path, does: str, may_be: set[str]
) -> None:
    """We and the container stand still and go on; a cell that did not end is no pass.

    Of a real suspension the monotonic clock knows nothing, and the cell ends as ever: here it went on, as in a machine
    whose processes alone were frozen.
    """
    process = started("run", tmp_path, does, "pass", fault="wait:begin=pause", TIMEOUT_S="4", **ready)
    assert paused(process)
    run = only_run(tmp_path)
    container, _ = left(docker_engine, run)
    unless_ended = suppress(APIError) if does == "slow" else nullcontext()
    with unless_ended:
        docker_engine.pause(container)
    time.sleep(4.5)
    with unless_ended:
        docker_engine.unpause(container)
    process.send_signal(signal.SIGCONT)
    ended(process, 0)
    first, second = statuses(run)
    assert first in may_be
    assert second in {"passed", "timeout"}  # whose limit is as short, on a machine that may be busy
    assert left(docker_engine, run) == []
    check(run)


def test_a_stopped_run_leaves_no_container(docker_engine: "APIClient", ready: dict[str, str], tmp_path: Path) -> None:
    process = started("run", tmp_path, "hang", "pass", **ready)
    until(lambda: any('"wait"' in file.read_text() for file in tmp_path.glob("*/journal.jsonl")), process)
    process.send_signal(signal.SIGINT)
    ended(process, 130)
    run = only_run(tmp_path)
    assert statuses(run) == ["cancelled", "not-run"]
    assert left(docker_engine, run) == []
