"""Lock files: one an image, in a folder beside the matrix; what is locked is what is built.

A file is named by the image's id and holds the axes, the base with the versions of its distribution packages where it
is bootstrapped here, and each wheel by name, version, file name and SHA-256. It holds no place: wheels are looked for
in the site's indexes when they are needed, so one lock serves every site and no login can stand in it.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from orchestrator import disk, text
from orchestrator.axes import AXES, problem_with
from orchestrator.errors import InputError, refuse_shortage
from orchestrator.images.lock import Lock
from orchestrator.images.lock_bytes import MAX_BYTES, tables
from orchestrator.images.resolve import Wheel

SCHEMA = 1
SUFFIX = ".lock.toml"
_HEAD = """\
# What this image is made of. Written by `torchmatrix lock`, renewed by `torchmatrix lock --upgrade`: commit it.
"""
_WORD = r"^[A-Za-z0-9][A-Za-z0-9._+~!:-]{0,200}$(?!\n)"  # `$` alone takes a line break after it
Word = Annotated[str, Meta(pattern=_WORD)]
WheelFile = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+!-]{0,240}\.whl$(?!\n)")]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
Pinned = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9.+-]{0,100}=[A-Za-z0-9][A-Za-z0-9.+~:-]{0,100}$(?!\n)")]


class LockedWheel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One wheel, wherever it is found."""

    name: Word
    version: Word
    file: WheelFile
    sha256: Sha256


class LockedLayers(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The wheels by layer, each layer by name."""

    torch: tuple[LockedWheel, ...] = ()
    companions: tuple[LockedWheel, ...] = ()
    tools: tuple[LockedWheel, ...] = ()

    @property
    def all(self) -> tuple[LockedWheel, ...]:
        """Those of every layer."""
        return self.torch + self.companions + self.tools


class LockedBase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The base: an image by `digest`, or bootstrapped from a suite that stood at `release` and `date`.

    `include` is what was asked of the distribution, `packages` (`name=version`) everything that came. A base that has
    neither was not to be had where the lock was made, and is any that the site names.
    """

    name: Word
    digest: Annotated[str, Meta(pattern=r"^(sha256:[0-9a-f]{64})?$(?!\n)")] = ""
    suite: str = ""
    architecture: str = ""
    release: str = ""
    date: str = ""
    include: tuple[Word, ...] = ()
    packages: tuple[Pinned, ...] = ()


class LockFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lock file, whole. `digest` is of all the rest: what is taken out by hand, or merged by git, is seen by it."""

    schema: int
    image: str
    axes: Mapping[str, str]
    base: LockedBase
    wheels: LockedLayers
    digest: Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?$(?!\n)")] = ""

    @property
    def proper_digest(self) -> str:
        """The digest that what it holds should have."""
        return text.digest(msgspec.to_builtins(replace(self, digest="")))

    @property
    def versions(self) -> Mapping[str, str]:
        """Package on the index -> version."""
        return {wheel.name: wheel.version for wheel in self.wheels.all}

    @property
    def lock(self) -> Lock:
        """The wheels as a recipe holds them, their places still to be found."""
        return Lock(
            torch=_placeless(self.wheels.torch),
            companions=_placeless(self.wheels.companions),
            tools=_placeless(self.wheels.tools),
        )


def lock_file(image: str, axes: Mapping[str, str], base: LockedBase, held: Lock) -> LockFile:
    """The lock file of an image; where its wheels were found is left behind."""
    layers = LockedLayers(
        torch=_without_place(held.torch), companions=_without_place(held.companions), tools=_without_place(held.tools)
    )
    draft = LockFile(schema=SCHEMA, image=image, axes=dict(axes), base=base, wheels=layers)
    return replace(draft, digest=draft.proper_digest)


def _placeless(wheels: Sequence[LockedWheel]) -> tuple[Wheel, ...]:
    return tuple(
        Wheel(name=wheel.name, version=wheel.version, file=wheel.file, sha256=wheel.sha256, url="") for wheel in wheels
    )


def _without_place(wheels: Sequence[Wheel]) -> tuple[LockedWheel, ...]:
    return tuple(
        LockedWheel(name=wheel.name, version=wheel.version, file=wheel.file, sha256=wheel.sha256)
        for wheel in sorted(wheels, key=lambda wheel: wheel.name)
    )


def place_of_lock(folder: Path, image: str) -> Path:
    """Where the lock of an image lies."""
    return folder / f"{image}{SUFFIX}"


def read_lock(folder: Path, image: str) -> LockFile | None:
    """The lock of an image; None when there is none, InputError when the file is not one."""
    path = place_of_lock(folder, image)
    try:
        return parse(disk.read_regular(path, MAX_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        refuse_shortage(problem, str(path))
        why = problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)
        raise InputError(
            f"is no lock: {text.one_line(why, 200)}",
            place=text.one_line(str(path), 400),
            cause="edited by hand, or merged by git, perhaps",
            hint="`torchmatrix lock` writes a new one",
        ) from problem


def parse(data: bytes) -> LockFile:
    """The lock in the bytes of a file; ValueError says what is wrong with them.

    What it holds can be used by whoever reads it, for whatever image it is: versions have an order, axes are axes.
    """
    found = msgspec.convert(tables(data), LockFile)
    if found.schema != SCHEMA:
        raise ValueError(f"its schema is {found.schema}, this torchmatrix reads {SCHEMA}")
    for name, value in found.axes.items():
        if name not in AXES:
            raise ValueError(f"no axis is named `{text.shown(name)}`")
        if problem := problem_with(AXES[name], value):
            raise ValueError(problem)
    for wheel in found.wheels.all:
        if problem := _problem_with(wheel.name, wheel.version):
            raise ValueError(problem)
    return found


@functools.lru_cache(maxsize=4096)  # the same few stand in every lock of a matrix
def _problem_with(name: str, version: str) -> str:
    from packaging.utils import InvalidName, canonicalize_name
    from packaging.version import InvalidVersion, Version

    try:
        canonical = canonicalize_name(name, validate=True)
        Version(version)
    except InvalidName:
        return f"`{name}` is no name of a package"
    except InvalidVersion:
        return f"`{version}` is no version of {name}"
    # Whoever looks for `torch` would pass `Torch` by.
    return "" if name == canonical else f"`{name}` is written `{canonical}`"


class Held(Struct, frozen=True, kw_only=True):
    """The lock files of a folder; a file that is none of ours any more counts as none."""

    locks: Mapping[str, LockFile]
    unreadable: Mapping[str, InputError]


def held_in(folder: Path) -> Held:
    """What a folder of locks holds."""
    locks: dict[str, LockFile] = {}
    unreadable: dict[str, InputError] = {}
    for image in sorted(path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}")):
        try:
            found = read_lock(folder, image)
        except InputError as problem:
            unreadable[image] = problem
        else:
            locks |= {image: found} if found else {}
    return Held(locks=locks, unreadable=unreadable)


def write_lock(folder: Path, lock: LockFile) -> bool:
    """Writes the lock of an image, whole, unless it is there; whether it was not."""
    path, content = place_of_lock(folder, lock.image), render(lock).encode()
    try:
        if disk.read_regular(path, MAX_BYTES) == content:
            return False
    except OSError:
        folder.mkdir(parents=True, exist_ok=True)
    disk.write(path, content)
    return True


def render(lock: LockFile) -> str:
    """The text of a lock file: the same lock, the same text."""
    lines = [_HEAD + f"schema = {lock.schema}", f"image = {_quoted(lock.image)}"]
    lines += [f"digest = {_quoted(lock.proper_digest)}", "", "[axes]"]
    lines += [f"{name} = {_quoted(value)}" for name, value in sorted(lock.axes.items())]
    lines += ["", "[base]", *_pairs(msgspec.to_builtins(lock.base))]
    for layer, wheels in msgspec.to_builtins(lock.wheels).items():
        for wheel in wheels:
            lines += ["", f"[[wheels.{layer}]]", *_pairs(wheel)]
    if not lock.versions:
        lines += ["", "[wheels]"]
    return "\n".join(lines) + "\n"


def _pairs(table: Mapping[str, str | Sequence[str]]) -> Iterator[str]:
    for name, value in table.items():
        if isinstance(value, str):
            yield f"{name} = {_quoted(value)}"
        else:
            yield "\n".join([f"{name} = [", *(f"    {_quoted(item)}," for item in value), "]"])


def _quoted(value: str) -> str:
    """A TOML basic string, which JSON's are but for the one character that JSON leaves as it is."""
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
