"""One writer a run: a lock that the kernel gives back when its owner dies, however it dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.errors import InfrastructureError
from orchestrator.running import folder

LOCK = "lock"


@contextmanager
def held(run: Path) -> Iterator[None]:
    """Holds the run's lock; InfrastructureError with the holder's pid when another process has it.

    The pid in the file is for people only: whether the lock is held is the kernel's word, so a file that a dead
    owner left, or a pid that was given out anew, stops nobody, and a live owner is never robbed.
    """
    path = run / LOCK
    with folder.told(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        _take(descriptor, path)
        with folder.told(path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        raise InfrastructureError(
            f"process {pid if pid.isdigit() else '(not yet told)'} is writing this run",
            place=str(path.parent),
            hint="wait for it, or stop it and resume the run",
        ) from None
    except OSError as error:
        raise InfrastructureError(
            f"the run folder cannot be locked: {error.strerror}",
            place=str(path.parent),
            cause="a network file system, perhaps",
            hint="give a folder on a local disk with `--runs`",
        ) from error
