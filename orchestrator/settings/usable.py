"""Whether what a site names can be used: asked of each place itself, each within seconds."""

import os
import socket
import ssl
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from orchestrator import text
from orchestrator.errors import InputError
from orchestrator.masking import without_passwords
from orchestrator.settings import Site
from orchestrator.settings.addresses import login_header, without_login
from orchestrator.settings.logins import login_for
from orchestrator.settings.opener import opened, opener
from orchestrator.settings.sources import value_of
from orchestrator.settings.told import Checked

_PATIENCE_S = 10.0


def check(site: Site, environ: Mapping[str, str]) -> tuple[Checked, ...]:
    """Each index, mirror, folder, certificate, proxy, login and store that is set; a problem says what is wrong."""
    return tuple(
        Checked(name=name, value=without_passwords(value), problem=text.one_line(_problem(ask, value)))
        for name, value, ask in _places(site, environ)
    )


_Ask = Callable[[str], str]


def _places(site: Site, environ: Mapping[str, str]) -> Iterator[tuple[str, str, _Ask]]:
    def reached(address: str) -> str:
        return _reached(address, site)

    if site.ca_bundle:
        yield "ca_bundle", site.ca_bundle, _certificates
    for scheme, proxy in site.proxies.items():
        if scheme != "no":
            yield f"proxies.{scheme}", proxy, _listens
    indexes = {"default": site.default_index, **{build: index for build, index in site.indexes.items() if build}}
    yield from ((f"indexes.{build}", index, reached) for build, index in indexes.items())
    lists = {"extra_indexes": site.extra_indexes, "find_links": site.find_links, "apt_mirror": (site.apt_mirror,)}
    yield from ((name, address, reached) for name, listed in lists.items() for address in listed if address)
    for host in site.registries:
        yield f"registries.{host}", site.registries[host], lambda _, host=host: _password(host, site, environ)  # type: ignore[misc]
    yield "store", str(site.store), _writable
    yield "cache", str(site.cache), _writable


def _problem(ask: _Ask, value: str) -> str:
    try:
        return ask(value)
    except (OSError, ValueError) as error:
        return str(error.strerror if isinstance(error, OSError) and error.strerror else error)


def _reached(address: str, site: Site) -> str:
    parts = urlsplit(address)
    if parts.scheme in {"", "file"}:
        return _readable(unquote(parts.path) if parts.scheme else address)
    if parts.scheme not in {"http", "https"}:
        return f"`{text.one_line(parts.scheme, 20)}:` is no kind of address that is read"
    path = parts.path if parts.path.endswith("/") else f"{parts.path}/"  # an index answers for a folder
    asked = without_login(parts._replace(path=path).geturl())
    request = urllib.request.Request(asked, headers=login_header(address))  # noqa: S310 - http or https
    with opened(opener(site), request, _PATIENCE_S) as answer:
        answer.read(1)
    return ""


def _readable(path: str) -> str:
    folder = Path(path).expanduser()
    if not folder.exists():
        return "there is no such folder"
    return "" if os.access(folder, os.R_OK) else "it cannot be read"


def _certificates(path: str) -> str:
    ssl.create_default_context(cafile=path)
    return ""


def _listens(address: str) -> str:
    parts = urlsplit(address if "//" in address else f"http://{address}")
    if not parts.hostname:
        return "it names no host"
    with socket.create_connection((parts.hostname, parts.port or 80), timeout=_PATIENCE_S):
        return ""


def _password(host: str, site: Site, environ: Mapping[str, str]) -> str:
    login = login_for(f"{host}/any", site.registries)
    try:
        return "" if login and value_of(login[1], environ) else "this is no login"
    except InputError as problem:
        return problem.fact


def _writable(path: str) -> str:
    """Whether a file can be made there; a folder that is still to be made is asked of the one it would be in."""
    folder = next(parent for parent in (Path(path), *Path(path).absolute().parents) if parent.exists())
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"x")
    return ""
