"""Wheels on this host: fetched once, kept by their SHA-256, never trusted without it."""

import hashlib
import lzma
import os
import re
import shutil
import struct
import time
import zipfile
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from orchestrator import disk, text
from orchestrator.axes import AXES, matches, problem_with
from orchestrator.images.command import Commands
from orchestrator.images.failure import Stage, StageFailed, at, stale
from orchestrator.images.ranged import ranged
from orchestrator.images.remote import opened
from orchestrator.images.resolve import Wheel
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause

_AT_ONCE = 4
_TRIES = 3
_CHUNK = 1 << 20
# What zipfile raises at one that is damaged, or made to hurt: a RuntimeError at one that is encrypted. An OSError is
# told apart from these: the place may only not give parts.
_BROKEN: tuple[type[Exception], ...] = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError)
_BROKEN += (ValueError, LookupError, OverflowError, RuntimeError)


def place_of(wheel: Wheel, site: Site) -> Path:
    """Where a wheel is kept."""
    if not text.is_file_name(wheel.file):
        raise StageFailed(Stage.WHEELS, f"`{text.one_line(wheel.file, 80)}` is no name of a wheel")
    return site.cache / "wheels" / wheel.sha256[:2] / wheel.sha256 / wheel.file


def fetch(wheels: Sequence[Wheel], site: Site, commands: Commands, say: Callable[[str], None]) -> None:
    """Has every wheel on this host; StageFailed (wheels) naming the one that could not be had."""
    missing = [wheel for wheel in wheels if not place_of(wheel, site).is_file()]
    if not missing:
        return
    say(f"wheels: fetching {', '.join(f'{wheel.name} {wheel.version}' for wheel in missing)}")
    with at(Stage.WHEELS), ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(lambda wheel: _fetch(wheel, site, commands), missing):
            pass


def _fetch(wheel: Wheel, site: Site, commands: Commands) -> None:
    target = place_of(wheel, site)
    target.parent.mkdir(parents=True, exist_ok=True)
    problem: Exception | None = None
    for attempt in range(_TRIES):
        time.sleep(attempt)
        try:
            _copy(wheel, target, site, commands)
        except OSError as error:
            problem = error
        else:
            return
    place = urlsplit(wheel.url).hostname or wheel.url
    raise StageFailed(
        Stage.WHEELS,
        f"{wheel.name} {wheel.version} could not be fetched from {place}",
        log=f"{wheel.file}: {problem}",
    )


def _copy(wheel: Wheel, target: Path, site: Site, commands: Commands) -> None:
    """Copies to a file of its own, checks the hash, then gives it its name; what a kill left of it goes first."""
    seen = hashlib.sha256()
    disk.remove_halves(target.parent, target.name.__eq__)
    with disk.replacing(target) as half:
        with opened(wheel.url, site) as source, half.open("wb") as file:
            while chunk := source.read(_CHUNK):
                commands.go_on()
                seen.update(chunk)
                file.write(chunk)
        if seen.hexdigest() != wheel.sha256:
            raise stale(
                Stage.WHEELS,
                f"{wheel.file} is not the file that was locked: SHA-256 {seen.hexdigest()}, not {wheel.sha256}",
            )


def check_torch(wheels: Sequence[Wheel], build: str, site: Site) -> None:
    """That the torch wheel is of the asked build, by the version that it will report; StageFailed otherwise."""
    for wheel in wheels:
        found = _build_of(wheel, site) or _said_build(wheel) if wheel.name == "torch" else ""
        if found and not matches("torch_build", build, found):
            raise StageFailed(
                Stage.WHEELS,
                f"{wheel.file} is built for {found}, but {build} was asked for",
                cause=Cause.VERSION_MISMATCH,
                hint=f"set the index that has torch for {build}: indexes: {{{build}: URL}}",
            )


def _build_of(wheel: Wheel, site: Site) -> str:
    """The build of a torch wheel: read from the file where it is here, else from parts of it where it lies.

    Empty when it is not here and its place does not give parts: what is fetched is looked at again.
    """
    here = place_of(wheel, site)
    if here.is_file():
        with at(Stage.WHEELS):
            return torch_build(here)
    place = urlsplit(wheel.url)
    try:
        if place.scheme == "file":
            return torch_build(Path(unquote(place.path)))
        with ranged(wheel.url, site) as file:
            return torch_build(file)
    except OSError:
        return ""


def _said_build(wheel: Wheel) -> str:
    """The build that a wheel's version names, as `2.13.0+cu130` does; empty when it names none."""
    local = wheel.version.partition("+")[2]
    return "" if problem_with(AXES["torch_build"], local) else local


def torch_build(file: Path | BinaryIO) -> str:
    """The build that a torch wheel will report (`cpu`, `cu130`, …), whatever its file is called; empty when unsaid."""
    try:
        with zipfile.ZipFile(file) as archive:
            version = _start_of("torch/version.py", archive)
    except _BROKEN as problem:
        name = file.name if isinstance(file, Path) else "what the index has"
        raise StageFailed(Stage.WHEELS, f"{name} is no wheel", log=str(problem)) from problem
    said = re.search(r"^__version__ = '[^+']*\+([a-z0-9.]+)", version, re.MULTILINE)
    return said[1] if said else ""


def _start_of(name: str, archive: zipfile.ZipFile) -> str:
    """The first MiB of a file in an archive, however much it would unpack to; empty when it is not there."""
    if name not in archive.namelist():
        return ""
    with archive.open(name) as file:
        return file.read(_CHUNK).decode()


def lay_out(wheels: Sequence[Wheel], folder: Path, site: Site) -> None:
    """Puts wheels into a folder as hard links, beside a `lock.txt` that pip and uv read."""
    folder.mkdir(parents=True)
    for wheel in wheels:
        link(place_of(wheel, site), folder / wheel.file)
    lines = [f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n" for wheel in wheels]
    (folder / "lock.txt").write_text("".join(lines))


def link(source: Path, target: Path) -> None:
    """A hard link, or a copy where the file system has none."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
