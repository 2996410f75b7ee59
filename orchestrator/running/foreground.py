"""One command in the foreground of a terminal, and what becomes of it when the terminal is closed.

Whoever opens it makes folders and files first, which must not stay: from `hold` on a signal is noted, and cuts nothing
off. All of what was made is removed on the way out, whatever ended the command.
"""

import os
import select
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from orchestrator.engines.stop import Stop
from orchestrator.errors import Interrupted
from orchestrator.running.signals import SIGNALS, heard, interrupt

_GRACE_S = 3.0


class Foreground:
    """What SIGTERM and SIGHUP do to us, and ^C until the command runs: then that is the command's own business."""

    def __init__(self) -> None:
        self._stop = Stop()
        self._held = False
        self._running = False

    def hold(self) -> None:
        """From here on a signal is noted, and acted on by `run`."""
        self._held = True

    def run(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path | None = None) -> int:
        """The command's exit code, as a shell has it; Interrupted when we were asked to close, with the command ended.

        The command is told as by a terminal that is closed, and killed when it does not end by that.
        """
        self._held = self._running = True
        if self._closed():
            raise Interrupted("closed before the command was begun")
        with subprocess.Popen(list(argv), env=dict(env), cwd=cwd) as child:
            ended = os.pidfd_open(child.pid)
            try:
                asked, _, _ = select.select((ended, self._stop.fileno()), (), ())
                if ended not in asked:
                    _end(ended)
            finally:
                os.close(ended)
        if self._closed():
            raise Interrupted("closed")
        return child.returncode if child.returncode >= 0 else 128 - child.returncode

    def _closed(self) -> bool:
        return self._stop.requested

    def asked(self, number: int, _frame: FrameType | None) -> None:
        """The handler. It leaves what is being done only where nothing has been made yet."""
        if number == signal.SIGINT and self._running:
            return
        self._stop.request()
        if not self._held:
            interrupt()


def _end(process: int) -> None:
    for number in (signal.SIGHUP, signal.SIGKILL):
        signal.pidfd_send_signal(process, number)
        if select.select((process,), (), (), _GRACE_S)[0]:
            return


@contextmanager
def foreground() -> Iterator[Foreground]:
    """For the main thread, until the end of the block; a signal that was ignored when we began stays ignored."""
    front = Foreground()
    with heard(SIGNALS, front.asked):
        try:
            yield front
        except KeyboardInterrupt:
            raise Interrupted("closed before the command was begun") from None
