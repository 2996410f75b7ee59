"""The kept part of what a cell prints: flat in memory whatever the cell does."""

import codecs
from pathlib import Path

from orchestrator.masking import NOTHING, Masker
from orchestrator.model import Log

HEAD_BYTES = 64 << 10
TAIL_BYTES = 192 << 10
LOG_FILE = "log.txt"  # beside the bundle


class LogKeeper:
    """Takes a stream of bytes in any pieces; keeps its first and last part and counts all of it, secrets masked."""

    def __init__(self, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES, masker: Masker = NOTHING) -> None:
        self._masked = masker.stream()
        self._head = bytearray()
        self._tail = bytearray()
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._total = 0
        self.left_out = 0  # bytes that the log which was asked for last has nothing of

    def feed(self, data: bytes) -> None:
        """Take the next piece."""
        self._keep(self._masked.feed(data))

    def _keep(self, data: bytes) -> None:
        self._total += len(data)
        room = self._head_bytes - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-self._tail_bytes :]
        if len(self._tail) > 2 * self._tail_bytes:
            del self._tail[: -self._tail_bytes]

    def log(self) -> Log:
        """What was kept, as text: no character is cut in two, bytes that are not UTF-8 become U+FFFD."""
        self._keep(self._masked.end())
        tail = bytes(self._tail[-self._tail_bytes :])
        if len(self._head) + len(tail) == self._total:  # nothing was cut: a character may lie across the two
            whole = codecs.getincrementaldecoder("utf-8")("replace")
            self.left_out = 0
            return Log(head=whole.decode(bytes(self._head)), tail=whole.decode(tail, final=True), bytes=self._total)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        head, (half, _) = decoder.decode(bytes(self._head)), decoder.getstate()
        tail = _from_character(tail)
        self.left_out = self._total - (len(self._head) - len(half)) - len(tail)
        return Log(head=head, tail=tail.decode("utf-8", "replace"), bytes=self._total)


def _from_character(data: bytes) -> bytes:
    """The bytes without the rest of a character that begins before them: at most three continuation bytes."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:  # noqa: PLR2004 - 10xxxxxx
        start += 1
    return data[start:]


def marked(log: Log, left_out: int) -> str:
    """The kept log as one text, the cut marked with the bytes that it took.

    They cannot be told from the log itself: as text a byte that is no UTF-8 takes three.
    """
    mark = f"\n[… {left_out} of {log.bytes} bytes left out …]\n" if left_out else ""
    return log.head + mark + log.tail


def write_log(log: Log, folder: Path, left_out: int = 0) -> None:
    """Write the kept log as `log.txt`, as `marked`."""
    (folder / LOG_FILE).write_text(marked(log, left_out), encoding="utf-8", newline="")
