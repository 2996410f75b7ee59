"""What this machine is: its host axes, and the engine that runs cells on it."""

import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from orchestrator import text
from orchestrator.errors import InfrastructureError
from orchestrator.model import Axes, Host
from orchestrator.running import gpus, pythons

Engine = Literal["docker", "process", "here", "none"]
Probe = Callable[[Mapping[str, str]], tuple[bool, str]]

_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_NO_LIMIT = 1 << 60  # cgroup v1 writes "no limit" as a number near 2**63


class World(Struct, frozen=True, kw_only=True):
    """What `detect` looks at; a test gives another."""

    root: Path
    probe_docker: Probe
    find_uv: Callable[[], str]


def detect(
    engine: str | None,
    environ: Mapping[str, str],
    world: World | None = None,
    *,
    wanted: Collection[str] | None = None,
) -> Host:
    """This machine, with the engine asked for, or else docker where one answers and the process engine elsewhere.

    `wanted` are the Python versions that matter, where that is known. InfrastructureError when the engine asked for
    cannot run here.
    """
    world = world or real_world()
    name, reason = _choose(engine, environ, world)
    interpreter = _interpreter() if name == "here" else {}
    return Host(
        name=text.one_line(platform.node(), 100) or "localhost",
        axes={**_machine(world.root), **gpus.find(world.root), **interpreter},
        engine=name,
        engine_reason=reason,
        cpus=len(os.sched_getaffinity(0)),
        memory=memory(world.root),
        pythons=pythons.installed(environ, wanted)
        if name == "process"
        else tuple(filter(None, [interpreter.get("python")])),
        without_compiler="" if name == "docker" else _without_compiler(environ),
    )


def _without_compiler(environ: Mapping[str, str]) -> str:
    """What torch's inductor lacks on this machine to build kernels for the processor, with what to type."""
    compilers = [environ.get("CXX") or "", "g++", "clang++"]
    if any(shutil.which(name, path=environ.get("PATH")) for name in compilers if name):
        return ""
    return "this machine has no C++ compiler, which inductor needs (apt-get install g++ libpython3-dev)"


def _choose(engine: str | None, environ: Mapping[str, str], world: World) -> tuple[Engine, str]:
    """The engine's name, and why it is this one."""
    if engine == "here":
        return "here", f"asked for: {sys.executable}"
    answers, why = world.probe_docker(environ) if engine != "process" else (False, "asked for")
    if answers:
        return "docker", why
    if engine == "docker":
        raise InfrastructureError(why)
    why = text.one_line(why.partition("\n")[0])  # without the hint, which is not about this engine
    if world.find_uv():
        return "process", why if engine == "process" else f"{why}: process engine"
    if engine == "process":
        raise InfrastructureError(
            "uv was not found", cause="the process engine makes its venvs with uv", hint="pip install uv"
        )
    return "none", f"{why}, and uv was not found"


def _machine(root: Path) -> Axes:
    machine = platform.machine()
    axes = {"host_arch": _MACHINES.get(machine.lower(), machine)}
    if base := distribution(root):
        axes["base"] = base
    return axes


def distribution(root: Path) -> str:
    """`debian12`, `ubuntu24.04`: how the `base` axis names this system; empty where os-release does not tell."""
    try:
        told = (root / "etc/os-release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    found = dict(re.findall(r'^(ID|VERSION_ID)="?([A-Za-z0-9._-]+)"?\s*$', told, re.MULTILINE))
    return found["ID"] + found["VERSION_ID"] if len(found) == 2 else ""  # noqa: PLR2004 - both, or it names nothing


def memory(root: Path) -> int:
    """Bytes of memory that cells can have together: the machine's, or less where our own cgroup says so."""
    total = re.search(r"^MemTotal:\s+(\d+) kB", _read(root / "proc/meminfo"), re.MULTILINE)
    limits = [int(total[1]) * 1024] if total else []
    for file in ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"):
        told = _read(root / file)
        if told.isdigit() and int(told) < _NO_LIMIT:
            limits.append(int(told))
    return min(limits, default=0)


def _interpreter() -> Axes:
    """Python and torch of the interpreter that runs us: what the engine `here` has instead of an image."""
    from importlib import metadata

    axes = {"python": platform.python_version()}
    try:
        axes["torch"] = metadata.version("torch")
    except metadata.PackageNotFoundError:
        return axes
    build = axes["torch"].partition("+")[2]
    return {**axes, "torch_build": build} if build else axes


def real_world() -> World:
    """The machine we are on."""
    from orchestrator.engines.docker import connection

    return World(root=Path("/"), probe_docker=connection.probe, find_uv=find_uv)


def find_uv() -> str:
    """The uv that was installed with us, else the one on PATH, else an empty text."""
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.exists() else shutil.which("uv") or ""


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
