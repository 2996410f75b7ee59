from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.engines.docker.profile import profile
from orchestrator.engines.owner import Owner
from orchestrator.engines.task import INPUTS, RESULTS, Task
from orchestrator.model import ContainerNeeds, Image, Limits, Ready

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


READY = Ready(
    python="/opt/conda/bin/python3",
    user="12:34",
    unset=("LD_PRELOAD", "PYTHONPATH", "HOME"),
    volumes=("/data",),
    tools="/cache/tools/x",
    notes=("runs as its own user",),
)


def test_a_ready_image_is_run_as_was_found_to_work_and_told(make_task: MakeTask) -> None:
    image = Image(id="i", name="x@sha256:0", ref="sha256:0", axes={}, observed={}, ready=READY)
    made = profile(make_task(axes={"image": "x@sha256:0"}, image=image, env={"A": "1"}), OWNER)
    assert made.config["Entrypoint"] == ["/opt/conda/bin/python3"]
    assert made.config["User"] == "12:34"
    assert made.config["Env"][-1] == "LD_PRELOAD"  # without a value: taken away; what we set ourselves stays set
    env = dict(line.split("=", 1) for line in made.config["Env"][:-1])
    assert (env["PYTHONPATH"], env["HOME"]) == ("/opt/torchmatrix:/opt/torchmatrix/tools", "/tmp")
    assert made.config["HostConfig"]["Mounts"][-2:] == [
        {"Type": "bind", "Source": "/cache/tools/x", "Target": "/opt/torchmatrix/tools", "ReadOnly": True},
        {"Type": "tmpfs", "Target": "/data", "TmpfsOptions": {"SizeBytes": 64 << 20, "Mode": 0o1777}},
    ]
    assert made.relaxed == ("runs as its own user",)
    assert (made.config["StopSignal"], made.config["HostConfig"]["CapDrop"]) == ("SIGTERM", ["ALL"])


def test_a_ready_image_that_lacks_nothing_gets_nothing(make_task: MakeTask) -> None:
    ready = Ready(python="/usr/bin/python3", user="10001:10001")
    image = Image(id="i", name="x@sha256:0", ref="sha256:0", axes={}, observed={}, ready=ready)
    made, ours = (profile(make_task(image=given), OWNER).config for given in (image, image_without_ready(image)))
    assert {**made, "Entrypoint": ours["Entrypoint"]} == ours


def image_without_ready(image: Image) -> Image:
    return Image(id=image.id, name=image.name, ref=image.ref, axes={}, observed={})


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
