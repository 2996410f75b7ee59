"""Logins of addresses: whose they are, and what is left of an address without one."""

import base64
import re
from collections.abc import Iterable
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from orchestrator.masking import login_in

_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_READ_OTHERWISE = re.compile(r"[\\\s\0-\x1f\x7f]")  # in a browser's standard, which uv keeps to, `\` is a `/`
_UNCLEAR = (
    "this is no address that all programs read alike; in a login, `/ ? # [ ] @ :`, `\\` and `%` are written as `%2F`,"
    " `%3F` and so on, and an `@` that stands after the host as `%40`"
)


def problem_with(address: str) -> str:
    """What keeps an address from being read as its writer means it, without any of it; or an empty text.

    A password with a `/` in it, as it is, makes another host of what stands before: to that the rest would be sent.
    Where two programs would read an address in two ways, it is refused.
    """
    if "://" not in address:
        return ""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return _UNCLEAR
    if parts.scheme == "file" and not parts.netloc:  # a path, and it may have an `@`
        return ""
    login = parts.netloc.rpartition("@")[0]
    return _UNCLEAR if login != login_in(address) or _READ_OTHERWISE.search(parts.netloc) else ""


def as_proxy(value: str) -> str:
    """A proxy as an address: one without a scheme is HTTP's to all who take it, and to others none with a password."""
    if not value or _SCHEME.match(value):
        return value
    return f"http:{value}" if value.startswith("//") else f"http://{value}"


def without_login(address: str) -> str:
    """An address as it may be shown and kept."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def login_header(address: str, others: Iterable[str] = ()) -> dict[str, str]:
    """The login that an address carries, or that another address of the same server does, as a header.

    The same server is the one of that scheme, host and port: a password goes to no other port, and not from TLS to
    where it could be read. Of several logins there it is the one of the path that is like this one for longest.
    """
    own = urlsplit(address)
    known = [parts for parts in map(_parts, others) if parts and parts.username and _server(parts) == _server(own)]
    best = own if own.username else max(known, key=lambda parts: _alike(parts, own), default=None)
    if best is None:
        return {}
    pair = f"{unquote(best.username or '')}:{unquote(best.password or '')}"
    return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


def _parts(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _server(parts: SplitResult) -> tuple[str, str, int]:
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)


def _alike(one: SplitResult, other: SplitResult) -> int:
    """How many folders two paths have in common, from their beginnings."""
    pairs = zip(one.path.strip("/").split("/"), other.path.strip("/").split("/"), strict=False)
    return next((count for count, (mine, its) in enumerate(pairs) if mine != its), min(map(_depth, (one, other))))


def _depth(parts: SplitResult) -> int:
    return len(parts.path.strip("/").split("/"))
