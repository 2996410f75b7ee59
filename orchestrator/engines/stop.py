"""A request to stop that a signal handler may make and a `select` can wait for."""

import os
import weakref


class Stop:
    """Set once, never cleared.

    A pipe, because `threading.Event.set` takes a lock that the interrupted thread may hold.
    """

    def __init__(self) -> None:
        self._read, self._write = ends = os.pipe()
        # No `__del__`, which a pipe that could not be had, or the exit, would trip.
        weakref.finalize(self, _close, ends)
        self.requested = False

    def request(self) -> None:
        """Ask everything that waits on `fileno` to stop."""
        if not self.requested:
            self.requested = True
            os.write(self._write, b"x")

    def fileno(self) -> int:
        """Readable for good once a stop was requested: nobody reads the byte."""
        return self._read


def _close(ends: tuple[int, int]) -> None:
    for end in ends:
        os.close(end)
