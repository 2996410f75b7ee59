"""From a cell to the machine that runs it, or to the reason why none does."""

from collections.abc import Mapping, Sequence

from orchestrator import axes
from orchestrator.model import Axes, Host, Placement, RunnerClass

HERE = "here"
_TIMES = "\N{MULTIPLICATION SIGN}"
_ARCH = axes.AXES["host_arch"].default or ""
_BESIDE_THE_GPU = ("driver", "partition", "firmware", "container_toolkit")
_DRIVERS: Mapping[str, str] = {"cuda": "NVIDIA driver", "rocm": "AMD driver", "xpu": "Intel GPU driver"}


def place(cell: Axes, host: Host | None, runners: Sequence[RunnerClass]) -> Placement:
    """Where a cell runs: on this machine when a host is given, else on a runner class of the matrix.

    `cell` holds the defaults too. The runner's name is `here` for a machine that no runner class describes.
    """
    runner = runner_for(cell, runners, host)
    if host is None:
        return _on_a_runner(cell, runner)
    if lacking := _lacking(cell, host):
        elsewhere = runner_for(cell, runners)
        found = f"runner class {elsewhere.name} has them" if elsewhere else "no runner class of the matrix has them"
        known = f" ({found})" if takes_gpu(cell) else ""
        return Placement(placed=False, runner=None, reason=f"needs {_needs(cell)}; {lacking}{known}")
    return Placement(placed=True, runner=runner.name if runner else HERE, reason=f"this machine: {host.engine} engine")


def _on_a_runner(cell: Axes, runner: RunnerClass | None) -> Placement:
    if runner is not None:
        return Placement(placed=True, runner=runner.name, reason=f"runner class {runner.name}")
    if not takes_gpu(cell) and cell.get("host_arch", _ARCH) == _ARCH:
        return Placement(placed=True, runner=HERE, reason="any machine with an engine")
    reason = f"needs {_needs(cell)}; no runner class of the matrix has them"
    return Placement(placed=False, runner=None, reason=reason)


def takes_gpu(cell: Axes) -> bool:
    """Whether a cell needs a device: by its build, or because the row of a ready image names one."""
    return axes.platform(cell) in _DRIVERS or any(name in cell for name in ("gpu", "driver", "gpus"))


def gpus_of(cell: Axes) -> int:
    """How many devices a cell takes."""
    return int(cell.get("gpus", "1")) if takes_gpu(cell) else 0


def runner_for(cell: Axes, runners: Sequence[RunnerClass], host: Host | None = None) -> RunnerClass | None:
    """The first runner class that has what a cell needs and, when a host is given, that this host belongs to."""
    return next((each for each in runners if _fits(cell, each.axes) and (host is None or _is_of(host, each))), None)


def _fits(cell: Axes, machine: Axes) -> bool:
    """Whether a class of machines has every host axis that a cell asks for."""
    if not axes.matches("host_arch", cell.get("host_arch", _ARCH), machine.get("host_arch", _ARCH)):
        return False
    if not takes_gpu(cell):
        return "gpu" not in machine  # a GPU machine is too dear for a cell that leaves its GPU idle
    return "gpu" in machine and gpus_of(cell) <= int(machine.get("gpus", "1")) and not _unlike(cell, machine)


def _is_of(host: Host, runner: RunnerClass) -> bool:
    """Whether a machine is one of a class: it has all that the class has."""
    return all(
        int(host.axes.get("gpus", "0")) >= int(value)
        if name == "gpus"
        else axes.matches(name, value, host.axes.get(name, _default(name)))
        for name, value in runner.axes.items()
    )


def _unlike(cell: Axes, machine: Axes) -> dict[str, str]:
    """The host axes of a cell, but for the count of devices, that a machine does not have: axis -> what it has.

    A driver is matched by prefix: 580 is any 580.x. What a machine does not tell about itself it does not have.
    """
    return {
        name: machine.get(name, _default(name))
        for name, value in cell.items()
        if axes.AXES[name].where is axes.Where.HOST
        and name != "gpus"
        and not axes.matches(name, value, machine.get(name, _default(name)))
    }


def _default(name: str) -> str:
    return axes.AXES[name].default or ""


def _lacking(cell: Axes, host: Host) -> str:
    """What this machine lacks for a cell, as the second half of a sentence; an empty text when it can run it."""
    arch = host.axes.get("host_arch", _ARCH)
    if host.engine == "none":
        return f"this machine has no engine: {host.engine_reason}"
    if cell.get("host_arch", arch) != arch:
        return f"this machine is {arch}"
    if takes_gpu(cell) and (without := _lacking_gpu(cell, host)):
        return without
    return _lacking_software(cell, host)


def _lacking_gpu(cell: Axes, host: Host) -> str:
    driver = _DRIVERS.get(axes.platform(cell), "GPU driver")
    if "driver" in cell and not host.axes.get("driver"):
        return f"this machine has no {driver}"
    if not host.axes.get("gpu"):
        return "this machine has no GPU"
    if unlike := _unlike(cell, host.axes):
        name, value = next(iter(unlike.items()))
        return f"this machine has {_shown(name, value)}"
    have = int(host.axes.get("gpus", "1"))
    return f"this machine has {have} {_TIMES} {host.axes['gpu']}" if gpus_of(cell) > have else ""


def _lacking_software(cell: Axes, host: Host) -> str:
    """What an engine without containers cannot bring along."""
    match host.engine:
        case "here":
            return _lacking_here(cell, host.axes) or _lacking_compiler(cell, host)
        case "process":
            return _lacking_process(cell, host) or _lacking_compiler(cell, host)
        case _:
            return ""


def _lacking_here(cell: Axes, interpreter: Axes) -> str:
    """The interpreter that is there is what it is. Its torch may not tell its build: that is seen when it runs."""
    for name in ("torch", "torch_build", "python"):
        have = interpreter.get(name, "")
        if name in cell and not axes.matches(name, cell[name], have) and (have or name != "torch_build"):
            return f"the interpreter here has {_shown(name, have)}"
    return _lacking_system(cell, interpreter)


def _lacking_process(cell: Axes, host: Host) -> str:
    """A venv brings wheels, and nothing of the system below them."""
    if "image" in cell:
        return "the process engine runs no images"
    if cell.get("torch_from") == "distribution":
        return "the process engine takes torch from wheels only"
    if not any(axes.matches("python", cell["python"], python) for python in host.pythons):
        return f"this machine has Python {', '.join(host.pythons) or 'in no version that was found'}"
    return _lacking_system(cell, host.axes)


def _lacking_system(cell: Axes, machine: Axes) -> str:
    """Without a container a cell runs on this machine's own system; the default base asks for none."""
    asked, own = cell.get("base", _default("base")), machine.get("base", "")
    if asked == _default("base") or axes.matches("base", asked, own):
        return ""
    return f"without a container it runs on this machine's own system, {own or 'which does not say what it is'}"


def _lacking_compiler(cell: Axes, host: Host) -> str:
    builds_kernels = cell.get("backend") == "inductor" and axes.platform(cell) == "cpu"
    return host.without_compiler if builds_kernels else ""


def _needs(cell: Axes) -> str:
    """What a cell needs of a machine, in words."""
    parts = []
    if takes_gpu(cell):
        asked = [name for name in _BESIDE_THE_GPU if cell.get(name, _default(name)) != _default(name)]
        parts = [*(_shown(name, cell[name]) for name in asked), f"{gpus_of(cell)} {_TIMES} {cell.get('gpu', 'GPU')}"]
    if cell.get("host_arch", _ARCH) != _ARCH:
        parts.append(cell["host_arch"])
    if not parts:
        parts = ["a ready image" if "image" in cell else _software(cell)]
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _software(cell: Axes) -> str:
    source = " of the distribution" if cell.get("torch_from") == "distribution" else ""
    return f"torch {cell['torch']} ({cell['torch_build']}){source} with Python {cell['python']} on {cell['base']}"


def _shown(name: str, value: str) -> str:
    return f"{name.replace('_', ' ')} {value}" if value else f"no {name.replace('_', ' ')}"
