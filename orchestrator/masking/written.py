r"""The ways in which programs write one character, as regular expressions of bytes.

JSON, XML, Python, C and addresses each escape what is not a letter or a digit, and one may write what another wrote:
a backslash is doubled, `&` becomes `&amp;`, `%` becomes `%25`, and an address escapes `\`, `&`, `#` and `;` too. Each
repetition is bounded, so a writing has a greatest length. Letters and digits are written as they are by all of them.
"""

import re
from collections.abc import Iterator
from functools import cache
from html.entities import codepoint2name
from typing import NamedTuple

_SLASHES = 16  # backslashes that four writers in turn make of one
_AGAIN = 3  # how often `&` or `%` was written once more
_ZEROS = 6
_LETTERS = {"\n": "n", "\r": "r", "\t": "t", "\a": "a", "\b": "b", "\f": "f", "\v": "v", "\0": "0", "\x1b": "e"}
_PLAIN = re.compile(r"[A-Za-z0-9]")
_BYTE = 0xFF
_BASIC = 0xFFFF  # code points of four hex digits; JSON writes the others as two halves
_RAW_BYTES = range(0xDC80, 0xDD00)  # what `surrogateescape` makes of bytes that are no UTF-8


class Way(NamedTuple):
    """An expression, the one for the same bytes backwards, and the most bytes that it takes."""

    ahead: bytes
    back: bytes
    most: int


Element = tuple[Way, ...]  # each of these can match and end elsewhere


def elements(text: str) -> list[Element]:
    """Each character of a text with its ways; backslashes are one with the character that they stand before.

    Of bytes that are no UTF-8 the text is what `surrogateescape` makes. Which backslashes of a run are the secret's and
    which escape what follows cannot be told apart.
    """
    return [_element(len(found[1]), found[2]) for found in re.finditer(r"(\\*)([^\\]|\Z)", text) if found[0]]


def either(element: Element) -> Way:
    """All ways of an element as one."""
    return _or(*element)


def _is_plain(char: str) -> bool:
    """Whether no program escapes the character."""
    return _PLAIN.fullmatch(char) is not None


@cache
def _element(slashes: int, char: str) -> Element:
    if not char or _is_plain(char):
        return (_then(_slashes(slashes, slashes), _is(char)),) if slashes else (_is(char),)
    bare = tuple(_bare(char))
    escaped, in_octets = (*bare, *_escaped(char)), tuple(_octets_escaped(char))
    if slashes:
        before = _slashes(slashes, slashes + 1, given_back=char == "%")  # `%5C` is a backslash, or begins with a `%`
        return tuple(_then(before, way) for way in (*escaped, *in_octets))
    # `\xc2\xa0` is one character, or ends with one: what stands before it tells.
    return (*bare, *(_then(_slashes(1, 1), _or(*ways)) for ways in (escaped, in_octets)))


def _bare(char: str) -> Iterator[Way]:
    """The ways that need no backslash before them."""
    point, octets = ord(char), char.encode(errors="surrogateescape")
    yield _is(octets)
    if point in _RAW_BYTES:
        yield _is(char.encode(errors="surrogatepass"))
    # How often it was written again can be told by what follows only: `%25` is `%`, or `%25` as it is.
    for times in range(_AGAIN + 1) if char in "&%" else (None,):
        yield _entity(point, times)
        yield _then(*(_percent(octet, times) for octet in octets))
    if char == " ":
        yield _mark("+")
    if char == "\n":
        yield _then(_or(_is("\r"), _percent(ord("\r"))), _or(_is("\n"), _percent(ord("\n"))))
    if not char.isprintable():  # as pytest writes what XML cannot hold
        yield _then(_mark("#"), _is("x"), _times(_is("0"), 0, _ZEROS), _hex(f"{point:x}"))


def _escaped(char: str) -> Iterator[Way]:
    """What stands behind backslashes."""
    point = ord(char)
    yield from (_is(letter) for letter in _LETTERS.get(char, ""))
    if point <= _BYTE:
        yield _then(_is("x"), _hex(f"{point:02x}"))
    if point <= _BASIC:
        yield _then(_is("u"), _hex(f"{point:04x}"))
    else:
        halves = char.encode("utf-16-be").hex()
        yield _then(_is("u"), _hex(halves[:4]), _ESCAPE, _is("u"), _hex(halves[4:]))
    yield _then(_is("U"), _hex(f"{point:08x}"))
    yield _then(_is("u{"), _times(_is("0"), 0, _ZEROS), _hex(f"{point:x}"), _is("}"))


def _octets_escaped(char: str) -> Iterator[Way]:
    """The same, each byte of the character for itself."""
    octets = char.encode(errors="surrogateescape")
    for digits in ([_then(_is("x"), _hex(f"{octet:02x}")) for octet in octets], [_octal(octet) for octet in octets]):
        yield _then(digits[0], *(_then(_ESCAPE, each) for each in digits[1:]))


def _octal(octet: int) -> Way:
    return _then(_times(_is("0"), 0, 2), _is(f"{octet:o}"))


def _entity(point: int, times: int | None) -> Way:
    """A reference of XML or HTML, by name or by number."""
    zeros = _times(_is("0"), 0, _ZEROS)
    names = {codepoint2name.get(point, ""), "apos" if chr(point) == "'" else ""} - {""}
    decimal = _then(_mark("#"), zeros, _is(str(point)))
    hexadecimal = _then(_mark("#"), _or(_is("x"), _is("X")), zeros, _hex(f"{point:x}"))
    again = _times(_then(_is("amp"), _mark(";")), times or 0, _AGAIN if times is None else times)
    return _then(_mark("&"), again, _or(*map(_is, sorted(names)), decimal, hexadecimal), _mark(";"))


def _percent(octet: int, times: int | None = None) -> Way:
    """A byte as addresses have it."""
    again = _times(_is("25"), times or 0, _AGAIN if times is None else times)
    return _then(_is("%"), again, _hex(f"{octet:02x}"))


def _mark(char: str) -> Way:
    """A character of a writing, which an address may have escaped in its turn."""
    return _or(_is(char), _percent(ord(char)))


def _is(what: str | bytes) -> Way:
    octets = what.encode() if isinstance(what, str) else what
    return Way(re.escape(octets), re.escape(octets[::-1]), len(octets))


def _hex(digits: str) -> Way:
    def read(order: str) -> bytes:
        return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in order).encode()

    return Way(read(digits), read(digits[::-1]), len(digits))


def _then(*ways: Way) -> Way:
    back = b"".join(way.back for way in reversed(ways))
    return Way(b"".join(way.ahead for way in ways), back, sum(way.most for way in ways))


def _or(*ways: Way) -> Way:
    if len(ways) == 1:
        return ways[0]
    ahead, back = (b"(?:" + b"|".join(each) + b")" for each in zip(*(way[:2] for way in ways), strict=True))
    return Way(ahead, back, max(way.most for way in ways))


def _times(way: Way, least: int, most: int) -> Way:
    bounds = f"{{{least},{most}}}".encode()
    return Way(b"(?:" + way.ahead + b")" + bounds, b"(?:" + way.back + b")" + bounds, way.most * most)


def _slashes(least: int, meant: int, *, given_back: bool = False) -> Way:
    """Backslashes, of as many as are meant; all that are there, which spares trying each number of them."""
    way = _times(_mark("\\"), least, _SLASHES * meant)
    return way if given_back else way._replace(ahead=way.ahead + b"+")


_ESCAPE = _slashes(1, 1)
