"""What a vendor's devices need beyond the default profile, as container create arguments. Pure."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from orchestrator.engines.surroundings import platform_of, visible_devices
from orchestrator.engines.task import Task


class Relaxation(Struct, frozen=True, kw_only=True):
    """Something a container gets beyond the default: host configuration, variables, and a line for the report."""

    line: str
    host: Mapping[str, Any] = {}
    env: Mapping[str, str] = {}


def device_needs(task: Task) -> tuple[Relaxation, ...]:
    """The relaxations for the devices of the cell's platform; none for a cell without a GPU."""
    platform = platform_of(task)
    if platform == "cuda":
        return (_nvidia(task),)
    if platform == "rocm":
        return (*_nodes(("/dev/kfd", *_render_nodes(task))), *_visible(platform, task))
    if platform == "xpu":
        return (*_nodes(_render_nodes(task)), *_visible(platform, task))
    return ()


def node(path: str) -> Relaxation:
    """A device node, or a folder of them, at the same path inside."""
    mapping = {"PathOnHost": path, "PathInContainer": path, "CgroupPermissions": "rw"}
    return Relaxation(line=f"device {path}", host={"Devices": [mapping]})


def _nvidia(task: Task) -> Relaxation:
    """By device request; ids of the form vendor/class=name are CDI names, which need no NVIDIA runtime."""
    if task.devices and all("=" in device and "/" in device for device in task.devices):
        request: dict[str, Any] = {"Driver": "cdi", "DeviceIDs": list(task.devices)}
        line = f"NVIDIA devices by CDI: {', '.join(task.devices)}"
    else:
        request = {"Driver": "nvidia", "Capabilities": [["gpu", "compute", "utility"]]}
        if task.devices:
            request["DeviceIDs"] = list(task.devices)
            line = f"NVIDIA devices {', '.join(task.devices)}"
        else:
            request["Count"] = int(task.cell.axes.get("gpus", "1"))
            line = f"NVIDIA devices, any {request['Count']}"
    return Relaxation(line=line, host={"DeviceRequests": [request]})


def _nodes(paths: tuple[str, ...]) -> tuple[Relaxation, ...]:
    return tuple(node(path) for path in paths)


def _render_nodes(task: Task) -> tuple[str, ...]:
    return tuple(device for device in task.devices if device.startswith("/dev/")) or ("/dev/dri",)


def _visible(platform: str, task: Task) -> tuple[Relaxation, ...]:
    env = visible_devices(platform, task.devices)
    return tuple(Relaxation(line=f"{name}={value}", env=env) for name, value in env.items())
