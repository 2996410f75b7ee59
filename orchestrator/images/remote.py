"""What an address holds: a file or an answer over HTTP, with the site's certificates, proxies and logins."""

import contextlib
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO
from urllib.parse import SplitResult, unquote, urlsplit

from orchestrator import text
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.settings import Site
from orchestrator.settings.addresses import login_header, without_login
from orchestrator.settings.opener import NoAnswer, opener
from orchestrator.settings.opener import opened as answered

__all__ = ["is_gone", "opened", "whole", "without_login"]

_READ_TIMEOUT_S = 60.0
_GONE = (404, 410)
_NOT_THERE = (FileNotFoundError, NotADirectoryError)


@contextlib.contextmanager
def opened(url: str, site: Site, headers: Mapping[str, str] | None = None) -> Iterator[BinaryIO]:
    """The bytes at an address; OSError when it cannot be had, StageFailed (wheels) when it is no such place."""
    parts = _parts(url)
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
    with answered(connection, request, _READ_TIMEOUT_S) as answer:
        yield answer


def _parts(url: str) -> SplitResult:
    """The parts of an address that an index gave, perhaps; NoAnswer, without any of it, when it is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise NoAnswer("this is no address") from None
    if "\0" in unquote(parts.path):
        raise NoAnswer("this is no address")
    return parts


def whole(answer: BinaryIO, most: int) -> bytes:
    """All of an answer; OSError when it was cut off, or is longer than `most` bytes."""
    content = answer.read(most + 1)
    if len(content) > most or getattr(answer, "length", None):  # of HTTP: what was said to come, and did not
        raise OSError(f"its answer was cut off, or is longer than {most >> 20} MiB")
    return content


def is_gone(problem: OSError) -> bool:
    """Whether the place answered that it has no such thing, rather than not at all."""
    return problem.status in _GONE if isinstance(problem, NoAnswer) else isinstance(problem, _NOT_THERE)
