"""Where in some bytes a value is written, and pieces of a long one."""

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from orchestrator.masking.written import Element, either, elements

PIECE = 16  # characters of a head or a tail that are known again
LONG = 2 * PIECE  # of a value that is known by its pieces: its reader may get it cut in its middle or at an end
Span = tuple[int, int]


class Whole:
    """A value that is found whole only."""

    def __init__(self, text: str) -> None:
        ways = [either(element) for element in elements(text)]
        self._pattern = re.compile(b"".join(way.ahead for way in ways))
        self._sure = _sure(text)
        self.most = sum(way.most for way in ways)

    def spans(self, data: bytes, before: int) -> Iterator[Span]:
        """Each place that begins before this byte, by its beginning, joined where they overlap."""
        return joined(self._found(data, before))

    def _found(self, data: bytes, before: int) -> Iterator[Span]:
        start = 0 if self._sure in data else len(data)
        while (found := self._pattern.search(data, start)) and found.start() < before:
            yield found.span()
            start = found.start() + 1  # not its end: the value may overlap itself


class Pieces:
    """A long value: each head and each tail of it that is no shorter than a piece, as far as it goes."""

    def __init__(self, text: str) -> None:
        own = elements(text)
        self._ahead = _Head(own, text, backwards=False)
        self._back = _Head(own[::-1], text[::-1], backwards=True)
        self.most = sum(either(element).most for element in own)

    def spans(self, data: bytes, before: int) -> Iterator[Span]:
        """Each place that begins before this byte, by its beginning, joined where they overlap."""
        heads = joined(takewhile(lambda span: span[0] < before, self._ahead.found(data)))
        turned = ((len(data) - end, len(data) - start) for start, end in self._back.found(data[::-1]))
        tails = sorted(span for span in turned if span[0] < before)
        return joined(heapq.merge(heads, joined(tails)))


class _Head:
    """The elements of a value in the order in which they are read, forwards or backwards."""

    def __init__(self, own: Sequence[Element], text: str, *, backwards: bool) -> None:
        def read(element: Element) -> tuple[re.Pattern[bytes], ...]:
            return tuple(re.compile(way.back if backwards else way.ahead) for way in element)

        first = [either(element) for element in own[:PIECE]]
        self._first = re.compile(b"".join(way.back if backwards else way.ahead for way in first))
        known = {element: read(element) for element in set(own)}
        self._elements = [known[element] for element in own]
        self._sure = _sure(text[:PIECE])
        self._plain = _plain_runs(text) if len(own) == len(text) else {}

    def found(self, data: bytes) -> Iterator[Span]:
        """Each place where at least a piece of it is written, by its beginning."""
        start = 0 if self._sure in data else len(data)
        while found := self._first.search(data, start):
            start = found.start() + 1
            yield found.start(), self._reach(data, found.start())

    def _reach(self, data: bytes, start: int) -> int:
        """The end of what is written here, by all readings of it."""
        ends, farthest, done = {start}, start, 0
        while done < len(self._elements):
            run = self._plain.get(done, b"")
            if run and len(ends) == 1 and data.startswith(run, at := min(ends)):
                ends, done = {at + len(run)}, done + len(run)
            else:
                patterns = self._elements[done]
                ends = {met.end() for end in ends for each in patterns if (met := each.match(data, end))}
                done += 1
            if not ends:
                break
            if done >= PIECE:
                farthest = max(farthest, *ends)
        return farthest


def _sure(text: str) -> bytes:
    """What stands there in every writing of a text: quickly looked for, and nearly never there."""
    return max((found[0] for found in re.finditer("[A-Za-z0-9]*", text)), key=len).encode()


def _plain_runs(text: str) -> dict[int, bytes]:
    """What stands at each place where a run of plain characters begins, and every piece further on in it."""
    runs: dict[int, bytes] = {}
    for found in re.finditer("[A-Za-z0-9]+", text):
        for start in range(found.start(), found.end(), PIECE):
            runs[start] = text[start : min(start + PIECE, found.end())].encode()
    return runs


def finder(text: str) -> Iterator[Whole | Pieces]:
    """What finds a value. One that repeats itself is each piece of it: at every byte it might go on for its length."""
    if len(text) < LONG:
        yield Whole(text)
    elif (period := _period(text)) <= PIECE:
        yield from (Whole(text[start : start + PIECE]) for start in range(period))
    else:
        yield Pieces(text)


def joined(spans: Iterable[Span]) -> Iterator[Span]:
    """Spans by their beginnings, those that overlap as one."""
    held: Span | None = None
    for span in spans:
        if held is None or span[0] >= held[1]:
            if held is not None:
                yield held
            held = span
        else:
            held = held[0], max(held[1], span[1])
    if held is not None:
        yield held


def _period(text: str) -> int:
    """After how many characters the text repeats itself."""
    borders = [0] * len(text)
    length = 0
    for place in range(1, len(text)):
        while length and text[place] != text[length]:
            length = borders[length - 1]
        length += text[place] == text[length]
        borders[place] = length
    return len(text) - borders[-1]
