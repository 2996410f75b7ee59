"""Files without a name that processes still hold: they take room on a disk, and no walk of its folders finds them.

A file that was removed while it is open, or mapped, or that was made without a name. What is only on its way through
a socket from one process to another is held by nobody that could be asked.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_GONE = " (deleted)"  # how the kernel ends the path of what has no name


def family(leader: int) -> tuple[int, ...]:
    """A process and all that came of it; in a container nobody leaves that tree. Empty when it is not there."""
    import psutil

    with suppress(psutil.Error):
        first = psutil.Process(leader)
        return (leader, *(process.pid for process in first.children(recursive=True)))
    return ()


def family_in(init: int, place: str, folder: Path) -> tuple[int, ...]:
    """The family of a container's first process, where that number is a process that has the folder at `place`.

    An engine in another process namespace than ours, or on another machine, tells numbers that mean others here.
    """
    try:
        is_it = init > 0 and os.path.samestat(os.stat(f"/proc/{init}/root{place}"), folder.stat())  # noqa: PTH116
    except OSError:
        return ()
    return family(init) if is_it else ()


def held_open(processes: Iterable[int], device: int, within: str) -> Iterator[os.stat_result]:
    """The regular files on a device that these processes hold, that have no name, and whose path began with `within`.

    One that is held several times comes several times. What is not ours to see is left out.
    """
    for process in processes:
        for link in (*_open_files(process), *_mapped_files(process)):
            with suppress(OSError):
                told = os.readlink(link)  # noqa: PTH115 - not a path to go on with
                if told.startswith(within) and told.endswith(_GONE):
                    found = os.stat(link)  # noqa: PTH116 - a magic link: what is held, wherever its name led
                    if found.st_nlink == 0 and found.st_dev == device and stat.S_ISREG(found.st_mode):
                        yield found


def _open_files(process: int) -> list[str]:
    with suppress(OSError), os.scandir(f"/proc/{process}/fd") as entries:
        return [entry.path for entry in entries]
    return []


def _mapped_files(process: int) -> list[str]:
    """The maps whose file is gone; looked at one by one only where there are any: a process has thousands of others."""
    with suppress(OSError), open(f"/proc/{process}/maps", errors="replace") as maps:  # noqa: PTH123 - read by lines
        return [f"/proc/{process}/map_files/{line.split()[0]}" for line in maps if line.rstrip("\n").endswith(_GONE)]
    return []
