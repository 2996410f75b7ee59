"""Files at the edge of this room: reading what a container left, writing what readers will trust.

A file is read only when it is a plain one under its cap; nothing here follows a link, opens a pipe or a device, or
reads a file that is also known by another name. A file is written whole or not at all.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path

from orchestrator.errors import InfrastructureError, InputError

MIB = 1 << 20


class Refused(Exception):  # noqa: N818 - reads as what happened; never leaves this room
    """A file that is there and is not read; the text says why."""


def open_plain(path: Path, cap: int) -> BufferedReader:
    """The open file; FileNotFoundError when there is none, Refused when it is not plain or over `cap` bytes."""
    try:
        # O_NONBLOCK: opening a FIFO without a writer would wait for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
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
def replacing(path: Path, *, mode: int = 0o644, new: bool = False) -> Iterator[Path]:
    """A new empty file in the same folder, which takes the place of `path` when the block ends well.

    What was there stays until then, and stays when the block fails. The file has its `mode` before it has its name, so
    no kill leaves it with another. With `new` nothing may be there, not even since the block began: InputError.
    InfrastructureError names the path and the free bytes when the disk refuses.
    """
    with _told(path):
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        os.close(descriptor)
    half = Path(name)
    try:
        with _told(path):
            yield half
            half.chmod(mode)
            _sync(half)
            if new:
                _claim(half, path)
            half.replace(path)
            _sync(path.parent)
    finally:
        with suppress(FileNotFoundError):
            half.unlink()


def _claim(half: Path, path: Path) -> None:
    """Gives a file a name that is free, at once; InputError when it is not."""
    try:
        try:
            os.link(half, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links: the name is ours before the file has it
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError as error:
        raise InputError("there is a file already", place=str(path), hint="another name, or `--force`") from error


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A new folder in `folder`, gone when the block ends: for what is too large for memory."""
    with _told(folder), tempfile.TemporaryDirectory(prefix=".scratch-", dir=folder) as name:
        yield Path(name)


def remove_halves(folder: Path, names: Iterable[str]) -> None:
    """Removes what a writer of these files left in a folder when it was killed; for who alone writes there."""
    ours = re.compile(rf"\.(?:scratch|{'|'.join(map(re.escape, names))})-[a-z0-9_]{{8}}")  # as tempfile names them
    with _told(folder):
        for half in folder.iterdir() if folder.is_dir() else ():
            if ours.fullmatch(half.name):
                if half.is_dir() and not half.is_symlink():
                    shutil.rmtree(half)
                else:
                    half.unlink()


def check_name(folder: Path) -> None:
    """InputError when the name of the folder is no text: DuckDB, which writes the metrics there, takes no other."""
    try:
        str(folder.absolute()).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            "the name of the folder is not in UTF-8", place=str(folder), hint="give another folder"
        ) from error


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
