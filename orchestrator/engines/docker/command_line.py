"""A container as a command line: with the profile of a cell, for somebody who wants to look around in it. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def run_arguments(config: Mapping[str, Any], command: Sequence[str], binds: Sequence[str], *, tty: bool) -> list[str]:
    """The arguments of `docker run` for a create request, with another command and with these mounts for its volumes.

    What it is labelled with is left out: whoever runs it says himself by what it is found again.
    """
    host = config["HostConfig"]
    words = ["run", "--rm", "--interactive", *(("--tty",) if tty else ()), "--init"]
    words += [*_plain(config), *_of_host(host)]
    words += [f"--env={variable}" for variable in config["Env"]]
    words += [f"--mount={_mount(mount)}" for mount in host["Mounts"] if mount["Type"] != "volume"]
    words += [f"--mount={bind}" for bind in binds]
    return [*words, f"--entrypoint={command[0]}", config["Image"], *command[1:]]


def left_to_unset(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Variables that the request takes away: the client must not have them either, it would pass them on."""
    return tuple(variable for variable in config["Env"] if "=" not in variable)


def _plain(config: Mapping[str, Any]) -> Iterator[str]:
    yield f"--user={config['User']}"
    yield f"--workdir={config['WorkingDir']}"
    yield f"--hostname={config['Hostname']}"
    yield "--no-healthcheck"
    yield f"--stop-timeout={config['StopTimeout']}"
    if "StopSignal" in config:
        yield f"--stop-signal={config['StopSignal']}"


def _of_host(host: Mapping[str, Any]) -> Iterator[str]:
    if host["ReadonlyRootfs"]:
        yield "--read-only"
    yield f"--network={host['NetworkMode']}"
    yield f"--ipc={host['IpcMode']}"
    yield f"--memory={host['Memory']}"
    yield f"--memory-swap={host['MemorySwap']}"
    yield f"--pids-limit={host['PidsLimit']}"
    yield f"--shm-size={host['ShmSize']}"
    yield f"--log-driver={host['LogConfig']['Type']}"
    yield from (f"--log-opt={name}={value}" for name, value in host["LogConfig"]["Config"].items())
    yield from (f"--cap-drop={name}" for name in host["CapDrop"])
    yield from (f"--cap-add={name}" for name in host.get("CapAdd", ()))
    yield from (f"--security-opt={option}" for option in host["SecurityOpt"])
    yield from (f"--ulimit={limit['Name']}={limit['Soft']}:{limit['Hard']}" for limit in host["Ulimits"])
    yield from (f"--tmpfs={path}:{options}" for path, options in host["Tmpfs"].items())
    yield from (f"--group-add={group}" for group in host.get("GroupAdd", ()))
    for device in host.get("Devices", ()):
        yield f"--device={device['PathOnHost']}:{device['PathInContainer']}:{device['CgroupPermissions']}"
    for request in host.get("DeviceRequests", ()):
        yield from _devices(request)


def _devices(request: Mapping[str, Any]) -> Iterator[str]:
    """CDI names are devices to the client; others are asked of a driver, in a list that has commas in quotes."""
    if request["Driver"] == "cdi":
        yield from (f"--device={name}" for name in request["DeviceIDs"])
        return
    which = f"device={','.join(request['DeviceIDs'])}" if "DeviceIDs" in request else f"count={request['Count']}"
    able = ",".join(name for names in request["Capabilities"] for name in names if name != "gpu")
    yield f'--gpus="{which}","capabilities={able}"'


def _mount(mount: Mapping[str, Any]) -> str:
    if mount["Type"] == "tmpfs":
        options = mount["TmpfsOptions"]
        return f"type=tmpfs,target={mount['Target']},tmpfs-size={options['SizeBytes']},tmpfs-mode={options['Mode']:o}"
    return bind(mount["Source"], mount["Target"], read_only=mount.get("ReadOnly", False))


def bind(source: str, target: str, *, read_only: bool) -> str:
    """A mount of a host folder as `--mount` takes it: its fields are CSV, so that a path may hold what it likes."""
    fields = ("type=bind", f"source={source}", f"target={target}", *(("readonly",) if read_only else ()))
    return ",".join('"{}"'.format(field.replace('"', '""')) if set(field) & set(',"') else field for field in fields)
