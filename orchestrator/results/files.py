"""Files at the edge of this room: reading what a container left, writing what readers will trust.

A file is read only when it is a plain one under its cap; nothing here follows a link, opens a pipe or a device, or
reads a file that is also known by another name. A file is written whole or not at all.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from orchestrator import disk
from orchestrator.errors import InfrastructureError, InputError, refuse_shortage

MIB = 1 << 20
_SCRATCH = re.compile(r"\.torchmatrix-merge-[a-z0-9_]{8}")  # as tempfile ends a name


class Refused(Exception):  # noqa: N818 - reads as what happened; never leaves this room
    """A file that is there and is not read; the text says why."""


def open_plain(path: Path, cap: int) -> BufferedReader:
    """The open file; FileNotFoundError when there is none, Refused when it is not plain or over `cap` bytes.

    InfrastructureError when this machine can open no further file at all: that says nothing about this one.
    """
    try:
        # O_NONBLOCK: opening a FIFO without a writer would wait for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        refuse_shortage(error, str(path))
        raise Refused(f"cannot be opened as a plain file: {error.strerror}") from error
    found = os.fstat(descriptor)
    reason = ""
    if not stat.S_ISREG(found.st_mode):
        reason = "is not a plain file"
    elif found.st_nlink != 1:
        reason = "is a hard link: it has another name"
    elif found.st_size > cap:
        reason = f"has {found.st_size} bytes, the cap is {cap}"
    if reason:
        os.close(descriptor)
        raise Refused(reason)
    return os.fdopen(descriptor, "rb")


def read_plain(path: Path, cap: int) -> bytes:
    """The bytes of a plain file; raises as `open_plain` does, also when the file grew over the cap meanwhile."""
    with open_plain(path, cap) as file:
        data = file.read(cap + 1)
    if len(data) > cap:
        raise Refused(f"has more than {cap} bytes, the cap")
    return data


@contextmanager
def replacing(
    path: Path, *, mode: int = 0o644, new: bool = False, last: Callable[[], None] = lambda: None
) -> Iterator[Path]:
    """`disk.replacing`, in errors for the user: InputError when there is a file although it is to be `new`.

    InfrastructureError names the path and the free bytes when the disk refuses.
    """
    with _told(path):
        try:
            with disk.replacing(path, mode=mode, new=new, last=last) as half:
                yield half
        except FileExistsError as error:
            if not new:
                raise
            raise InputError("there is a file already", place=str(path), hint="another name, or `--force`") from error


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A new folder in `folder`, gone when the block ends: for what is too large for memory."""
    with _told(folder), tempfile.TemporaryDirectory(prefix=".torchmatrix-merge-", dir=folder) as name:
        yield Path(name)


def remove_halves(folder: Path, names: Iterable[str]) -> None:
    """Removes what a writer of these files left in a folder when it was killed; for who alone writes there."""
    with _told(folder):
        if folder.is_dir():
            disk.remove_halves(folder, frozenset(names).__contains__)
            for aside in folder.iterdir():
                if _SCRATCH.fullmatch(aside.name) and aside.is_dir() and not aside.is_symlink():
                    shutil.rmtree(aside)


def check_name(folder: Path) -> None:
    """InputError when the name of the folder is no text: DuckDB, which writes the metrics there, takes no other."""
    try:
        str(folder.absolute()).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            "the name of the folder is not in UTF-8", place=str(folder), hint="give another folder"
        ) from error


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unwritable(path, error.strerror or str(error)) from error


def unwritable(path: Path, why: str) -> InfrastructureError:
    """The error for a file that cannot be written, with the bytes that are free beside it."""
    try:
        free = f"{shutil.disk_usage(path.parent).free} bytes are free there"
    except OSError:
        free = "its folder is not there"
    return InfrastructureError(f"cannot be written: {why}", place=str(path), cause=free)
