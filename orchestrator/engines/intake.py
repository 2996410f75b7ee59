"""The one way for result files out of a cell: regular files of known names under caps, everything else refused.

The cell is not trusted: what it left may be a link to a file of the host, a FIFO, a device or a sparse file of any
size. A file is opened here only to be made anew.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from orchestrator import text
from orchestrator.engines.log import LOG_FILE
from orchestrator.formats import ATTEMPT, BUNDLE_FILES, CHECKSUMS
from orchestrator.masking import NOTHING, Masker

FILE_BYTES = 64 << 20
TOTAL_BYTES = 128 << 20
_NAMED = 20  # foreign files that are named; the others are counted


class Intake:
    """Writes taken files into a folder; `files` and `refused` say what became of each."""

    def __init__(
        self,
        folder: Path,
        *,
        file_bytes: int = FILE_BYTES,
        total_bytes: int = TOTAL_BYTES,
        masker: Masker = NOTHING,
    ) -> None:
        self._masker = masker
        self._digests: dict[str, str] = {}
        self._folder = folder
        self._file_bytes = file_bytes
        self._room = total_bytes
        self._refused: list[str] = []
        self._foreign = 0
        self.files: tuple[str, ...] = ()

    @property
    def refused(self) -> tuple[str, ...]:
        """`name: why` for each file that was not taken."""
        unnamed = self._foreign - _NAMED
        return (*self._refused, *((f"and {text.counting(unnamed, 'more file')}",) if unnamed > 0 else ()))

    def refuse(self, name: str, why: str) -> None:
        """Note a file that is not taken: each file of a bundle by name, of others the first."""
        self._foreign += name not in BUNDLE_FILES
        if name in BUNDLE_FILES or self._foreign <= _NAMED:
            self._refused.append(f"{text.one_line(name, 120)}: {why}")

    def accepts(self, name: str, kind: str, size: int) -> bool:
        """Whether a file of this name, kind (`file` or what else it is) and size is taken; noted when it is not."""
        if name not in BUNDLE_FILES:
            why = "not a file of a bundle"
        elif kind != "file":
            why = f"a {kind}, not a regular file"
        elif name in self.files:
            why = "there twice"
        elif size > self._file_bytes:
            why = f"{size} bytes, over the cap of {self._file_bytes}"
        elif size > self._room:
            why = f"{size} bytes, over what is left of the cap for all files"
        else:
            return True
        self.refuse(name, why)
        return False

    def take(self, name: str, size: int, chunks: Iterable[bytes]) -> None:
        """Write one accepted file; one that yields another number of bytes than `size` is refused and removed."""
        path = self._folder / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        whole = False
        try:
            with os.fdopen(descriptor, "wb") as file:
                whole = self._copy(chunks, file, size)
        finally:
            if not whole:
                path.unlink()
        if not whole:
            self.refuse(name, f"its {size} bytes did not come out whole")
            return
        self._room -= size
        self.files = (*self.files, name)

    def settle(self) -> None:
        """Once all is taken: a checksum that was right before something was masked in its file is right again."""
        changed = {old: new for old, new in self._digests.items() if old != new}
        if changed and CHECKSUMS in self.files:
            sums = self._folder / CHECKSUMS
            told = sums.read_bytes()
            for old, new in changed.items():
                told = told.replace(old.encode(), new.encode())
            sums.write_bytes(told)

    def _copy(self, chunks: Iterable[bytes], file: BinaryIO, size: int) -> bool:
        """Whether the chunks came to exactly `size` bytes; no more than that is written, secrets masked."""
        masked, came, went = self._masker.stream(), hashlib.sha256(), hashlib.sha256()
        left = size
        for chunk in chunks:
            left -= len(chunk)
            if left < 0:
                return False
            came.update(chunk)
            went.update(certain := masked.feed(chunk))
            file.write(certain)
        went.update(rest := masked.end())
        file.write(rest)
        self._digests[came.hexdigest()] = went.hexdigest()
        return left == 0


def make_ready(folder: Path) -> None:
    """Make the folder, without what an interrupted try at the same attempt left in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*BUNDLE_FILES, ATTEMPT, LOG_FILE):
        (folder / name).unlink(missing_ok=True)
