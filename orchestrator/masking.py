"""Secrets kept out of all that we write: each value in force is replaced, in a whole text and in a stream.

What is found is the value itself, its lines, and how JSON, XML, Python and addresses write it. What a program makes of
it otherwise (base64, reversed, in two halves) is not found.
"""

import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote, urlsplit

MASK = "[MASKED]"
SHORTEST = 8  # bytes: what is shorter stands by chance in half of all logs, and masking it would tell where


class Masker:
    """Replaces values; it shows none of them, not even in a traceback."""

    def __init__(self, values: Iterable[bytes] = ()) -> None:
        # The longest first: one value may be the beginning of another.
        forms = sorted({form for value in values for form in _forms(value)}, key=lambda form: (-len(form), form))
        self._pattern = re.compile(b"|".join(map(re.escape, forms))) if forms else None
        self._longest = len(forms[0]) if forms else 0

    def __repr__(self) -> str:
        return f"Masker({'some' if self else 'none'})"

    def __bool__(self) -> bool:
        return self._pattern is not None

    def data(self, data: bytes) -> bytes:
        """The bytes with each value replaced."""
        return self._pattern.sub(MASK.encode(), data) if self._pattern else data

    def text(self, text: str) -> str:
        """The text with each value replaced."""
        if not self._pattern:
            return text
        return self.data(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def stream(self) -> "Stream":
        """A masker of bytes that come in pieces."""
        return Stream(self._pattern, self._longest)


class Stream:
    """Gives out what it is fed as soon as no value can begin in it any more; `end` gives the rest."""

    def __init__(self, pattern: re.Pattern[bytes] | None, longest: int) -> None:
        self._pattern, self._longest = pattern, longest
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """The next bytes that are certain: pieces may cut a value anywhere."""
        if not self._pattern:
            return piece
        data = self._held + piece
        certain = max(0, len(data) - self._longest + 1)  # the longest value from before here would have ended
        out: list[bytes] = []
        done = 0
        for found in self._pattern.finditer(data):
            if found.start() >= certain:
                break
            out += (data[done : found.start()], MASK.encode())
            done = found.end()
        rest = max(done, certain)
        out.append(data[done:rest])
        self._held = data[rest:]
        return b"".join(out)

    def end(self) -> bytes:
        """What is left once nothing more comes."""
        held, self._held = self._held, b""
        return self._pattern.sub(MASK.encode(), held) if self._pattern else held


NOTHING = Masker()


def without_passwords(address: str) -> str:
    """An address as it may be shown: a password in it is masked, and what is no address stays as it is.

    A user without a password is one: so indexes take their tokens.
    """
    try:
        parts = urlsplit(address)
        user, password = parts.username, parts.password
    except ValueError:
        return address
    if not (user or password):
        return address
    login, _, rest = parts.netloc.rpartition("@")
    shown = f"{login.partition(':')[0]}:{MASK}" if password else MASK
    return parts._replace(netloc=f"{shown}@{rest}").geturl()


def passwords(addresses: Iterable[str]) -> Iterator[bytes]:
    """The passwords that addresses carry, as they are meant; a user without one is a token."""
    for address in addresses:
        try:
            parts = urlsplit(address)
            password = parts.password or parts.username
        except ValueError:
            continue
        if password:
            yield unquote(password).encode()


def _forms(value: bytes) -> Iterator[bytes]:
    """The value and its lines in each way of writing; what is too short to be told from chance is left out."""
    whole = value.strip(b"\r\n")
    for part in (whole, *whole.splitlines()):
        yield from (form for form in _written(part) if len(form) >= SHORTEST)


def _written(part: bytes) -> Iterator[bytes]:
    yield part
    try:
        text = part.decode()
    except UnicodeDecodeError:
        return
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    in_quotes = escaped.replace('"', "&quot;")
    yield from (form.encode() for form in (escaped, in_quotes, in_quotes.replace("'", "&#x27;")))
    for form in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]):
        yield form.encode()
    yield from (quote(text, safe=safe).encode() for safe in ("", "/"))
