"""A file at an address, read in parts: enough for the table of contents of an archive and one file in it."""

import io
import re
from typing import TYPE_CHECKING

from orchestrator.images.remote import opened
from orchestrator.settings import Site

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PART = 512 << 10
_PARTIAL = 206
_SIZE = re.compile(r"[0-9]{1,18}")


def ranged(url: str, site: Site) -> io.BufferedReader:
    """The file, seekable; OSError when it cannot be had, or not in parts."""
    return io.BufferedReader(_Ranged(url, site), _PART)


class _Ranged(io.RawIOBase):
    """Each read is a request."""

    def __init__(self, url: str, site: Site) -> None:
        self._url, self._site, self._at = url, site, 0
        self._size = self._asked(0, 1)[1]

    def _asked(self, start: int, size: int) -> tuple[bytes, int]:
        """A part of the file, and the size of the whole."""
        with opened(self._url, self._site, {"Range": f"bytes={start}-{start + size - 1}"}) as answer:
            whole = str(getattr(answer, "headers", {}).get("Content-Range", "")).rpartition("/")[2]
            if getattr(answer, "status", 0) != _PARTIAL or not _SIZE.fullmatch(whole):
                raise OSError("the place does not give files in parts")
            return answer.read(size), int(whole)

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves to a place in the file."""
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence])
        return self._at

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Reads what fits, from where it stands."""
        room = memoryview(buffer)
        size = min(room.nbytes, self._size - self._at)
        if size <= 0:
            return 0
        data, _ = self._asked(self._at, size)
        room[: len(data)] = data
        self._at += len(data)
        return len(data)
