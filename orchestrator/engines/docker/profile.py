"""How a cell's container is made: one task in, the engine's create arguments out. Pure.

The default is the strictest profile in which the suite runs: what a cell gets beyond it is named by its runner class or
its row, and each such thing is a line in the attempt.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from orchestrator.engines.docker.devices import Relaxation, device_needs, node
from orchestrator.engines.docker.labels import labels
from orchestrator.engines.ending import GRACE_S
from orchestrator.engines.owner import Owner
from orchestrator.engines.surroundings import variables
from orchestrator.engines.task import Task, arguments

OURS = "10001:10001"  # the user and the group of a cell
PYTHON = "/opt/venv/bin/python"  # in every image that we build
SUITES = "/opt/torchmatrix"
VOLUME = "/results"  # a volume: what is written to a tmpfs, or to a read-only root, is gone after the end
INPUTS = f"{VOLUME}/in"  # both folders lie in a folder of root, so the cell can neither move nor replace them
RESULTS = f"{VOLUME}/out"
CACHE = f"{VOLUME}/cache"  # there only where the cell has a compile cache: a copy, put in and taken out as these are
TOOLS = f"{SUITES}/tools"  # what the suite needs and a ready image lacks
SECRETS = "/run/secrets"  # where Docker and BuildKit have them too
SCRATCH = "/tmp"  # noqa: S108 - inside the container, on its own tmpfs
VOLUME_BYTES = 64 << 20  # of each VOLUME of a ready image, in memory: left alone, each is a place to fill the disk from
OWN_MOUNTS = frozenset({VOLUME, SCRATCH, f"{SUITES}/suites", TOOLS})


class Profile(Struct, frozen=True, kw_only=True):
    """The body of a create request, and what in it goes beyond the default."""

    config: Mapping[str, Any]
    relaxed: tuple[str, ...]


def profile(task: Task, owner: Owner, groups: tuple[str, ...] = ()) -> Profile:
    """The container of a task. `groups` are numeric groups that own the device nodes on this host."""
    relaxations = (*device_needs(task), *_named_needs(task, groups), *map(_secret, task.secrets.items()))
    made_by = labels(task, owner)
    ready = task.image.ready
    path = f"{SUITES}:{TOOLS}" if ready and ready.tools else SUITES
    env = variables(task, scratch=SCRATCH, path=path, cache=CACHE if task.cache else "")
    for relaxation in relaxations:
        env.update(relaxation.env)
    unset = () if ready is None else tuple(name for name in ready.unset if name not in env)
    config = {
        "Image": task.image.ref,
        "Entrypoint": [interpreter(task)],
        "Cmd": arguments(task, inputs=INPUTS, results=RESULTS),
        "User": ready.user if ready else OURS,
        "WorkingDir": SCRATCH,
        "Hostname": "cell",
        # A name alone takes the image's variable away. Not to be had empty: some programs ask only whether it is there.
        "Env": [*(f"{name}={value}" for name, value in env.items()), *unset],
        "Labels": made_by,
        "Healthcheck": {"Test": ["NONE"]},
        "StopSignal": "SIGTERM",
        "StopTimeout": int(GRACE_S),
        "HostConfig": _merged(_host(task, made_by), relaxations),
    }
    notes = ready.notes if ready else ()
    return Profile(config=config, relaxed=(*notes, *(relaxation.line for relaxation in relaxations)))


def interpreter(task: Task) -> str:
    """The Python of the image: ours is at a fixed place, that of a ready image was looked for."""
    return task.image.ready.python if task.image.ready else PYTHON


def _host(task: Task, made_by: Mapping[str, str]) -> dict[str, Any]:
    limits = task.cell.limits
    return {
        "ReadonlyRootfs": True,
        "NetworkMode": "none",
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges:true"],
        "Init": True,
        "Memory": limits.memory,
        "MemorySwap": limits.memory,  # no swap beyond the memory
        "PidsLimit": limits.pids,
        "ShmSize": limits.shm * int(task.cell.axes.get("gpus", "1")),
        "IpcMode": "private",
        "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}],
        # exec: inductor maps the kernels that it compiles there. Half the memory: the tmpfs counts against it.
        "Tmpfs": {SCRATCH: f"rw,exec,nosuid,nodev,mode=1777,size={limits.memory // 2}"},
        "Mounts": [
            {"Type": "bind", "Source": str(task.suites / "suites"), "Target": f"{SUITES}/suites", "ReadOnly": True},
            {"Type": "volume", "Target": VOLUME, "VolumeOptions": {"NoCopy": True, "Labels": dict(made_by)}},
            *_of_the_image(task),
        ],
        # We read the output as it comes; this is what is left to look at when we die before the cell does.
        "LogConfig": {"Type": "local", "Config": {"max-size": "1m", "max-file": "2"}},
    }


def _of_the_image(task: Task) -> Iterator[dict[str, Any]]:
    """What a ready image lacks, and its own volumes as small ones in memory."""
    if task.image.ready is None:
        return
    if task.image.ready.tools:
        yield {"Type": "bind", "Source": task.image.ready.tools, "Target": TOOLS, "ReadOnly": True}
    for path in task.image.ready.volumes:
        yield {"Type": "tmpfs", "Target": path, "TmpfsOptions": {"SizeBytes": VOLUME_BYTES, "Mode": 0o1777}}


def _named_needs(task: Task, groups: tuple[str, ...]) -> tuple[Relaxation, ...]:
    """What the runner class or the row asks for by name."""
    needs = task.cell.container
    found = [node(path) for path in needs.devices]
    found += [
        Relaxation(line=f"group {group}", host={"GroupAdd": [group]})
        for group in dict.fromkeys((*needs.groups, *groups))
    ]
    if needs.ipc == "host":
        found.append(Relaxation(line="ipc host", host={"IpcMode": "host"}))
    if needs.memlock == "unlimited":
        unlimited = {"Name": "memlock", "Soft": -1, "Hard": -1}
        found.append(Relaxation(line="memlock unlimited", host={"Ulimits": [unlimited]}))
    if needs.seccomp == "unconfined":
        found.append(Relaxation(line="seccomp unconfined", host={"SecurityOpt": ["seccomp=unconfined"]}))
    return tuple(found)


def _secret(given: tuple[str, Path]) -> Relaxation:
    """A secret as a file that the cell can read; its value stands nowhere in the request."""
    name, source = given
    target = f"{SECRETS}/{name}"
    mount = {"Type": "bind", "Source": str(source), "Target": target, "ReadOnly": True}
    return Relaxation(line=f"secret {name}", host={"Mounts": [mount]}, env={f"{name}_FILE": target})


def _merged(host: dict[str, Any], relaxations: tuple[Relaxation, ...]) -> dict[str, Any]:
    """The host configuration with each relaxation in it: lists grow, a single value is replaced."""
    for relaxation in relaxations:
        for name, value in relaxation.host.items():
            host[name] = [*host.get(name, ()), *value] if isinstance(value, list) else value
    return host
