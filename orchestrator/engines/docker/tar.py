"""A tar archive read as a stream, member by member, with bounded memory: header fields are believed only as data.

The standard library's reader keeps every member and reads extended headers of any size whole; this one reads what the
engine writes (ustar with PAX or GNU long names) and calls everything else malformed.
"""

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

_BLOCK = 512
_HEADER_BYTES = 64 << 10  # of one extended header
_PIECE = 256 << 10
_KINDS = {b"0": "file", b"\0": "file", b"7": "file", b"1": "hard link", b"2": "symbolic link", b"5": "folder"}
_KINDS |= {b"3": "device", b"4": "device", b"6": "FIFO", b"S": "sparse file"}
_WITHOUT_DATA = frozenset({"hard link", "symbolic link", "folder", "device", "FIFO"})


class Malformed(ValueError):  # noqa: N818 - reads as what the archive is
    """The stream is not a tar archive that the engine would write."""


class Source(Protocol):
    """Where the archive comes from."""

    def read(self, amount: int, /) -> bytes:
        """Up to `amount` bytes, none at the end."""


class Member(Struct, frozen=True, kw_only=True):
    """One entry: its name as written, what it is, and the bytes of data that follow."""

    name: str
    kind: str
    size: int


class TarStream:
    """Iterates over members; the data of the current one is read with `data` or skipped."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._left = 0
        self._padding = 0

    def __iter__(self) -> Iterator[Member]:
        while (member := self._next()) is not None:
            yield member

    def data(self) -> Iterator[bytes]:
        """The current member's data, in pieces."""
        while self._left:
            yield self._take(min(_PIECE, self._left))

    def _next(self) -> Member | None:
        named: dict[str, str] = {}
        while True:
            for _ in self.data():
                pass
            self._exactly(self._padding)
            self._padding = 0
            header = self._exactly(_BLOCK)
            if header == bytes(_BLOCK):
                return None
            _check(header)
            flag, size = header[156:157], _number(header[124:136])
            if flag in b"xgLK":
                self._enter(size)
                extended = self._extended(size)
                named |= _records(extended) if flag == b"x" else {"path": _text(extended)} if flag == b"L" else {}
                continue
            kind = _KINDS.get(flag, "entry of an unknown kind")
            if "size" in named:
                size = _decimal(named["size"])
            if kind in _WITHOUT_DATA:
                size = 0
            self._enter(size)
            return Member(name=named.get("path", _name(header)), kind=kind, size=size)

    def _enter(self, size: int) -> None:
        self._left, self._padding = size, -size % _BLOCK

    def _extended(self, size: int) -> bytes:
        if size > _HEADER_BYTES:
            raise Malformed(f"an extended header of {size} bytes")
        return b"".join(self.data())

    def _take(self, amount: int) -> bytes:
        piece = self._source.read(amount)
        if not piece:
            raise Malformed("it ends in the middle")
        self._left -= len(piece)
        return piece

    def _exactly(self, amount: int) -> bytes:
        pieces = bytearray()
        while len(pieces) < amount:
            piece = self._source.read(amount - len(pieces))
            if not piece:
                raise Malformed("it ends in the middle")
            pieces += piece
        return bytes(pieces)


def _check(header: bytes) -> None:
    """The sum of the header's bytes, its own field taken as blanks, is written in the header."""
    if sum(header) - sum(header[148:156]) + 8 * 0x20 != _number(header[148:156]):
        raise Malformed("a header does not add up")


def _number(field: bytes) -> int:
    if field[0] & 0x80:  # too large for octal digits: binary
        value = int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
        if value >= 1 << 63:
            raise Malformed("a number that is too large")
        return value
    digits = field.split(b"\0", 1)[0].strip(b" ")
    if not all(0x30 <= digit <= 0x37 for digit in digits):  # noqa: PLR2004 - octal
        raise Malformed("a number that is not octal")
    return int(digits or b"0", 8)


def _decimal(written: str) -> int:
    if not written.isascii() or not written.isdigit() or len(written) > 18:  # noqa: PLR2004 - below 2**63
        raise Malformed("a size that is no number")
    return int(written)


def _name(header: bytes) -> str:
    name = _text(header[:100])
    prefix = _text(header[345:500]) if header[257:263] == b"ustar\0" else ""
    return f"{prefix}/{name}" if prefix else name


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _records(extended: bytes) -> dict[str, str]:
    """PAX records: `LENGTH KEY=VALUE` and a newline, LENGTH counting all of it."""
    found: dict[str, str] = {}
    while extended:
        length_text, _, _ = extended.partition(b" ")
        length = _decimal(length_text.decode("ascii", "replace"))
        record = extended[len(length_text) + 1 : length]
        if not (len(length_text) + 1 < length <= len(extended)) or not record.endswith(b"\n") or b"=" not in record:
            raise Malformed("an extended header record that does not add up")
        key, _, value = record[:-1].partition(b"=")
        found[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        extended = extended[length:]
    return found
