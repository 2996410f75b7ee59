"""How much a cell may write as results, looked at while it runs: what it writes there lies on this machine's disk.

A volume has no quota of its own. One in memory has, and is gone when the last container that uses it stops, so it would
take a second container beside each cell to keep it. Here the folder is measured instead, as far as it can be seen: by
root, with an engine on this machine. Between two looks a cell can write past the bound by what the disk takes.
"""

import errno
import os
from pathlib import Path

from orchestrator.errors import InfrastructureError

RESULTS_BYTES = 1 << 30  # eight times what is ever taken out of it
_ENTRY_BYTES = 4096  # of each, at least: empty files take room too


def check(results: Path) -> None:
    """InfrastructureError when more than the bound is allocated below the folder; one that is not seen holds none."""
    if used(results, RESULTS_BYTES) > RESULTS_BYTES:
        raise InfrastructureError(
            f"the cell wrote more than {RESULTS_BYTES >> 20} MiB into its results folder", cause="it was ended for that"
        )


def used(folder: Path, most: int) -> int:
    """Bytes allocated below a folder that somebody writes to; counting ends above `most`. Links are not followed.

    Folders that are nested deeper than a path can say count as more than `most`.
    """
    total = 0
    waiting = [str(folder)]
    while waiting and total <= most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    total += _allocated(entry)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    if total > most:
                        break
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # nested on purpose: what is below cannot be counted
                return most + 1
            continue  # gone meanwhile, or not ours to see
    return total


def _allocated(entry: "os.DirEntry[str]") -> int:
    try:
        return max(_ENTRY_BYTES, entry.stat(follow_symlinks=False).st_blocks * 512)
    except OSError:
        return _ENTRY_BYTES
