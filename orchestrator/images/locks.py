"""Lock files: one an image, in a folder beside the matrix; what is locked is what is built.

A file is named by the image's id and holds the axes, the base with the versions of its distribution packages where it
is bootstrapped here, and each wheel by name, version, file name and SHA-256. It holds no place: wheels are looked for
in the site's indexes when they are needed, so one lock serves every site and no login can stand in it.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from orchestrator import text
from orchestrator.errors import InputError
from orchestrator.images.lock import Lock
from orchestrator.images.resolve import Wheel, write_whole

SCHEMA = 1
SUFFIX = ".lock.toml"
_HEAD = """\
# What this image is made of. Written by `torchmatrix lock`, renewed by `torchmatrix lock --upgrade`: commit it.
"""
_MAX_BYTES = 1 << 20
_WORD = r"^[A-Za-z0-9][A-Za-z0-9._+~!:-]{0,200}$"
Word = Annotated[str, Meta(pattern=_WORD)]
WheelFile = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+!-]{0,240}\.whl$")]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
Pinned = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9.+-]{0,100}=[A-Za-z0-9][A-Za-z0-9.+~:-]{0,100}$")]


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


class LockedBase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The base: an image by `digest`, or bootstrapped from a suite that stood at `release` and `date`.

    `include` is what was asked of the distribution, `packages` (`name=version`) everything that came. A base that has
    neither was not to be had where the lock was made, and is any that the site names.
    """

    name: Word
    digest: Annotated[str, Meta(pattern=r"^(sha256:[0-9a-f]{64})?$")] = ""
    suite: str = ""
    architecture: str = ""
    release: str = ""
    date: str = ""
    include: tuple[Word, ...] = ()
    packages: tuple[Pinned, ...] = ()


class LockFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lock file, whole."""

    schema: int
    image: str
    axes: Mapping[str, str]
    base: LockedBase
    wheels: LockedLayers

    @property
    def versions(self) -> Mapping[str, str]:
        """Package on the index -> version."""
        layers = (self.wheels.torch, self.wheels.companions, self.wheels.tools)
        return {wheel.name: wheel.version for layer in layers for wheel in layer}

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
    return LockFile(schema=SCHEMA, image=image, axes=dict(axes), base=base, wheels=layers)


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
        with path.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
        return parse(data)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise InputError(
            f"is no lock: {text.one_line(str(problem), 200)}",
            place=str(path),
            hint="`torchmatrix lock` writes a new one",
        ) from problem


def parse(data: bytes) -> LockFile:
    """The lock in the bytes of a file; ValueError says what is wrong with them."""
    if len(data) > _MAX_BYTES:
        raise ValueError(f"it is larger than {_MAX_BYTES >> 20} MiB")
    found = msgspec.convert(tomllib.loads(data.decode()), LockFile)
    if found.schema != SCHEMA:
        raise ValueError(f"its schema is {found.schema}, this torchmatrix reads {SCHEMA}")
    return found


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
        if path.read_bytes() == content:
            return False
    except OSError:
        folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
    path.chmod(0o644)
    return True


def render(lock: LockFile) -> str:
    """The text of a lock file: the same lock, the same text."""
    lines = [_HEAD + f"schema = {lock.schema}", f"image = {_quoted(lock.image)}", "", "[axes]"]
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
