from collections.abc import Callable

import pytest

from orchestrator.engines.docker.command_line import bind, left_to_unset, run_arguments
from orchestrator.engines.docker.profile import profile
from orchestrator.engines.owner import Owner
from orchestrator.engines.task import Task
from orchestrator.model import ContainerNeeds

OWNER = Owner(boot="b", namespace="1", pid=2, started=3)
MakeTask = Callable[..., Task]


def words(task: Task) -> list[str]:
    return run_arguments(profile(task, OWNER, ("44",)).config, ("sh", "-c", "x y"), ("type=bind,b",), tty=True)


def test_the_profile_of_a_cell_is_all_there(make_task: MakeTask) -> None:
    task = make_task(env={"A": "1 2"}, ref="sha256:0")
    made = words(task)
    assert made[:5] == ["run", "--rm", "--interactive", "--tty", "--init"]
    assert made[-4:] == ["--entrypoint=sh", "sha256:0", "-c", "x y"]
    assert {
        "--read-only",
        "--network=none",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges:true",
        "--user=10001:10001",
        "--workdir=/tmp",
        "--pids-limit=64",
        f"--memory={256 << 20}",
        f"--memory-swap={256 << 20}",
        "--ulimit=core=0:0",
        "--ipc=private",
        "--env=A=1 2",
        "--group-add=44",
        "--mount=type=bind,b",
        f"--mount=type=bind,source={task.suites / 'suites'},target=/opt/torchmatrix/suites,readonly",
    } <= set(made)
    assert not any("org.torchmatrix" in word or "type=volume" in word for word in made)


def test_what_a_runner_class_names_is_given(make_task: MakeTask) -> None:
    needs = ContainerNeeds(ipc="host", memlock="unlimited", seccomp="unconfined", devices=("/dev/null",))
    made = words(make_task(container=needs))
    assert {
        "--ipc=host",
        "--ulimit=memlock=-1:-1",
        "--security-opt=seccomp=unconfined",
        "--device=/dev/null:/dev/null:rw",
    } <= set(made)


@pytest.mark.parametrize(
    ("devices", "word"),
    [
        (("0", "1"), '--gpus="device=0,1","capabilities=compute,utility"'),
        ((), '--gpus="count=2","capabilities=compute,utility"'),
        (("nvidia.com/gpu=0",), "--device=nvidia.com/gpu=0"),
    ],
)
def test_nvidia_devices(make_task: MakeTask, devices: tuple[str, ...], word: str) -> None:
    axes = {"torch_build": "cu130", "gpu": "H100", "gpus": "2"}
    assert word in words(make_task(axes=axes, devices=devices))


def test_a_path_with_a_comma_stays_one_field() -> None:
    assert bind("/a b", "/x", read_only=True) == "type=bind,source=/a b,target=/x,readonly"
    assert bind('/a,"b', "/x", read_only=False) == 'type=bind,"source=/a,""b",target=/x'


def test_variables_that_are_taken_away() -> None:
    assert left_to_unset({"Env": ["A=1", "LD_PRELOAD", "B="]}) == ("LD_PRELOAD",)
