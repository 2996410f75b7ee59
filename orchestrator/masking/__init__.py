"""Secrets kept out of all that we write: each value in force is replaced, in a whole text and in a stream.

What is found is the value itself, its lines, and pieces of a long one, each as JSON, XML, Python and addresses write
it, one on top of another too. What a program makes of it otherwise (base64, reversed) is not found.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence

from orchestrator.masking.addresses import MASK, SHORTEST, login_in, passwords, without_passwords
from orchestrator.masking.spans import Pieces, Whole, finder

__all__ = ["MASK", "NOTHING", "SHORTEST", "Masker", "Stream", "login_in", "passwords", "without_passwords"]

_BLOCK = 1 << 20


class Masker:
    """Replaces values; it shows none of them, not even in a traceback."""

    def __init__(self, values: Iterable[bytes] = ()) -> None:
        texts = sorted({text for value in values for text in _texts(value)})
        self._finders = [found for text in texts for found in finder(text)]

    def __repr__(self) -> str:
        return f"Masker({'some' if self else 'none'})"

    def __bool__(self) -> bool:
        return bool(self._finders)

    def data(self, data: bytes) -> bytes:
        """The bytes with each value replaced; values that overlap are replaced as one."""
        if not self:
            return data
        stream = self.stream()
        pieces = [stream.feed(data[start : start + _BLOCK]) for start in range(0, len(data), _BLOCK)]
        return b"".join((*pieces, stream.end()))

    def text(self, text: str) -> str:
        """The text with each value replaced; a value of bytes may leave half a character, which is shown as one."""
        if not self:
            return text
        masked = self.data(text.encode(errors="surrogatepass"))
        try:
            return masked.decode(errors="surrogatepass")
        except UnicodeDecodeError:
            return masked.decode(errors="replace")

    def stream(self) -> "Stream":
        """A masker of bytes that come in pieces."""
        return Stream(self._finders)


class Stream:
    """Gives out what it is fed once no value can begin in it any more; `end` gives the rest.

    It holds less than twice the longest writing of a value.
    """

    def __init__(self, finders: Sequence[Whole | Pieces]) -> None:
        self._finders = finders
        self._longest = max((found.most for found in finders), default=0)
        self._held: list[bytes] = []
        self._size = 0
        self._covered = 0  # of the bytes held, what belongs to a value that is replaced already

    def feed(self, piece: bytes) -> bytes:
        """The next bytes that are certain: pieces may cut a value anywhere."""
        if not self._finders:
            return piece
        self._held.append(piece)
        self._size += len(piece)
        if self._size < 2 * self._longest:  # the less is looked through again for each new byte
            return b""
        return self._masked(self._size - self._longest + 1)  # the longest value from before here would have ended

    def end(self) -> bytes:
        """What is left once nothing more comes."""
        return self._masked(self._size) if self._finders else b""

    def _masked(self, certain: int) -> bytes:
        """The bytes before this one, masked; the others stay held."""
        data = b"".join(self._held)
        out: list[bytes] = []
        done = self._covered
        for start, end in heapq.merge(*(found.spans(data, certain) for found in self._finders)):
            if start >= done:
                out += (data[done:start], MASK.encode())
            done = max(done, end)
        out.append(data[done:certain])
        self._covered = max(0, done - certain)
        self._held = [data[certain:]]
        self._size = len(data) - certain
        return b"".join(out)


NOTHING = Masker()


def _texts(value: bytes) -> Iterator[str]:
    """The value and its lines; what is too short to be told from chance is left out."""
    whole = value.strip(b"\r\n")
    for part in (whole, *whole.splitlines()):
        if len(part) >= SHORTEST:
            yield part.decode(errors="surrogateescape")
