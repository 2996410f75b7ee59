"""Addresses as they may be shown, and what in them is secret: a login, the values of a query.

Somebody may have written a password as it is, `/`, `?`, `#` and `[` too: whatever stands before the last `@` is taken
for the login, however a parser would read it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote, unquote_plus

MASK = "[MASKED]"
SHORTEST = 8  # bytes: what is shorter stands by chance in half of all logs, and masking it would tell where

_PARTS = re.compile(r"(?P<scheme>(?:[A-Za-z][A-Za-z0-9+.-]*:)?//|)(?:(?P<login>.*)@)?(?P<rest>.*)", re.DOTALL)
_DIGEST = re.compile(r"@sha(?:256|384|512):[0-9a-f]+\Z")  # of an image
_QUERY = re.compile(r"([?&;])([^=&;#]*)(=?)([^&;#]*)")

_NEEDLESS = re.compile("%(?:3[0-9]|[46][1-9A-F]|[57][0-9A])", re.IGNORECASE)  # a letter or a digit


def without_passwords(address: str) -> str:
    """An address as it may be shown: a password in it is masked, and what is no address stays as it is.

    A user without a password is one: so indexes take their tokens. So may the values of a query be.
    """
    scheme, login, rest = _split(address)
    if login:
        user, colon, password = login.partition(":")
        login = f"{user}:{MASK}" if colon and password else MASK
        return f"{scheme}{login}@{_without_query(rest)}"
    return f"{scheme}{_without_query(rest)}" if scheme else address


def login_in(address: str) -> str:
    """The login of an address as its writer may have meant it, empty where there is none."""
    return _split(address)[1]


def passwords(addresses: Iterable[str]) -> Iterator[bytes]:
    """The passwords that addresses carry, as they are meant; a user without one is a token.

    What is too short to be masked wherever it stands comes with what stands around it in its address.
    """
    for address in addresses:
        scheme, login, rest = _split(address)
        user, _, password = login.partition(":")
        host = re.split("[/?#]", rest, maxsplit=1)[0]
        yield from _meant(password or user, unquote, f"{login}@{host}", f"{scheme}{login}@{host}")
        for name, value in _query(rest) if scheme or login else ():
            yield from _meant(value, unquote_plus, f"{name}{value}")


def _meant(written: str, read: Callable[..., str], *around: str) -> Iterator[bytes]:
    """What is written in an address, and how, where no program would have written it so."""
    if not written:
        return
    meant = read(written, errors="surrogateescape")
    shown = [meant, written] if _NEEDLESS.search(written) else [meant]
    if len(_octets(meant)) < SHORTEST:
        shown += [each for place in around for each in dict.fromkeys((place, read(place, errors="surrogateescape")))]
    yield from map(_octets, shown)


def _octets(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _split(address: str) -> tuple[str, str, str]:
    """The scheme with its slashes, the login, and the rest; a path has none, and a digest belongs to the rest."""
    digest = "" if "//" in address or not (found := _DIGEST.search(address)) else found[0]
    parts = _PARTS.fullmatch(address.removesuffix(digest))
    if parts is None or (not parts["scheme"] and address.startswith(("/", ".", "~"))):
        return "", "", address
    return parts["scheme"], parts["login"] or "", parts["rest"] + digest


def _query(rest: str) -> Iterator[tuple[str, str]]:
    for mark, name, equals, value in _QUERY.findall(rest[rest.find("?") :] if "?" in rest else ""):
        yield f"{mark}{name}{equals}" if equals else mark, value if equals else name


def _without_query(rest: str) -> str:
    before, mark, query = rest.partition("?")
    if not mark:
        return rest
    fragment = query[query.find("#") :] if "#" in query else ""
    return before + "".join(f"{name}{MASK if value else ''}" for name, value in _query(f"?{query}")) + fragment
