"""How a cell is brought to its end: told to stop, killed, given up."""

import signal
import time

from orchestrator.errors import InfrastructureError

GRACE_S = 3.0  # after SIGTERM: the suite writes what it has
GIVE_UP_S = 20.0  # after SIGKILL: only an engine or a kernel that hangs takes longer


class Ending:
    """When which signal is due. Deadlines are monotonic: a clock that is set does not move them."""

    def __init__(self, deadline_s: float) -> None:
        self.timed_out = False
        self.cancelled = False
        self._next: signal.Signals | None = signal.SIGTERM
        self._due = time.monotonic() + deadline_s

    @property
    def begun(self) -> bool:
        """Whether a signal was sent: what the cell does after that is our doing."""
        return self._next is not signal.SIGTERM

    def left_s(self) -> float:
        """Seconds until something is due."""
        return max(0.0, self._due - time.monotonic())

    def cancel(self) -> None:
        """Stop now, because we were asked to."""
        if not self.begun:
            self.cancelled = True
            self._due = time.monotonic()

    def due(self) -> signal.Signals | None:
        """The signal to send now, if one is due; InfrastructureError when even the last one changed nothing."""
        if self.left_s() > 0:
            return None
        sent = self._next
        if sent is None:
            raise InfrastructureError(
                f"the cell still runs {GIVE_UP_S:g} s after it was killed", cause="the engine or the kernel hangs"
            )
        if sent is signal.SIGTERM:
            self.timed_out = not self.cancelled
            self._next, wait_s = signal.SIGKILL, GRACE_S
        else:
            self._next, wait_s = None, GIVE_UP_S
        self._due = time.monotonic() + wait_s
        return sent
