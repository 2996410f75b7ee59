"""Asks an image what it contains. Nothing is copied from the request; the answer is untrusted text."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from orchestrator import text
from orchestrator.axes import AXES, Where
from orchestrator.images import contents
from orchestrator.images.command import Finished
from orchestrator.images.docker import Docker
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.images.resolve import write_whole
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause

PYTHON = "/opt/venv/bin/python"
_DEADLINE_S = contents.DEADLINE_S + 60.0
_LONGEST = 120
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
    """What the image of that id contains, by axis; asked once for each image and kept. StageFailed (observe)."""
    kept = site.cache / "observed" / f"{text.digest([image, python, script()], 32)}.json"
    try:
        return msgspec.json.decode(kept.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError):
        name = f"torchmatrix-observe-{image.rpartition(':')[2][:12]}"
        answer = read_answer(docker.ask(image, question(python), name, _DEADLINE_S))
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_whole(kept, text.canonical_json(answer))
    return answer


def read_answer(done: Finished) -> dict[str, str]:
    """The axes that an interpreter found; StageFailed (observe) when it found no torch that can be imported."""
    lines = [line for line in done.out.splitlines() if line.startswith(contents.MARK)]
    if done.timed_out or not lines:
        raise StageFailed(
            Stage.OBSERVE,
            "the image did not say in time what it contains" if done.timed_out else "torch cannot be imported",
            log=done.log,
            cause=Cause.HANG if done.timed_out else _cause_of(done.log),
        )
    try:
        found = json.loads(lines[-1][len(contents.MARK) :])
    except ValueError as problem:
        raise StageFailed(Stage.OBSERVE, "the image's answer cannot be read", log=lines[-1][:2000]) from problem
    if not isinstance(found, dict):
        raise StageFailed(Stage.OBSERVE, "the image's answer cannot be read", log=lines[-1][:2000])
    return dict(_axes(found))


def _axes(found: Mapping[str, object]) -> Sequence[tuple[str, str]]:
    pairs = []
    for key, value in found.items():
        axis = PACKAGES.get(key[len("package ") :], "") if key.startswith("package ") else key
        if axis in AXES and isinstance(value, str) and value:
            pairs.append((axis, text.one_line(value, _LONGEST)))
    return pairs


def _cause_of(log: str) -> Cause:
    if "No module named" in log:
        return Cause.MISSING_PACKAGE
    return Cause.MISSING_LIBRARY if "cannot open shared object file" in log else Cause.BUILD
