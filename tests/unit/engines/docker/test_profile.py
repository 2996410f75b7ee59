from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.engines.docker.profile import interpreter, profile
from orchestrator.engines.owner import Owner
from orchestrator.engines.task import INPUTS, RESULTS, Task
from orchestrator.model import ContainerNeeds, Limits

OWNER = Owner(boot="b", namespace="1", pid=2, started=3)
MakeTask = Callable[..., Task]


def host(task: Task, groups: tuple[str, ...] = ()) -> dict[str, Any]:
    made: dict[str, Any] = profile(task, OWNER, groups).config["HostConfig"]
    return made


def test_the_default_is_the_strict_profile(make_task: MakeTask) -> None:
    task = make_task(limits=Limits(memory=1 << 30, shm=1 << 20, pids=7))
    made = host(task)
    labelled = {"Labels": profile(task, OWNER).config["Labels"], "NoCopy": True}
    assert made == {
        "ReadonlyRootfs": True,
        "NetworkMode": "none",
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges:true"],
        "Init": True,
        "Memory": 1 << 30,
        "MemorySwap": 1 << 30,
        "PidsLimit": 7,
        "ShmSize": 1 << 20,
        "IpcMode": "private",
        "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}],
        "Tmpfs": {"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={1 << 29}"},
        "Mounts": [
            {
                "Type": "bind",
                "Source": str(task.suites / "suites"),
                "Target": "/opt/torchmatrix/suites",
                "ReadOnly": True,
            },
            {"Type": "volume", "Target": "/results", "VolumeOptions": labelled},
        ],
        "LogConfig": {"Type": "local", "Config": {"max-size": "1m", "max-file": "2"}},
    }
    assert profile(task, OWNER).relaxed == ()


def test_what_the_image_says_is_overridden(make_task: MakeTask) -> None:
    made = profile(make_task(argv=("-m", "suites", INPUTS, RESULTS), ref="sha256:0"), OWNER).config
    assert made["Image"] == "sha256:0"
    assert made["Entrypoint"] == ["/opt/venv/bin/python"]
    assert made["Cmd"] == ["-m", "suites", "/results/in", "/results/out"]
    assert (made["User"], made["WorkingDir"], made["Healthcheck"]) == ("10001:10001", "/tmp", {"Test": ["NONE"]})


def test_a_ready_image_brings_its_own_python(make_task: MakeTask) -> None:
    assert interpreter(make_task(axes={"image": "x@sha256:0"})) == "python3"


def test_shared_memory_is_for_each_gpu(make_task: MakeTask) -> None:
    task = make_task(axes={"torch_build": "cu130", "gpu": "H100", "gpus": "8"}, limits=Limits(shm=1 << 20))
    assert host(task)["ShmSize"] == 8 << 20


def test_each_need_is_given_and_told(make_task: MakeTask) -> None:
    needs = ContainerNeeds(
        ipc="host", memlock="unlimited", seccomp="unconfined", devices=("/dev/infiniband",), groups=("44", "109")
    )
    task = make_task(container=needs)
    made = host(task, groups=("109", "110"))
    assert made["IpcMode"] == "host"
    assert made["Ulimits"][1:] == [{"Name": "memlock", "Soft": -1, "Hard": -1}]
    assert made["SecurityOpt"] == ["no-new-privileges:true", "seccomp=unconfined"]
    assert made["GroupAdd"] == ["44", "109", "110"]
    assert [device["PathOnHost"] for device in made["Devices"]] == ["/dev/infiniband"]
    assert profile(task, OWNER, ("109", "110")).relaxed == (
        "device /dev/infiniband",
        "group 44",
        "group 109",
        "group 110",
        "ipc host",
        "memlock unlimited",
        "seccomp unconfined",
    )


def test_nothing_relaxes_what_must_hold(make_task: MakeTask) -> None:
    needs = ContainerNeeds(ipc="host", memlock="unlimited", seccomp="unconfined", devices=("/dev/kfd",), groups=("0",))
    task = make_task(axes={"torch_build": "rocm7.1", "gpu": "MI300X"}, container=needs)
    made = host(task)
    assert "Privileged" not in made
    assert "Binds" not in made
    assert "PidMode" not in made
    assert (made["CapDrop"], made["NetworkMode"], made["ReadonlyRootfs"]) == (["ALL"], "none", True)
    assert "no-new-privileges:true" in made["SecurityOpt"]
    assert not any("docker.sock" in str(mount) for mount in made["Mounts"])


def test_variables_are_few_and_the_tasks_are_among_them(make_task: MakeTask) -> None:
    made = dict(line.split("=", 1) for line in profile(make_task(env={"A": "1=2"}), OWNER).config["Env"])
    assert made["A"] == "1=2"
    assert made["PYTHONPATH"] == "/opt/torchmatrix"
    assert {made[name] for name in ("HOME", "TMPDIR")} == {"/tmp"}
    assert "PATH" not in made


def test_a_secret_is_a_file_that_is_only_read(make_task: MakeTask, tmp_path: Path) -> None:
    secret = tmp_path / "TOKEN"
    secret.write_text("hunter22")
    task = make_task(secrets={"TOKEN": secret})
    made = profile(task, OWNER)
    mount = {"Type": "bind", "Source": str(secret), "Target": "/run/secrets/TOKEN", "ReadOnly": True}
    assert mount in host(task)["Mounts"]
    assert "TOKEN_FILE=/run/secrets/TOKEN" in made.config["Env"]
    assert "hunter22" not in str(made)
    assert made.relaxed == ("secret TOKEN",)
