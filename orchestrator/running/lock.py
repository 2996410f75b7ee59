"""One writer a run: a lock that the kernel gives back when its owner dies, however it dies."""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from orchestrator import disk
from orchestrator.engines.owner import is_gone, parse, this_process
from orchestrator.errors import InfrastructureError, InputError
from orchestrator.running import folder

LOCK = "lock"


class Taken(InfrastructureError):  # noqa: N818 - reads as what happened
    """Another process has the run's lock."""


class NotALock(InputError):  # noqa: N818 - reads as what is so
    """What has the name of a run's lock is none of ours: somebody else made it, and it stays as it is."""


_GUARD_S = 30.0
_LOCK_BYTES = 256  # of a pid and an owner
_AS_IT_IS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_TELL_S = 1.0  # a process that has just taken the lock has not told yet who it is


@contextmanager
def held(run: Path) -> Iterator[None]:
    """Holds the run's lock; InfrastructureError with the holder's pid when another process has it, NotALock if none is.

    What the file says is for people only: whether the lock is held is the kernel's word, so a file that a dead
    owner left, or a pid that was given out anew, stops nobody, and a live owner is never robbed. Nothing is left in
    the file by an owner that ended by itself.
    """
    with _until_the_end(_taken(run)):
        yield


@contextmanager
def created(runs: Path) -> Iterator[Path]:
    """A new run folder, whose lock is held from its first moment on, as by `held`; none is made where no lock holds."""
    folder.admit_local(runs)
    folder.make(runs)
    with guarded(runs):
        run = folder.create(runs)
        try:
            descriptor = _taken(run)
        except BaseException:
            with suppress(OSError):
                (run / LOCK).unlink(missing_ok=True)
                run.rmdir()
            raise
    with _until_the_end(descriptor):
        yield run


@contextmanager
def held_again(run: Path) -> Iterator[None]:
    """Holds the lock of a run that is to be resumed, as `held`; InputError, and nothing is written, where none is."""
    if not any((run / name).exists() for name in (LOCK, folder.PLAN)):
        raise InputError("there is no run", place=str(run), hint="`torchmatrix runs ls` shows those that are there")
    folder.admit_local(run)
    with held(run):
        yield


@contextmanager
def held_to_remove(run: Path) -> Iterator[None]:
    """Holds the lock of a run that is to go, as `held`; one that is no lock is held by nobody."""
    with ExitStack() as undo:
        with suppress(NotALock):
            undo.enter_context(held(run))
        yield


def problem_with(run: Path) -> str:
    """Why the lock of a run is none, or an empty text; one that is not there is made by who takes it."""
    try:
        descriptor = os.open(run / LOCK, os.O_RDONLY | _AS_IT_IS)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    try:
        return _problem(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _until_the_end(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.ftruncate(descriptor, 0)
        os.close(descriptor)


@contextmanager
def guarded(runs: Path) -> Iterator[None]:
    """One process at a time makes or removes run folders here; InfrastructureError when one keeps the others waiting.

    So nobody sees a folder between its making and its lock. A file system that has no such lock is left to
    `admit_local`, which refuses it.
    """
    with folder.told(runs):
        descriptor = os.open(runs, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    give_up = time.monotonic() + _GUARD_S
    try:
        with suppress(OSError):
            while not disk.take(descriptor):
                if time.monotonic() > give_up:
                    raise InfrastructureError(
                        "another process keeps this folder of runs locked",
                        place=str(runs),
                        cause="likely it was stopped, with ^Z or by a debugger",
                    )
                time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _taken(run: Path) -> int:
    """The run's lock file, locked, with us in it."""
    path = run / LOCK
    with folder.told(path):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _AS_IT_IS, 0o644)
        except OSError as error:
            if error.errno not in {errno.EISDIR, errno.ELOOP, errno.ENXIO}:
                raise
            raise _no_lock(path, error.strerror or str(error)) from error
    try:
        _take(descriptor, path)
        _admit(descriptor, path)
        with folder.told(path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n{this_process()}\n".encode(), 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _no_lock(path: Path, why: str) -> NotALock:
    return NotALock(
        f"this is not the lock of a run: {why}",
        place=str(path),
        cause="somebody else made it, or it was damaged",
        hint="give another folder, or put it away if it is nobody's",
    )


def _admit(descriptor: int, path: Path) -> None:
    if problem := _problem(descriptor):
        raise _no_lock(path, problem)


def _problem(descriptor: int) -> str:
    """Why what is open is no lock of ours: it is empty, or names its owner, or lost its bytes with the power."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return "it is not a regular file"
    content = os.pread(descriptor, _LOCK_BYTES + 1, 0)
    pid, _, owner = content.decode("ascii", "replace").partition("\n")
    is_told = pid.isdecimal() and (not owner or parse(owner.removesuffix("\n")) is not None)
    is_ours = not content.strip(b"\0") or (is_told and len(content) <= _LOCK_BYTES)
    return "" if is_ours else "something else is written in it"


def _take(descriptor: int, path: Path) -> None:
    """Takes the lock; one that nobody says to hold is asked for a while: who lists runs has it for a moment."""
    give_up = time.monotonic() + _TELL_S
    try:
        while not disk.take(descriptor):
            holder = _holder(descriptor)
            if holder or time.monotonic() > give_up:
                raise Taken(
                    f"process {holder or '(not told)'} is writing this run",
                    place=str(path.parent),
                    hint="wait for it, or stop it and resume the run",
                )
            time.sleep(0.01)
    except OSError as error:
        raise InfrastructureError(
            f"the run folder cannot be locked: {error.strerror}",
            place=str(path.parent),
            cause="a network file system, perhaps",
            hint="give a folder on a local disk with `--runs`",
        ) from error


def _holder(descriptor: int) -> str:
    """The pid of the living process that told that it has the lock; empty when none has told."""
    pid, _, owner = os.pread(descriptor, _LOCK_BYTES, 0).decode("ascii", "replace").strip().partition("\n")
    told = parse(owner)
    return "" if told is None or is_gone(told) else pid
