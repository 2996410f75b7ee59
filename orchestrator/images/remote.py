"""What an address holds: a file or an answer over HTTP, with the site's certificates, proxies and logins."""

import base64
import contextlib
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit, urlunsplit

from orchestrator import text
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.settings import Site

_READ_TIMEOUT_S = 60.0
_GONE = (404, 410)


@contextlib.contextmanager
def opened(url: str, site: Site, headers: Mapping[str, str] | None = None) -> Iterator[BinaryIO]:
    """The bytes at an address; OSError when it cannot be had, StageFailed (wheels) when it is no such place."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        with Path(unquote(parts.path)).open("rb") as file:
            yield file
        return
    if parts.scheme not in {"http", "https"}:
        raise StageFailed(Stage.WHEELS, f"`{text.one_line(parts.scheme, 20)}:` is no place to fetch wheels from")
    context = ssl.create_default_context(cafile=site.ca_bundle or None)
    opener = urllib.request.build_opener(
        urllib.request.HTTPSHandler(context=context),
        *([urllib.request.ProxyHandler(dict(site.proxies))] if site.proxies else []),
    )
    request = urllib.request.Request(without_login(url), headers={**_login(url, site), **(headers or {})})  # noqa: S310
    with opener.open(request, timeout=_READ_TIMEOUT_S) as answer:
        yield answer


def is_gone(problem: OSError) -> bool:
    """Whether the place answered that it has no such thing, rather than not at all."""
    if isinstance(problem, urllib.error.HTTPError):
        problem.close()
        return problem.code in _GONE
    return isinstance(problem, FileNotFoundError | NotADirectoryError)


def without_login(url: str) -> str:
    """An address as it may be shown and kept."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _login(url: str, site: Site) -> dict[str, str]:
    """The login that an address carries, or an index's own address for files on the same host."""
    for place in (url, *site.indexes.values(), *site.extra_indexes, *site.find_links):
        parts = urlsplit(place)
        if parts.username and parts.hostname == urlsplit(url).hostname:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}
    return {}
