"""Who started a container or a process, written so that it can be told later whether it still lives.

A process id alone is not enough: it is used again. With the time that the process started, the boot of the machine
and the process namespace it names one process for good.
"""

import os
from pathlib import Path

from msgspec import Struct

_START_FIELD = 22 - 3  # of /proc/PID/stat, after the command name: starttime in clock ticks since boot


class Owner(Struct, frozen=True, kw_only=True):
    """One process of one boot."""

    boot: str
    namespace: str
    pid: int
    started: int

    def __str__(self) -> str:
        return f"{self.boot}/{self.namespace}/{self.pid}/{self.started}"


def this_process() -> Owner:
    """The process that asks."""
    pid = os.getpid()
    return Owner(boot=_boot(), namespace=_namespace(), pid=pid, started=_start_time(pid) or 0)


def parse(written: str) -> Owner | None:
    """The owner that was written with `str`, or nothing when the text is no such thing."""
    boot, _, rest = written.partition("/")
    fields = rest.split("/")
    if len(fields) != 3 or not (fields[1].isdecimal() and fields[2].isdecimal()):  # noqa: PLR2004 - what __str__ writes
        return None
    return Owner(boot=boot, namespace=fields[0], pid=int(fields[1]), started=int(fields[2]))


def is_gone(owner: Owner) -> bool:
    """Whether the owner has certainly ended, on this machine.

    An owner in another process namespace (another CI job, say) cannot be looked up from here: it counts as alive.
    """
    if owner.boot != _boot():
        return True
    if owner.namespace != _namespace():
        return False
    return _start_time(owner.pid) != owner.started


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _namespace() -> str:
    return str(os.stat("/proc/self/ns/pid").st_ino)  # noqa: PTH116 - a magic link, not a path to walk


def _start_time(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat[stat.rindex(")") + 2 :].split()  # the command name before it may hold anything
    return None if fields[0] in "ZX" else int(fields[_START_FIELD])
