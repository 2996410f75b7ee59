"""What an address holds: a file or an answer over HTTP, with the site's certificates, proxies and logins."""

import contextlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from orchestrator import text
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.settings import Site
from orchestrator.settings.addresses import login_header, without_login
from orchestrator.settings.opener import opener

__all__ = ["is_gone", "opened", "whole", "without_login"]

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
    login = login_header(url, (*site.indexes.values(), *site.extra_indexes, *site.find_links))
    request = urllib.request.Request(without_login(url), headers={**login, **(headers or {})})  # noqa: S310
    try:
        connection = opener(site)
    except OSError as problem:  # the site's own file is missing, which says nothing about what an index has
        fact = f"the site's ca_bundle {text.one_line(site.ca_bundle, 200)} cannot be read"
        raise StageFailed(
            Stage.WHEELS, fact, hint="`torchmatrix site --check` tells which settings can be used"
        ) from problem
    try:
        with connection.open(request, timeout=_READ_TIMEOUT_S) as answer:
            yield answer
    except http.client.HTTPException as problem:
        raise OSError(f"its answer is not whole, or not of HTTP: {text.one_line(repr(problem), 200)}") from problem


def whole(answer: BinaryIO, most: int) -> bytes:
    """All of an answer; OSError when it was cut off, or is longer than `most` bytes."""
    content = answer.read(most + 1)
    if len(content) > most or getattr(answer, "length", None):  # of HTTP: what was said to come, and did not
        raise OSError(f"its answer was cut off, or is longer than {most >> 20} MiB")
    return content


def is_gone(problem: OSError) -> bool:
    """Whether the place answered that it has no such thing, rather than not at all."""
    if isinstance(problem, urllib.error.HTTPError):
        problem.close()
        return problem.code in _GONE
    return isinstance(problem, FileNotFoundError | NotADirectoryError)
