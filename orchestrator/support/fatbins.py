"""The architectures that a library holds device code for, read from its bytes in one pass: no GPU, no tools.

CUDA code lies in containers that begin with a mark, a version and their size; each entry names its kind (PTX or machine
code) and its architecture. HIP code lies in clang's offload bundles, whose entries are named by their target. Beside
them the versions of glibc are collected that the library's symbols ask for. Everything here is untrusted input.
"""

import re
import struct
from collections import Counter
from collections.abc import Iterator
from typing import IO

from msgspec import Struct

from orchestrator.errors import InputError

CHUNK = 1 << 20

_FATBIN = struct.pack("<IHH", 0xBA55ED50, 1, 16)
_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
_COMPRESSED = b"CCOB"
_OVERLAP = 63  # no mark and no version name is longer
_FATBIN_HEADER = struct.Struct("<8xQ")
_ENTRY = struct.Struct("<HxxIQ8xxxxxI")  # kind, size of the header, size of the code, architecture
_KINDS = {1: "ptx_", 2: "sm_"}
_MAX_ENTRIES = 4096
_MAX_HEADER = 1 << 16
_MAX_NAME = 1 << 10
_LAST_KIND = 0xFF
_LAST_ARCHITECTURE = 0xFFFF
_TARGET = re.compile(rb"hip(?:v4)?-amdgcn-amd-amdhsa-{1,2}(gfx[0-9a-f]{3,5})(?::[a-z0-9:+-]{0,40})?")
_GLIBC = re.compile(rb"(?<=\0)GLIBC_(\d{1,2})\.(\d{1,3})(?=\0)")


class Code(Struct, frozen=True, kw_only=True):
    """What was found: containers by architecture, how many there are, those that cannot be read, the newest glibc."""

    found: dict[str, int]
    containers: int
    compressed: int
    glibc: tuple[int, int]


def read(stream: IO[bytes]) -> Code:
    """The device code and the glibc of a library. InputError where a container is broken or cut off."""
    window = _Window(stream)
    found: Counter[str] = Counter()
    containers = compressed = 0
    glibc = (0, 0)
    for passed, mark in window.marks((_FATBIN, _BUNDLE, _COMPRESSED)):
        if b"GLIBC_" in passed:
            glibc = max([glibc, *((int(major), int(minor)) for major, minor in _GLIBC.findall(passed))])
        if mark == _FATBIN:
            held = _fatbin(window)
        elif mark == _BUNDLE:
            held = _bundle(window)
        else:
            compressed += mark == _COMPRESSED and _is_compressed_bundle(window)
            continue
        containers += held is not None
        found.update(held or ())
    return Code(found=dict(found), containers=containers, compressed=compressed, glibc=glibc)


def _fatbin(window: "_Window") -> set[str] | None:
    """The architectures of the entries; None where the mark is only a number in a library that reads fatbins itself."""
    if not _is_fatbin(window.peek(_FATBIN_HEADER.size + _ENTRY.size)):
        window.take(len(_FATBIN))
        return None
    (rest,) = _FATBIN_HEADER.unpack(window.take(_FATBIN_HEADER.size))
    held: set[str] = set()
    entries = 0
    while rest:
        entries += 1
        if rest < _ENTRY.size or entries > _MAX_ENTRIES:
            raise InputError("a fatbin does not end where it says")
        kind, header, code, architecture = _ENTRY.unpack(window.take(_ENTRY.size))
        if not _ENTRY.size <= header <= _MAX_HEADER or header + code > rest:
            raise InputError("a fatbin entry is larger than its fatbin")
        if kind in _KINDS:
            held.add(f"{_KINDS[kind]}{architecture}")
        window.skip(header + code - _ENTRY.size)
        rest -= header + code
    return held


def _is_fatbin(head: bytes) -> bool:
    """Whether a first entry follows the mark, as far as there is something to see."""
    if len(head) < _FATBIN_HEADER.size + _ENTRY.size:
        return True
    (size,) = _FATBIN_HEADER.unpack_from(head)
    kind, header, _, architecture = _ENTRY.unpack_from(head, _FATBIN_HEADER.size)
    return bool(size == 0 or (kind <= _LAST_KIND and architecture <= _LAST_ARCHITECTURE and header <= _MAX_HEADER))


def _bundle(window: "_Window") -> set[str] | None:
    """The targets of an offload bundle; None where the mark is only a text in a library that writes bundles itself.

    Its code is passed over by the search for the next mark.
    """
    window.take(len(_BUNDLE))
    entries = int.from_bytes(window.take(8, exactly=False), "little")
    if not 0 < entries <= _MAX_ENTRIES:
        return None
    held: set[str] = set()
    for _ in range(entries):
        length = int.from_bytes(window.take(24, exactly=False)[16:], "little")
        if not 0 < length <= _MAX_NAME:
            return None
        if target := _TARGET.fullmatch(window.take(length, exactly=False)):
            held.add(target[1].decode())
    return held


def _is_compressed_bundle(window: "_Window") -> bool:
    """Whether the mark is one, and no four letters of something else: a version and a method follow it."""
    _, version, method = struct.unpack("<4sHH", window.take(8, exactly=False).ljust(8, b"\xff"))
    return version in {1, 2, 3} and method in {0, 1}


class _Window:
    """A stream with a cursor: bytes are taken, passed over or searched, and never more than a few chunks are held."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._data = b""
        self._at = 0

    def marks(self, marks: tuple[bytes, ...]) -> Iterator[tuple[bytes, bytes]]:
        """What lies before each mark, and the mark, with the cursor on it; at the end what is left, and nothing.

        Each must be taken before the next is asked for. What lies before comes in pieces that overlap.
        """
        while True:
            hits = [(at, mark) for mark in marks if (at := self._data.find(mark, self._at)) >= 0]
            if hits:
                at, mark = min(hits)
                passed, self._at = self._data[self._at : at], at
                yield passed, mark
                continue
            passed = self._data[self._at :]
            kept = passed[-_OVERLAP:]
            chunk = self._stream.read(CHUNK)
            yield passed, b""
            if not chunk:
                return
            self._data, self._at = kept + chunk, 0

    def take(self, count: int, *, exactly: bool = True) -> bytes:
        """The next bytes; InputError when there are fewer."""
        while len(self._data) - self._at < count and (chunk := self._stream.read(CHUNK)):
            self._data, self._at = self._data[self._at :] + chunk, 0
        taken = self._data[self._at : self._at + count]
        if exactly and len(taken) < count:
            raise InputError("it is cut off in the middle of device code")
        self._at += len(taken)
        return taken

    def peek(self, count: int) -> bytes:
        """The next bytes, or as many as there are; they stay."""
        taken = self.take(count, exactly=False)
        self._at -= len(taken)
        return taken

    def skip(self, count: int) -> None:
        """Passes over bytes without holding them; InputError when there are fewer."""
        there = min(count, len(self._data) - self._at)
        self._at += there
        count -= there
        while count:
            chunk = self._stream.read(min(count, CHUNK))
            if not chunk:
                raise InputError("it is cut off in the middle of device code")
            count -= len(chunk)
