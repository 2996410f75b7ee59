"""The crash tests' hook: what happens to this process once a line of the journal is reached. Off unless asked for.

    TORCHMATRIX_FAULT=commit:begin:2=kill    at the second line that begins a commit

`kill` (also where nothing is named): SIGKILL, once the line is on the disk. `short`: the same, with half of the line
on the disk. `enospc`: the next line of the journal, and the next file of the run's folder, find the disk full.
`pause`: this process stops itself, so that the test can change the world at exactly this point before it lets it go on.
"""

import errno
import os
import signal

from orchestrator.vocabulary import Step

VARIABLE = "TORCHMATRIX_FAULT"
JOURNAL, FOLDER = "journal", "folder"  # the two writers that can be made to find no room

_full: set[str] = set()


class Fault:
    """The one fault of a process, as `VARIABLE` asks for it."""

    def __init__(self, asked: str) -> None:
        point, _, kind = asked.partition("=")
        self._point, _, count = point.rpartition(":") if point.count(":") > 1 else (point, "", "1")
        self._left = int(count) if count.isdigit() else 1
        self._kind = kind or "kill"

    def at(self, step: Step, state: str) -> str:
        """The kind of the fault when the next line is the one that was asked for, else an empty text."""
        if self._point != f"{step}:{state}":
            return ""
        self._left -= 1
        return self._kind if self._left == 0 else ""


def strike(kind: str) -> None:
    """Makes a fault of this kind come true now."""
    if kind in {"kill", "short"}:
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == "pause":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif kind == "enospc":
        _full.update((JOURNAL, FOLDER))


def room_for(writer: str) -> None:
    """OSError, once, when the disk was made to look full for this writer."""
    if writer in _full:
        _full.discard(writer)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
