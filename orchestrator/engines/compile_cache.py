"""A compile cache as one attempt has it: a copy of what earlier cells left, and a place for what this one leaves.

A cell never sees the kept folder itself, and what it leaves is taken only as plain files under bounds: all or nothing.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from msgspec import Struct

MOST_BYTES = 512 << 20  # of one cell's cache
MOST_FILES = 20_000
_LONGEST = 400  # of a path in it
_PIECE = 1 << 20
_PASSING = (".lock", ".tmp")  # of no use to the next cell


class CompileCache(Struct, frozen=True, kw_only=True):
    """`kept` holds files to begin with, `taken` receives those of a cell that ended well: both are folders of ours.

    `work` is where the cell's own copy lies when it runs without a container: the same path each time, because some
    compilers write the path of their cache into what they make.
    """

    kept: Path | None
    taken: Path
    work: Path


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Each plain file below the folder by its path in it, sorted; no link is followed or given."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(folder).as_posix(), path


def copy(source: Path | None, target: Path) -> None:
    """Make `target` anew, with the files of `source`."""
    remove(target)
    target.mkdir(parents=True)
    for name, path in files(source) if source else ():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)


def remove(folder: Path) -> None:
    """Remove a folder that a cell wrote to."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


class Taking:
    """Takes the files of a cache into a folder. `whole` turns false at the first that cannot be taken."""

    def __init__(self, folder: Path, *, most_bytes: int = MOST_BYTES, most_files: int = MOST_FILES) -> None:
        self._folder = folder
        self._bytes = most_bytes
        self._files = most_files
        self.whole = True

    def accepts(self, name: str, kind: str, size: int) -> bool:
        """Whether the file of this path is to be taken; one that should not be there spoils all."""
        if kind == "folder" or name.endswith(_PASSING):
            return False
        path = PurePosixPath(name)
        plain = kind == "file" and not path.is_absolute() and ".." not in path.parts and 0 < len(name) <= _LONGEST
        self._bytes -= max(size, 1)
        self._files -= 1
        self.whole = self.whole and plain and self._bytes >= 0 and self._files >= 0
        return self.whole

    def take(self, name: str, size: int, chunks: Iterable[bytes]) -> None:
        """Write one accepted file of exactly `size` bytes."""
        path = self._folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                for chunk in chunks:
                    size -= len(chunk)
                    if size < 0:
                        break
                    file.write(chunk)
        except OSError:  # a name twice, a file where a folder should be, a full disk
            size = -1
        self.whole = self.whole and size == 0


def take_folder(source: Path, taking: Taking) -> None:
    """Take the files of a folder that a cell without a container wrote to."""
    for place, folders, names in os.walk(source):
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in sorted([*names, *links]):
            _offer(Path(place, name), source, taking)
            if not taking.whole:
                return


def _offer(path: Path, source: Path, taking: Taking) -> None:
    seen = path.lstat()
    is_plain = path.is_file() and not path.is_symlink() and seen.st_nlink == 1
    name = path.relative_to(source).as_posix()
    if not taking.accepts(name, "file" if is_plain else "entry of another kind", seen.st_size):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        taking.take(name, seen.st_size, iter(lambda: file.read(_PIECE), b""))
