"""The engine's attach stream: frames of stdout and stderr, cut anywhere by the connection."""

from collections.abc import Iterator

_HEADER = 8  # stream number, three zero bytes, length in network order


class Frames:
    """Takes the stream in any pieces, gives back what the cell printed; holds at most one header."""

    def __init__(self) -> None:
        self._header = bytearray()
        self._left = 0

    def payloads(self, data: bytes) -> Iterator[bytes]:
        """The payload bytes in the next piece, stdout and stderr in the order in which they came."""
        view = memoryview(data)
        while view:
            if self._left:
                yield bytes(view[: self._left])
                taken = min(self._left, len(view))
                self._left -= taken
            else:
                taken = min(_HEADER - len(self._header), len(view))
                self._header += view[:taken]
                if len(self._header) == _HEADER:
                    self._left = int.from_bytes(self._header[4:], "big")
                    self._header.clear()
            view = view[taken:]
