"""How much a cell may write as results, looked at while it runs: what it writes there lies on this machine's disk.

A volume has no quota of its own. One in memory has, and is gone when the last container that uses it stops, so it would
take a second container beside each cell to keep it. Here the folder is measured instead, as far as it can be seen: by
root, with an engine on this machine. What is on its way between processes, or from one look to the next, is not seen:
so no cell goes on when its disk is nearly full, whoever fills it.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orchestrator.engines.deleted_files import held_open
from orchestrator.errors import InfrastructureError

RESULTS_BYTES = 1 << 30  # eight times what is ever taken out of it
LEFT_BYTES = 256 << 20  # that stay free on the disk; of a small disk a part of it
_LEFT_PART = 64
_ENTRY_BYTES = 4096  # of each name, at least: empty files and links take room too
_DEEPEST = 64  # folders in each other; each of them is held open while what is in it is counted
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def check(results: Path, processes: Iterable[int] = (), within: str = "/") -> None:
    """InfrastructureError when the cell holds more than the bound, or when little is left on the disk of the folder.

    `processes` are the cell's: their files that have no name any more count too, where the kernel's word for where
    they lay begins with `within`. A folder that is not seen holds nothing.
    """
    if used(results, RESULTS_BYTES, lambda device: held_open(processes, device, within)) > RESULTS_BYTES:
        raise InfrastructureError(
            f"the cell wrote more than {RESULTS_BYTES >> 20} MiB into its results folder", cause="it was ended for that"
        )
    try:
        disk = os.statvfs(results)
    except OSError:
        return
    free, size = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
    if free < min(LEFT_BYTES, size // _LEFT_PART):
        raise InfrastructureError(
            f"No space left on device: {free >> 20} MiB are free where the results folder lies",
            place=str(results),
            cause="this cell or somebody else fills the disk; the cell was ended for that",
        )


def used(folder: Path, most: int, unnamed: Callable[[int], Iterable[os.stat_result]] = lambda _: ()) -> int:
    """Bytes allocated below a folder that somebody writes to, and by what `unnamed` finds on its device.

    What has several names is counted once. No link is followed, and none that is put in a folder's place while we
    look: each folder is opened in the one above it. Counting ends above `most`; folders that are nested deeper than
    anybody needs count as more.
    """
    counting = _Count(most)
    with suppress(OSError), _opened(str(folder), None) as place:
        counting.walk(place, 1)
        for found in () if counting.full else unnamed(os.fstat(place).st_dev):
            counting.add(found, 0)
    return counting.total


class _Count:
    def __init__(self, most: int) -> None:
        self.total = 0
        self._most = most
        self._seen: set[tuple[int, int]] = set()

    @property
    def full(self) -> bool:
        return self.total > self._most

    def add(self, found: os.stat_result, least: int) -> None:
        key = (found.st_dev, found.st_ino)
        self.total += max(least, 0 if key in self._seen else found.st_blocks * 512)
        self._seen.add(key)

    def walk(self, place: int, depth: int) -> None:
        if depth > _DEEPEST:
            self.total = self._most + 1
            return
        with os.scandir(place) as entries:
            for entry in entries:
                with suppress(OSError):  # gone meanwhile, or not ours to see
                    found = entry.stat(follow_symlinks=False)
                    self.add(found, _ENTRY_BYTES)
                    if stat.S_ISDIR(found.st_mode) and not self.full:
                        with _opened(entry.name, place) as inner:
                            self.walk(inner, depth + 1)
                if self.full:
                    return


@contextmanager
def _opened(name: str, within: int | None) -> Iterator[int]:
    """A folder that is no link; OSError where it is none."""
    place = os.open(name, _FOLDER, dir_fd=within)
    try:
        yield place
    finally:
        os.close(place)
