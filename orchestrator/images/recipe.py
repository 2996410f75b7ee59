"""Recipes: everything that an image is made of, under one digest, which is its name."""

import re
from collections.abc import Mapping

from msgspec import Struct

from orchestrator import text
from orchestrator.axes import AXES, axis_named, image_axes, image_id, platform, problem_with
from orchestrator.errors import InputError, InputErrors
from orchestrator.images import containerfile
from orchestrator.images.bases import Base, find_base
from orchestrator.images.failure import StageFailed
from orchestrator.images.lock import Lock, companions
from orchestrator.images.packages import Package
from orchestrator.images.resolve import Wheel

Axes = Mapping[str, str]


class Recipe(Struct, frozen=True, kw_only=True):
    """An image to be: `digest` covers the text, the templates behind it, the base, the wheels and the packages.

    The build tools (BuildKit, uv) are not in it: they carry what the digest names into the image and stay outside.
    """

    id: str
    platform: str
    axes: Axes
    base: Base
    containerfile: str
    templates: str
    lock: Lock
    packages: tuple[Package, ...]

    @property
    def wheels(self) -> tuple[Wheel, ...]:
        """Every wheel of the image."""
        return self.lock.wheels

    @property
    def digest(self) -> str:
        """64 hex digits; another byte anywhere is another digest."""
        return text.digest(
            {
                "containerfile": self.containerfile,
                "templates": self.templates,
                "base": [self.base.ref, self.base.key],
                "wheels": {layer: [wheel.identity for wheel in held] for layer, held in self.lock.layers.items()},
                "packages": [package.identity for package in self.packages],
            }
        )

    @property
    def name(self) -> str:
        """`torchmatrix/<readable>:<12 hex digits of the digest>`, as an engine takes it."""
        readable = re.sub(r"[.-]*-[.-]*", "-", text.slug(self.id.rpartition("-")[0].lower()))
        return f"torchmatrix/{readable}:{self.digest[:12]}"


def render(axes: Axes, bases: Mapping[str, str] | None = None) -> str:
    """The Containerfile of a combination: pure, no network. `bases` are the images that the site names.

    InputErrors when a value does not fit its axis. A base that neither the site names nor this host can make is
    written as a name to be replaced, so that the rest can be read; building it fails and says what to set.
    """
    full = checked(axes)
    try:
        base = find_base(full, bases or {})
    except StageFailed:
        base = Base(name=full["base"], ref=f"site-base/{full['base']}-py{full['python']}")
    return write(full, base)


def write(full: Axes, base: Base) -> str:
    """The Containerfile for image axes that are complete and checked, on that base."""
    beside = [f"{name} {version}" for name, version in companions(full).items()]
    distribution = full["torch_from"] == "distribution"
    values = containerfile.Values(
        image_id=image_id(full),
        base=base.ref,
        python=full["python"],
        torch=full["torch"],
        torch_build=full["torch_build"],
        distribution=distribution,
        companions=tuple(beside if distribution or "numpy" in full else [*beside, "numpy"]),
        cuda_compat=full.get("cuda_compat", ""),
        compute_runtime=full.get("compute_runtime", ""),
        level_zero=full.get("level_zero", ""),
    )
    return containerfile.fill(f"{platform(full)}.Containerfile.j2", values)


_NEEDED = ("torch", "torch_build", "python")


def checked(axes: Axes) -> dict[str, str]:
    """The image axes of a combination, defaults too, each checked against its grammar once more; else InputErrors."""
    problems = [
        InputError(problem) for name, value in axes.items() if (problem := problem_with(axis_named(name), value))
    ]
    problems += [InputError(f"an image needs a value of `{name}`") for name in _NEEDED if name not in axes]
    if "image" in axes:
        problems.append(InputError("a ready image has no Containerfile"))
    if problems:
        raise InputErrors(problems)
    return {name: value for name, value in image_axes(axes).items() if name in AXES}
