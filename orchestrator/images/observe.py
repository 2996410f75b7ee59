"""Asks an image or a venv what it contains. Nothing is copied from the request; the answer is untrusted text."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from orchestrator import disk, text
from orchestrator.axes import AXES, Where
from orchestrator.images import contents
from orchestrator.images.command import Commands, Finished
from orchestrator.images.docker import Docker
from orchestrator.images.failure import Stage, StageFailed, at
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause

DEADLINE_S = contents.DEADLINE_S + 60.0
_KEPT_BYTES = 64 << 20
_LONGEST = 400  # a list of architectures is long
_NOT_STARTED = (125, 126, 127)  # how `docker run` says: the engine refused, not executable, not found
PACKAGES: Mapping[str, str] = {
    axis.package: axis.name for axis in AXES.values() if axis.where is Where.IMAGE and axis.package
}


def script() -> str:
    """The program that the image's interpreter is given."""
    return Path(contents.__file__).read_text(encoding="utf-8")


def question(python: str) -> Sequence[str]:
    """The command line that asks."""
    return (python, "-c", script(), *(package for package in PACKAGES if package != "torch"))


def observe_image(image: str, python: str, site: Site, docker: Docker) -> Mapping[str, str]:
    """What the image of that id contains, by axis; StageFailed (observe) when torch cannot be imported."""

    def ask() -> Mapping[str, str]:
        return read_found(docker.ask(image, question(python), container_name(image), DEADLINE_S))

    return axes_in(once([image, python], site, ask))


def container_name(image: str) -> str:
    """What the container that asks is called: each has its own, many may ask the image of that id at once."""
    return f"torchmatrix-observe-{image.rpartition(':')[2][:12]}-{secrets.token_hex(4)}"


def observe_interpreter(python: str, digest: str, site: Site, commands: Commands) -> Mapping[str, str]:
    """What the venv of that interpreter and lock contains, by axis; StageFailed (observe) as above."""
    return axes_in(
        once([python, digest], site, lambda: read_found(commands.run(question(python), deadline_s=DEADLINE_S)))
    )


def once(subject: Sequence[str], site: Site, ask: Callable[[], Mapping[str, str]]) -> Mapping[str, str]:
    """The answer of one subject, asked once and kept on disk; text that we did not write."""
    with at(Stage.OBSERVE):
        kept = site.cache / "observed" / f"{text.digest([*subject, script()], 32)}.json"
        try:
            return text.read_json(disk.read_bounded(kept, _KEPT_BYTES), dict[str, str])
        except (OSError, ValueError):
            answer = dict(ask())
        kept.parent.mkdir(parents=True, exist_ok=True)
        disk.write(kept, text.canonical_json(answer), 0o600)
        return answer


def read_found(done: Finished) -> dict[str, str]:
    """What an interpreter found, by name; StageFailed (observe) when it found no torch that can be imported."""
    lines = [line for line in done.out.splitlines() if line.startswith(contents.MARK)]
    if done.code in _NOT_STARTED:
        raise StageFailed(Stage.OBSERVE, "the image's Python could not be started", log=done.log)
    if done.timed_out or not lines:
        raise StageFailed(
            Stage.OBSERVE,
            "the image did not say in time what it contains" if done.timed_out else "torch cannot be imported",
            log=done.log,
            cause=Cause.HANG if done.timed_out else _cause_of(done.log),
        )
    try:
        found = text.read_json(lines[-1][len(contents.MARK) :], dict[str, object])
    except ValueError as problem:
        raise StageFailed(Stage.OBSERVE, "the image's answer cannot be read", log=lines[-1][:2000]) from problem
    return {
        text.one_line(key, _LONGEST): text.one_line(value, _LONGEST)
        for key, value in found.items()
        if isinstance(value, str) and value
    }


def axes_in(found: Mapping[str, str]) -> dict[str, str]:
    """The axes among what was found."""
    named = {
        PACKAGES.get(key.removeprefix("package "), "") if key.startswith("package ") else key: value
        for key, value in found.items()
    }
    return {axis: value for axis, value in named.items() if axis in AXES}


def _cause_of(log: str) -> Cause:
    if "No module named" in log:
        return Cause.MISSING_PACKAGE
    return Cause.MISSING_LIBRARY if "cannot open shared object file" in log else Cause.BUILD
