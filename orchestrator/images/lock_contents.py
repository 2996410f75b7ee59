"""Whether what a lock holds can be the image of some axes, from the lock alone: no index, no mirror, no site is asked.

A lock that was gutted, edited or merged into something else is found here, before anything is built of it. What the
resolver was asked for must be in it, in the version and for the Python and platform that it was asked for; what it
says of one thing in two places must agree.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from orchestrator.axes import AXES, matches, problem_with
from orchestrator.images.bases import find_base, glibc
from orchestrator.images.failure import StageFailed
from orchestrator.images.lock import asked_of
from orchestrator.images.locks import LockedBase, LockedWheel, LockFile
from orchestrator.images.resolve import platform_tag

if TYPE_CHECKING:
    from packaging.tags import Tag

Axes = Mapping[str, str]
_OLDEST = 5  # manylinux_2_5, which was manylinux1: https://peps.python.org/pep-0600/#legacy-manylinux-tags
_LEGACY = ("manylinux1", "manylinux2010", "manylinux2014", "linux")
_BROUGHT = {"python3": "python", "python3-torch": "torch"}  # what of a distribution an axis says the version of


def contradictions(held: LockFile, full: Axes) -> Iterator[str]:
    """What in a lock cannot be of image axes that are complete; nothing when all fits. It is of these axes already."""
    wheels = held.wheels.all
    yield from _twice("wheel of", (wheel.name for wheel in wheels))
    yield from _twice("file", (wheel.file for wheel in wheels))
    yield from _twice("SHA-256", (wheel.sha256 for wheel in wheels))
    yield from _torch(held, full)
    yield from _asked(wheels, full)
    tags = _tags(full["python"], full["host_arch"], glibc(full["base"]))
    for wheel in wheels:
        yield from _file(wheel, tags, full)
    yield from base_contradictions(held.base, full)


def _twice(what: str, names: Iterable[str]) -> Iterator[str]:
    yield from (f"it has the {what} {name} {count} times" for name, count in Counter(names).items() if count > 1)


def _torch(held: LockFile, full: Axes) -> Iterator[str]:
    """Torch is where it is looked for: in its own layer, of the build that is asked for, or with the distribution."""
    found = [wheel for wheel in held.wheels.all if wheel.name == "torch"]
    if full["torch_from"] != "wheel":
        yield from (f"it has the wheel {wheel.file}, and torch is to be the distribution's" for wheel in found)
        return
    yield from (f"{wheel.file} is not in the layer of torch" for wheel in found if wheel not in held.wheels.torch)
    build = full["torch_build"]
    for wheel in found if "+" not in full["torch"] else ():
        local = wheel.version.partition("+")[2]
        said = not problem_with(AXES["torch_build"], local)
        # What an index of CUDA builds calls its wheels is its own matter, and PyPI's do not say: the file is asked.
        if (said or not build.startswith("cu")) and not matches("torch_build", build, local):
            yield f"torch {wheel.version} is built for {local or 'it is not said what'}, and {build} is asked for"


def _asked(wheels: Iterable[LockedWheel], full: Axes) -> Iterator[str]:
    """Whatever the resolver was asked for is there, in a version that answers."""
    from packaging.requirements import Requirement

    versions = {wheel.name: wheel.version for wheel in wheels}
    for asked in map(Requirement, asked_of(full)):
        version = versions.get(_canonical(asked.name))
        if version is None:
            yield f"it has no wheel of {asked.name}, and {asked} is asked for"
        elif not asked.specifier.contains(version, prereleases=True):
            yield f"it has {asked.name} {version}, and {asked} is asked for"


def _file(wheel: LockedWheel, tags: "frozenset[Tag]", full: Axes) -> Iterator[str]:
    """A wheel's file is what its entry says, and can be installed in the image."""
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename
    from packaging.version import Version

    try:
        name, version, _, fits = parse_wheel_filename(wheel.file)
    except InvalidWheelFilename:
        yield f"{wheel.file} is no name of a wheel"
        return
    if name != wheel.name or version != Version(wheel.version):
        yield f"{wheel.file} is not {wheel.name} {wheel.version}"
    if tags.isdisjoint(fits):
        needs = f"Python {full['python']} on {full['host_arch']} with glibc {glibc(full['base'])}"
        yield f"{wheel.file} cannot be installed on {needs}"


def base_contradictions(base: LockedBase, full: Axes) -> Iterator[str]:
    """What is wrong with a base: it is another than is asked for, or not all that was locked of it is there."""
    if base.name != full["base"]:
        yield f"its base is {base.name}, and {full['base']} is asked for"
        return
    if base.digest and (base.suite or base.packages):
        yield "its base is an image by digest and bootstrapped too"
    if base.suite:
        yield from _bootstrapped(base, full)
    elif base.packages:
        yield "its distribution packages are of no suite"
    elif not base.digest and _made_here(full):
        yield f"it says nothing of its base, and {base.name} is bootstrapped"


def _bootstrapped(base: LockedBase, full: Axes) -> Iterator[str]:
    if made := _made_here(full):
        if (base.suite, base.architecture) != (made.suite, made.architecture):
            there, asked = (f"{one.suite} for {one.architecture}" for one in (base, made))
            yield f"its base is {there}, and {asked} is asked for"
        if base.include != made.include:
            there, asked = (", ".join(one.include) for one in (base, made))
            yield f"base {base.name} is locked with {there}, and is made with {asked}"
    versions = dict(entry.split("=", 1) for entry in base.packages)
    yield from _twice("package", (entry.split("=", 1)[0] for entry in base.packages))
    if not versions:
        # Made where no mirror answered, a lock has no release either: then any packages are taken, as it was told.
        if full["torch_from"] != "wheel":
            yield f"no distribution package of {base.suite} is locked, and torch is one of them"
        elif base.release or base.date:
            yield f"no distribution package of {base.suite} is locked any more"
        return
    missing = [name for name in base.include if name not in versions]
    yield from (f"it has no distribution package {name}, which is asked for" for name in missing)
    for name, axis in _BROUGHT.items():
        upstream = re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", versions.get(name, ""))
        if upstream and not matches(axis, full[axis], upstream[1]):
            yield f"its {name} is {versions[name]}, and {axis} {full[axis]} is asked for"


def _made_here(full: Axes) -> LockedBase | None:
    """The base as it is bootstrapped anywhere; None where only a site can say what it is."""
    try:
        base = find_base(full, {})
    except StageFailed:
        return None
    return LockedBase(name=base.name, suite=base.suite, architecture=base.architecture, include=base.packages)


@lru_cache(maxsize=64)
def _tags(python: str, architecture: str, libc: str) -> "frozenset[Tag]":
    """What an image takes, as the resolver was told.

    https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/
    """
    from packaging.tags import compatible_tags, cpython_tags

    major, minor = (int(part) for part in python.rstrip("t").split(".")[:2])
    newest = int(platform_tag(architecture, libc).rpartition("_")[2])
    kinds = [*(f"manylinux_2_{number}" for number in range(_OLDEST, newest + 1)), *_LEGACY]
    platforms = [f"{kind}_{architecture}" for kind in kinds]
    name = f"cp{major}{minor}"
    abi = name + ("t" if python.endswith("t") else "")
    found = {*cpython_tags((major, minor), [abi], platforms)}
    return frozenset(found | {*compatible_tags((major, minor), name, platforms)})


def _canonical(name: str) -> str:
    from packaging.utils import canonicalize_name

    return canonicalize_name(name)
