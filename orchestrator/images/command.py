"""Runs the tools that make images (uv, mmdebstrap, docker): an argument list, a deadline, a bounded output."""

import contextlib
import fcntl
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from orchestrator.engines.log import LogKeeper, marked
from orchestrator.errors import InfrastructureError, Interrupted

_HEAD_BYTES, _TAIL_BYTES = 1 << 20, 3 << 20
_PIECE_BYTES = 64 << 10
_MOST_LEFT = 32  # pieces that a tool which has ended may have left in its pipes: they take no more
_POLL_S = 0.2
_GRACE_S = 3.0


class Finished(Struct, frozen=True, kw_only=True):
    """What a tool did: its exit code (negative: killed by that signal) and what it wrote, of a flood head and tail."""

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
        try:
            child = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=None if env is None else dict(env),
                cwd=cwd,
                start_new_session=True,
            )
        except OSError as problem:
            raise InfrastructureError(f"cannot start `{argv[0]}`: {problem.strerror}") from problem
        with contextlib.closing(_Outputs(child)) as outputs:
            try:
                timed_out = self._wait(child, outputs, time.monotonic() + deadline_s)
            finally:
                _end(child, outputs)
            out, err = outputs.texts()
            return Finished(code=child.returncode, out=out, err=err, timed_out=timed_out)

    def _wait(self, child: subprocess.Popen[bytes], outputs: "_Outputs", deadline: float) -> bool:
        """Waits for the end; True when the deadline came first."""
        while child.poll() is None:
            outputs.take(_POLL_S)
            self.go_on()
            if time.monotonic() > deadline:
                return True
        return False


class _Outputs:
    """What a tool writes, read as it comes, so that neither memory nor a disk takes more of it than is kept."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self._open = selectors.PollSelector()  # unlike the default one it takes no file of its own
        self._kept: list[LogKeeper] = []
        self._streams = [stream for stream in (child.stdout, child.stderr) if stream is not None]
        for stream in self._streams:
            os.set_blocking(stream.fileno(), False)
            self._kept.append(LogKeeper(_HEAD_BYTES, _TAIL_BYTES))
            self._open.register(stream, selectors.EVENT_READ, self._kept[-1])

    def close(self) -> None:
        """The ends of the pipes that are ours."""
        self._open.close()
        for stream in self._streams:
            stream.close()

    def take(self, patience_s: float) -> bool:
        """A piece of each output that has one; waits for that, or for the end, no longer than this. Whether one had."""
        if not self._open.get_map():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(patience_s)
            return False
        ready = self._open.select(patience_s)
        for key, _ in ready:
            if piece := os.read(key.fd, _PIECE_BYTES):
                key.data.feed(piece)
            else:
                self._open.unregister(key.fileobj)
        return bool(ready)

    def texts(self) -> list[str]:
        """Each output, once the tool has ended; nobody waits for what it left running and who could still write."""
        left = _MOST_LEFT
        while left and self.take(0):
            left -= 1
        return [marked(keeper.log(), keeper.left_out) for keeper in self._kept]


def _end(child: subprocess.Popen[bytes], outputs: _Outputs) -> None:
    """Ends the child and what it started: asks, waits, kills. What it has to say of that is heard."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if child.poll() is not None:
            return
        os.killpg(child.pid, number)
        give_up = time.monotonic() + _GRACE_S
        while child.poll() is None and time.monotonic() < give_up:
            outputs.take(_POLL_S)


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """One holder at a time over all processes; the kernel frees the lock when its holder dies."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
