"""Rows for a first matrix: the newest releases that a vendor supports on the machine at hand, so that they run."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol

from orchestrator import axes
from orchestrator.matrix.starter import Start, StartRow
from orchestrator.model import Answer, Axes, Host
from orchestrator.vocabulary import Verdict

_RELEASE = re.compile(r"\d+\.\d+\.\d+", re.ASCII)
_WORKS = frozenset({Verdict.SUPPORTED, Verdict.DEGRADED})
_Works = Callable[[Axes], bool]
_MINORS = 2  # how many lines of releases a first matrix starts with


class Says(Protocol):
    """What vendors say of a combination."""

    def answer(self, combo: Mapping[str, object], /) -> Answer:
        """The verdict, with its reasons."""


def first_matrix(
    host: Host,
    pythons: Sequence[str],
    known: Mapping[str, Sequence[str]],
    says: Says,
    is_there: Callable[[Axes], bool] = lambda _: True,
) -> Start:
    """The first matrix of a machine. `pythons` come best first, `known` are the values of `torch` and `torch_build`.

    `is_there` tells of the axes of an image whether this site has its wheels. Without any combination that a vendor
    supports and that is there, the rows are empty.
    """
    works = partial(_works, says=says, is_there=is_there)
    machine = _machine(host)
    releases = [release for release in reversed(known["torch"]) if _RELEASE.fullmatch(release)]
    cpu = next(
        (
            found
            for python in pythons
            if (found := _newest(releases, {"torch_build": "cpu", "python": python, **machine}, works))
        ),
        [],
    )
    rows = list(_cpu_rows(cpu, works, compiles=not host.without_compiler))
    gpu = _gpu(host, pythons, releases, known["torch_build"], works)
    rows += list(_gpu_rows(gpu, works))
    torch = {row.axes["torch"] for row in rows}
    runner: dict[str, str] = {name: gpu[name] for name in ("driver", "gpu") if name in gpu}
    if runner and "gpus" in host.axes:
        runner["gpus"] = host.axes["gpus"]
    return Start(
        found=tuple(_found(host)),
        rows=tuple(rows),
        torch=tuple(release for release in reversed(releases) if release in torch),
        runner=runner,
    )


def _machine(host: Host) -> dict[str, str]:
    """The architecture of the machine, where a row has to say it."""
    found = host.axes.get("host_arch", "")
    return {} if found in {"", axes.AXES["host_arch"].default} else {"host_arch": found}


def _newest(releases: Sequence[str], given: Axes, works: _Works) -> list[Axes]:
    """The given axes with the newest supported release of each of the newest lines."""
    lines: dict[str, Axes] = {}
    for release in releases:
        line = release.rpartition(".")[0]
        combination = {"torch": release, **given}
        if line not in lines and works(combination):
            lines[line] = combination
        if len(lines) == _MINORS:
            break
    return list(lines.values())


def _works(combination: Axes, says: Says, is_there: Callable[[Axes], bool]) -> bool:
    whole = axes.complete(combination)
    return says.answer(whole).verdict in _WORKS and is_there(axes.image_axes(whole))


def _cpu_rows(found: Sequence[Axes], works: _Works, *, compiles: bool) -> Iterator[StartRow]:
    for place, combination in enumerate(found):
        suffix = "" if place == 0 else "-before"
        yield StartRow(name=f"cpu-eager{suffix}", axes=combination)
        compiled = {**combination, "backend": "inductor"}
        if place == 0 and compiles and works(compiled):
            yield StartRow(name="cpu-inductor", axes=compiled)


def _gpu(
    host: Host, pythons: Sequence[str], releases: Sequence[str], builds: Sequence[str], works: _Works
) -> dict[str, str]:
    """The newest supported combination on the machine's GPU, or nothing: the newest release first, then the build."""
    if "gpu" not in host.axes:
        return {}
    card = (
        _machine(host)
        | {"gpu": host.axes["gpu"]}
        | ({"driver": branch(host.axes["driver"])} if "driver" in host.axes else {})
    )
    for release in releases:
        for python in pythons:
            for build in reversed(builds):
                combination = {"torch": release, "torch_build": build, "python": python, **card}
                fits = build != "cpu" and axes.applies(axes.AXES["gpu"], axes.complete(combination))
                if fits and works(combination):
                    return combination
    return {}


def _gpu_rows(found: Axes, works: _Works) -> Iterator[StartRow]:
    if found:
        name = found["gpu"].lower()
        yield StartRow(name=f"{name}-eager", axes=found)
        compiled = {**found, "backend": "inductor"}
        if works(compiled):
            yield StartRow(name=f"{name}-inductor", axes=compiled)


def branch(driver: str) -> str:
    """The part of a driver's version that a row names: `580` of 580.95.05, `30.20` of 30.20.1."""
    parts = driver.split(".")
    return parts[0] if len(parts[0]) > len("30") else ".".join(parts[:2])


def _found(host: Host) -> Iterator[str]:
    gpu = f"{host.axes.get('gpus', '1')} x {host.axes['gpu']}" if "gpu" in host.axes else "no GPU"
    driver = f", driver {host.axes['driver']}" if "driver" in host.axes else ""
    system = f"{host.axes.get('base', 'an unknown system')} on {host.axes.get('host_arch', 'an unknown machine')}"
    yield f"{system}, {host.cpus} CPUs, {host.memory >> 30} GiB of memory, {gpu}{driver}"
    yield f"engine: {host.engine} ({host.engine_reason})"
    if host.pythons:
        yield f"Python: {', '.join(host.pythons)}"
