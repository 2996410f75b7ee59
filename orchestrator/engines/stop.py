"""A request to stop that a signal handler may make and a `select` can wait for."""

import os


class Stop:
    """Set once, never cleared.

    A pipe, because `threading.Event.set` takes a lock that the interrupted thread may hold.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self.requested = False

    def request(self) -> None:
        """Ask everything that waits on `fileno` to stop."""
        if not self.requested:
            self.requested = True
            os.write(self._write, b"x")

    def fileno(self) -> int:
        """Readable for good once a stop was requested: nobody reads the byte."""
        return self._read

    def __del__(self) -> None:
        os.close(self._read)
        os.close(self._write)
