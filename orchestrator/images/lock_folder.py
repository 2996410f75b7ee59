"""The folder of locks while it is written: one writer at a time, and nothing left of those that were killed."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator import disk, text
from orchestrator.errors import InfrastructureError
from orchestrator.images.locks import SUFFIX


@contextmanager
def alone_in(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Has the folder for this process, made where it is missing; waits, and says so, while another has it.

    Locks are resolved together, so the files of two writers would be of two answers. The kernel frees the folder when
    its holder dies, and what that one had half written is removed. InfrastructureError when it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        raise InfrastructureError(
            f"locks cannot be written: {problem.strerror}", place=text.one_line(str(folder), 400)
        ) from problem
    try:
        if _taken(descriptor, folder, say):
            disk.remove_halves(folder, lambda name: name.endswith(SUFFIX))
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int, folder: Path, say: Callable[[str], None]) -> bool:
    """Takes the folder; False on a file system that has no locks: there each file is whole by itself all the same."""
    try:
        if not disk.take(descriptor):
            say(f"another `torchmatrix lock` writes {text.one_line(str(folder))}: waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:
        return False
    return True
