"""What is on the disk whole or not at all: for others, after a kill, and after the power was lost.

A file is written beside its place, under a name that only this module knows, and its writer holds a lock on it: so what
a writer that was killed left can be told from what one that lives is at.
"""

import ctypes
import errno
import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HALF = re.compile(r"\.(.+)\.half-[a-z0-9_]{8}", re.DOTALL)  # as tempfile ends a name
_HERE = -100  # AT_FDCWD of <fcntl.h>: a path is meant as it is
_NOT_OVER = 1  # RENAME_NOREPLACE of <linux/fs.h>


class NotRegular(OSError):  # noqa: N818 - reads as what is so
    """A FIFO, a device or a folder: what would be read of it may never come, or never end."""


def read_regular(path: Path, most: int) -> bytes:
    """The bytes of a regular file, at most `most` and one more; NotRegular, or another OSError when there is none.

    Opened without waiting, looked at, then read: what is no regular file is never read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRegular("it is not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            return stream.read(most + 1)
    finally:
        os.close(descriptor)


def read_bounded(path: Path, most: int) -> bytes:
    """All of a regular file; NotRegular, or another OSError where there is none, or where it has more than `most`."""
    data = read_regular(path, most)
    if len(data) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


def take(descriptor: int) -> bool:
    """Locks what is open, for as long as it stays open; False when another process has it. OSError: it has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sync(path: Path) -> None:
    """Waits until the file, or the names in the folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_below(folder: Path) -> None:
    """The same for a folder with all that is in it."""
    for place, _, files in os.walk(folder, topdown=False):
        for name in files:
            sync(Path(place, name))
        sync(Path(place))


def write(path: Path, data: bytes, mode: int = 0o644) -> None:
    """The file with these bytes; see `replacing`."""
    with replacing(path, mode=mode) as half:
        half.write_bytes(data)


@contextmanager
def replacing(
    path: Path, *, mode: int = 0o644, new: bool = False, last: Callable[[], None] = lambda: None
) -> Iterator[Path]:
    """A new empty file in the same folder, which takes the place of `path` when the block ends well.

    What was there stays until then, and stays when the block fails. The file is on the disk, and has its `mode`, before
    it has its name: no kill leaves half of it, or another mode. `last` is called right before it gets the name, which
    it does not when that raises. With `new` nothing may be there, not even since the block began: FileExistsError.
    """
    descriptor, half = _begun(path)
    try:
        yield half
        half.chmod(mode)
        sync(half)
        last()
        if new:
            _give_free_name(half, path)
        else:
            half.replace(path)
        sync(path.parent)
    finally:
        with suppress(OSError):  # gone already, or on a disk that takes nothing at all
            half.unlink()
        os.close(descriptor)


def remove_halves(folder: Path, ours: Callable[[str], bool]) -> None:
    """Removes what writers that were killed left of the files whose names are `ours`; who still writes keeps his."""
    for name in os.listdir(folder):  # noqa: PTH208 - names are matched
        found = _HALF.fullmatch(name)
        if found and ours(found[1]):
            _remove_left(folder / name)


def _begun(path: Path) -> tuple[int, Path]:
    """A new file for `path`, with our lock on it; one that somebody else took for left, before we had it, is made anew.

    A file system without locks has none: there `remove_halves` removes nothing.
    """
    while True:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.half-", dir=path.parent)
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        if os.fstat(descriptor).st_nlink:
            return descriptor, Path(name)
        os.close(descriptor)


def _remove_left(half: Path) -> None:
    """Removes a plain file that nobody holds; a link, and what we may not open or remove, was not left by us."""
    try:
        descriptor = os.open(half, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                half.unlink()
    finally:
        os.close(descriptor)


def _give_free_name(half: Path, path: Path) -> None:
    """Renames at once, over nothing: FileExistsError otherwise. By a hard link where the file system only has that."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename and rename(_HERE, os.fsencode(half), _HERE, os.fsencode(path), _NOT_OVER) == 0:
        return
    if rename and ctypes.get_errno() == errno.EEXIST:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    os.link(half, path)
