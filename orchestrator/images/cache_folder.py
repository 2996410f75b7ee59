"""A folder of the cache that is there whole or not at all: for others, after a kill, and after the power was lost."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator import disk
from orchestrator.images.command import locked


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder to fill, which becomes `folder` at the end of the block, all of it on the disk by then.

    When the block fails, nothing is left; what a maker that was killed left goes with the next try. One that somebody
    else made meanwhile stays as it is.
    """
    half = folder.with_name(f".half-{folder.name}")
    with locked(folder.parent.with_suffix(".lock")):
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(parents=True)
        try:
            yield half
            if not folder.is_dir():
                disk.sync_below(half)
                half.rename(folder)
                disk.sync(folder.parent)
        finally:
            shutil.rmtree(half, ignore_errors=True)
