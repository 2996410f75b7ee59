from collections.abc import Callable
from typing import Any

from orchestrator.engines.docker.devices import device_needs
from orchestrator.engines.task import Task

MakeTask = Callable[..., Task]


def needs(task: Task) -> tuple[list[str], dict[str, Any], dict[str, str]]:
    host: dict[str, Any] = {}
    env: dict[str, str] = {}
    for relaxation in device_needs(task):
        for name, value in relaxation.host.items():
            host[name] = [*host.get(name, ()), *value]
        env.update(relaxation.env)
    return [relaxation.line for relaxation in device_needs(task)], host, env


def test_a_cpu_cell_needs_nothing(make_task: MakeTask) -> None:
    assert device_needs(make_task()) == ()


def test_nvidia_by_id(make_task: MakeTask) -> None:
    lines, host, env = needs(make_task(axes={"torch_build": "cu130", "gpu": "H100"}, devices=("0", "GPU-1")))
    assert lines == ["NVIDIA devices 0, GPU-1"]
    assert host["DeviceRequests"][0]["DeviceIDs"] == ["0", "GPU-1"]
    assert "Count" not in host["DeviceRequests"][0]
    assert env == {}


def test_nvidia_by_count(make_task: MakeTask) -> None:
    lines, host, _ = needs(make_task(axes={"torch_build": "cu130", "gpu": "H100", "gpus": "8"}))
    assert lines == ["NVIDIA devices, any 8"]
    assert host["DeviceRequests"][0]["Count"] == 8


def test_nvidia_by_cdi(make_task: MakeTask) -> None:
    lines, host, _ = needs(make_task(axes={"torch_build": "cu130", "gpu": "H100"}, devices=("nvidia.com/gpu=0",)))
    assert lines == ["NVIDIA devices by CDI: nvidia.com/gpu=0"]
    assert host["DeviceRequests"] == [{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=0"]}]


def test_amd_by_index(make_task: MakeTask) -> None:
    lines, host, env = needs(make_task(axes={"torch_build": "rocm7.1", "gpu": "MI300X"}, devices=("0", "1")))
    assert lines == ["device /dev/kfd", "device /dev/dri", "ROCR_VISIBLE_DEVICES=0,1"]
    assert [device["PathInContainer"] for device in host["Devices"]] == ["/dev/kfd", "/dev/dri"]
    assert env == {"ROCR_VISIBLE_DEVICES": "0,1"}


def test_amd_by_node(make_task: MakeTask) -> None:
    task = make_task(axes={"torch_build": "rocm7.1", "gpu": "MI300X"}, devices=("/dev/dri/renderD129",))
    lines, _, env = needs(task)
    assert lines == ["device /dev/kfd", "device /dev/dri/renderD129"]
    assert env == {}


def test_intel(make_task: MakeTask) -> None:
    lines, host, env = needs(make_task(axes={"torch_build": "xpu", "gpu": "Max1550"}, devices=("0",)))
    assert lines == ["device /dev/dri", "ZE_AFFINITY_MASK=0"]
    assert [device["PathOnHost"] for device in host["Devices"]] == ["/dev/dri"]
    assert env == {"ZE_AFFINITY_MASK": "0"}
