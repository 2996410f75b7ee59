"""The processes of a cell: found, measured, ended.

They are found by two variables in their environment, which children inherit even when they leave the session.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress

from orchestrator.engines.owner import Owner, is_gone, parse

RUN = "TORCHMATRIX_RUN"
OWNER = "TORCHMATRIX_OWNER"
CELL = "TORCHMATRIX_CELL"


def token(run_id: str, cell: str, owner: Owner) -> dict[str, str]:
    """The variables that mark a cell's processes."""
    return {RUN: run_id, CELL: cell, OWNER: str(owner)}


def signal_group(leader: int, number: int) -> None:
    """Send a signal to the process group of a child that has not been waited for yet."""
    with suppress(ProcessLookupError):
        os.killpg(leader, number)


def kill_marked(marks: dict[str, str]) -> None:
    """Kill what carries the marks, wherever it went; again while new ones appear."""
    for _ in range(20):
        found = list(_marked(marks))
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def memory_used(leader: int) -> int:
    """Bytes that a process and its children hold: what each has alone, and the largest shared part once."""
    import psutil

    alone, shared = 0, 0
    with suppress(psutil.Error):
        first = psutil.Process(leader)
        for process in (first, *first.children(recursive=True)):
            with suppress(psutil.Error):
                held = process.memory_info()
                alone += held.rss - held.shared
                shared = max(shared, held.shared)
    return alone + shared


def sweep_processes(run_id: str) -> tuple[str, ...]:
    """Kill this user's processes of the run whose owner is gone; `process PID` for each."""
    killed = []
    for pid, environ in _environments():
        owner = parse(environ.get(OWNER, "")) if environ.get(RUN) == run_id else None
        if owner is not None and is_gone(owner):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.append(f"process {pid}")
    return tuple(killed)


def _marked(marks: dict[str, str]) -> Iterator[int]:
    return (pid for pid, environ in _environments() if marks.items() <= environ.items())


def _environments() -> Iterator[tuple[int, dict[str, str]]]:
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.uids().real == os.getuid():
                yield process.pid, process.environ()
