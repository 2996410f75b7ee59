"""A cell's process watched until its end: its output drained, our deadline, our stop and its memory limit kept."""

import os
import select
import signal
import subprocess
import time
from pathlib import Path

from msgspec import Struct

from orchestrator.engines import quota
from orchestrator.engines.deleted_files import family
from orchestrator.engines.ending import Ending
from orchestrator.engines.log import LogKeeper
from orchestrator.engines.process.tree import kill_marked, memory_used, signal_group
from orchestrator.engines.stop import Stop

LOOK_S = 0.5
_PIECE = 256 << 10
_DRAIN_S = 1.0


class Bounds(Struct, frozen=True, kw_only=True):
    """What is looked at now and then: the bytes of memory that it may hold, and the folder of its results."""

    memory: int
    results: Path


def watch(
    process: subprocess.Popen[bytes],
    marks: dict[str, str],
    within: Bounds,
    log: LogKeeper,
    ending: Ending,
    stop: Stop,
) -> tuple[int, bool]:
    """Feed the log until the process has ended; its return code, and whether it was killed for its memory.

    InfrastructureError when it wrote too much. Nothing of it is left running, except what left its session and cleared
    the marks from its environment: only a container holds that too.
    """
    assert process.stdout is not None
    output = process.stdout.fileno()
    ended = os.pidfd_open(process.pid)
    oom = False
    waiting: list[int] = [output, ended, stop.fileno()]
    next_look = time.monotonic() + LOOK_S
    try:
        while True:
            left = min(ending.left_s(), max(0.0, next_look - time.monotonic()))
            readable, _, _ = select.select(waiting, (), (), left)
            if output in readable and not _feed(output, log):
                waiting.remove(output)
            if ended in readable:
                break
            if stop.fileno() in readable:
                ending.cancel()
                waiting.remove(stop.fileno())
            if (sent := ending.due()) is not None:
                signal_group(process.pid, sent)
            if time.monotonic() >= next_look:
                quota.check(within.results, family(process.pid), f"{within.results.resolve()}/")
                if memory_used(process.pid) > within.memory:
                    oom = True
                    signal_group(process.pid, signal.SIGKILL)
                next_look = time.monotonic() + LOOK_S
    finally:
        os.close(ended)
        signal_group(process.pid, signal.SIGKILL)  # before the wait: after it the number may be another's
        code = process.wait()
        kill_marked(marks)
    until = time.monotonic() + _DRAIN_S
    while output in waiting and select.select([output], (), (), max(0.0, until - time.monotonic()))[0]:
        if not _feed(output, log):
            break
    return code, oom


def _feed(output: int, log: LogKeeper) -> bool:
    piece = os.read(output, _PIECE)
    log.feed(piece)
    return bool(piece)
