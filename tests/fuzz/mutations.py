"""Bytes that were valid once: seeds with a few changes of their structure, and bytes that never were anything."""

import random
import re
from collections.abc import Callable, Sequence

MAX_BYTES = 16 << 10  # of one input: what is larger is for the tests of the caps
# What parsers of any of our formats take for structure, and what they are known to trip over.
TOKENS = (
    *(
        b"\0",
        b"\xff",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\xc3",
        b"\n",
        b"\r",
        b"\r\n",
        b"\t",
        b"\x1b[31m",
    ),
    *(b"{", b"}", b"[", b"]", b"[" * 200, b"{" * 60, b'{"a":' * 200, b":", b": ", b",", b"- ", b"#", b"|", b">", b"?"),
    *(b"&a ", b"*a", b"<<: *a", b"!!python/object:os.system ", b"!x ", b"%YAML 1.1\n---\n", b"---\n", b"...\n", b"~"),
    *(b'"', b"'", b'"\\ud800"', b"\\u0000", b"\\", b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-0", b"0x1p3"),
    *(b"9" * 30, b"-1", b"1.5", b"2.10", b"12:30", b"017", b"NO", b"2024-01-01", b"\xd9\xa1", b"\xe2\x80\xae", b"../"),
    *(b"<!DOCTYPE x>", b"<!ENTITY a 'b'>", b"&a;", b"&#0;", b"<failure/>", b"<error/>", b"<testcase>", b"</testcase>"),
    *(b"<testsuite>", b"]]>", b"<![CDATA[", b"<?xml version='1.0' encoding='utf-16'?>", b'"final"', b'"passed"', b"=="),
    *(b"0" * 64, b"\x7fELF", b"PK\3\4", b"PK\5\6", b"GLIBC_2.99\0", b"::set-env name=A::B", b"section_end:1:a"),
)

Change = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def mutated(rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    """A seed with one to six changes; one input in twenty is random bytes alone."""
    if rng.random() < 0.05:
        return rng.randbytes(rng.randrange(300))
    data = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4, 6))):
        data = rng.choice(_CHANGES)(rng, data, seeds)[:MAX_BYTES]
    return data


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 1, 2, 4, 8, 30, 200)))


def _bit(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    if not data:
        return b"\0"
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _cut(_: random.Random, data: bytes, __: Sequence[bytes]) -> bytes:
    return data[: _.randrange(len(data) + 1)]


def _delete(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def _repeat(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(rng, data)
    return data[:end] + data[start:end] * rng.choice((1, 2, 20)) + data[end:]


def _insert(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(TOKENS) + data[at:]


def _graft(rng: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    """A part of another seed in place of a part of this one."""
    start, end = _span(rng, data)
    other = rng.choice(seeds)
    from_, to = _span(rng, other)
    return data[:start] + other[from_:to] + data[end:]


_WORD = re.compile(rb"[A-Za-z0-9_.:+-]+")


def _word(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """A word by a token, or by another of the same file: a value where a key is, a key where a value is."""
    words = list(_WORD.finditer(data))
    if not words:
        return data
    at = rng.choice(words)
    put = rng.choice(words)[0] if rng.random() < 0.5 else rng.choice(TOKENS)
    return data[: at.start()] + put + data[at.end() :]


def _lines(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """A line gone, twice, or at another place."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    line = lines.pop(at)
    for _ in range(rng.randrange(3)):
        lines.insert(rng.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def _number(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Four bytes as a length that does not fit."""
    at = rng.randrange(len(data) + 1)
    value = rng.choice((0, 1, 0x7F, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, len(data)))
    return data[:at] + value.to_bytes(4, rng.choice(("little", "big"))) + data[at + 4 :]


_CHANGES: tuple[Change, ...] = (_bit, _cut, _delete, _repeat, _insert, _insert, _graft, _word, _word, _lines, _number)
