"""Results out of a folder that a cell wrote: opened without following or waiting, then looked at."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from orchestrator.engines.intake import Intake
from orchestrator.errors import InfrastructureError

_PIECE = 256 << 10
_KINDS = {
    stat.S_IFLNK: "symbolic link",
    stat.S_IFDIR: "folder",
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


def collect(results: Path, intake: Intake) -> None:
    """Offer each file in the results folder to the intake, in the order of the names."""
    try:
        folder = os.open(results, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise InfrastructureError(
            "the results folder cannot be read", place=str(results), cause=str(error.strerror)
        ) from error
    try:
        for name in sorted(os.listdir(folder)):  # noqa: PTH208 - a descriptor, so that nothing can be put in the path
            _offer(folder, name, intake)
    finally:
        os.close(folder)


def _offer(folder: int, name: str, intake: Intake) -> None:
    seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not intake.accepts(name, _kind(seen), seen.st_size):
        return
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        opened = os.fstat(file)
        if _kind(opened) != "file" or opened.st_size != seen.st_size:
            intake.refuse(name, "it changed while it was looked at")
            return
        intake.take(name, opened.st_size, _pieces(file, opened.st_size))
    finally:
        os.close(file)


def _kind(seen: os.stat_result) -> str:
    if stat.S_ISREG(seen.st_mode):
        return "file" if seen.st_nlink == 1 else "hard link"
    return _KINDS.get(stat.S_IFMT(seen.st_mode), "entry of an unknown kind")


def _pieces(file: int, size: int) -> Iterator[bytes]:
    """The file's bytes, at most one piece more than `size`."""
    left = size
    while left >= 0 and (piece := os.read(file, _PIECE)):
        left -= len(piece)
        yield piece
