"""Runs the tools that make images (uv, mmdebstrap, docker): an argument list, a deadline, a bounded output."""

import contextlib
import fcntl
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from orchestrator.errors import InfrastructureError, Interrupted

_KEPT_BYTES = 4 << 20
_POLL_S = 0.2
_GRACE_S = 3.0


class Finished(Struct, frozen=True, kw_only=True):
    """What a tool did: its exit code (negative: killed by that signal) and the end of what it wrote."""

    code: int
    out: str
    err: str
    timed_out: bool = False

    @property
    def log(self) -> str:
        """Both outputs, errors last."""
        return "\n".join(part for part in (self.out.rstrip(), self.err.rstrip()) if part)


class Commands:
    """Starts tools in process groups of their own, and ends all of them when asked to stop."""

    def __init__(self) -> None:
        self._stop = threading.Event()

    def stop(self) -> None:
        """Ends what runs and refuses what has not begun: each `run` under way raises Interrupted."""
        self._stop.set()

    def go_on(self) -> None:
        """Interrupted after `stop`; what takes long without a tool asks this now and then."""
        if self._stop.is_set():
            raise Interrupted("stopped before the images were ready")

    def run(
        self,
        argv: Sequence[str],
        *,
        deadline_s: float,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Finished:
        """Runs one tool to its end; InfrastructureError when it cannot be started, Interrupted after `stop`."""
        self.go_on()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                child = subprocess.Popen(
                    list(argv),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env=None if env is None else dict(env),
                    cwd=cwd,
                    start_new_session=True,
                )
            except OSError as problem:
                raise InfrastructureError(f"cannot start `{argv[0]}`: {problem.strerror}") from problem
            try:
                timed_out = self._wait(child, time.monotonic() + deadline_s)
            finally:
                _end(child)
            return Finished(code=child.returncode, out=_kept(out), err=_kept(err), timed_out=timed_out)

    def _wait(self, child: subprocess.Popen[bytes], deadline: float) -> bool:
        """Waits for the end; True when the deadline came first."""
        while True:
            try:
                child.wait(_POLL_S)
            except subprocess.TimeoutExpired:
                self.go_on()
                if time.monotonic() > deadline:
                    return True
            else:
                return False


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends the child and what it started: asks, waits, kills."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if child.poll() is not None:
            return
        os.killpg(child.pid, number)
        try:
            child.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            continue


def _kept(stream: BinaryIO) -> str:
    """The end of what was written, as text."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - _KEPT_BYTES))
    return stream.read().decode(errors="replace")


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """One holder at a time over all processes; the kernel frees the lock when its holder dies."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
