"""Where a locked wheel is now: asked of every index and folder of the site, by file name and SHA-256.

Nothing is resolved here. A file that no source has, each having answered, or that is another one by now, is a stale
lock, never another version. A source that does not answer says nothing: it may have the file. (https://packaging.python.org/en/latest/specifications/simple-repository-api/)
"""

import html.parser
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from orchestrator import text
from orchestrator.images.failure import Stage, StageFailed, stale
from orchestrator.images.remote import is_gone, opened, whole, without_login
from orchestrator.images.resolve import Wheel
from orchestrator.settings import Site
from orchestrator.settings.opener import NoAnswer
from orchestrator.vocabulary import Cause

_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_MAX_BYTES = 64 << 20
_AT_ONCE = 8
_SHOWN = 3
_SHA256 = re.compile("[0-9a-f]{64}")
_NO_SHA256 = "(not 64 hex digits)"  # as it is shown, and no file has it


class Offered(Struct, frozen=True, kw_only=True):
    """A file that a place offers; `sha256` is empty where it does not say."""

    file: str
    url: str
    sha256: str


class _Page(Struct, frozen=True):
    files: tuple[Mapping[str, Any], ...]


class Sought(Struct, frozen=True, kw_only=True):
    """What became of a wheel that was looked for: `found`, or why not. `trouble` names places that did not answer."""

    wheel: Wheel
    found: bool
    why: str = ""
    trouble: str = ""


def located(wheels: Sequence[Wheel], build: str, site: Site) -> tuple[Wheel, ...]:
    """The wheels with their places; StageFailed (wheels) naming those that this site does not have."""
    sought = seek(wheels, build, site)
    if not (missing := [one for one in sought if not one.found]):
        return tuple(one.wheel for one in sought)
    if trouble := [one for one in missing if one.trouble]:
        names = ", ".join(f"{one.wheel.name} {one.wheel.version}" for one in trouble[:_SHOWN])
        raise StageFailed(
            Stage.WHEELS,
            f"cannot look for {names}: {text.one_line(trouble[0].trouble)}",
            log="\n".join(one.trouble for one in trouble),
            cause=Cause.BUILD,
            hint="`torchmatrix site` shows the indexes; once they answer, begin again",
        )
    more = f", and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    raise stale(
        Stage.WHEELS,
        "; ".join(one.why for one in missing[:_SHOWN]) + more,
        log="\n".join(one.why for one in missing),
    )


def seek(wheels: Sequence[Wheel], build: str, site: Site) -> Sequence[Sought]:
    """What became of each wheel, in their order."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda wheel: _seek(wheel, build, site), wheels))


def _seek(wheel: Wheel, build: str, site: Site) -> Sought:
    named: list[Offered] = []
    trouble: list[str] = []
    for place in _places(build, site):
        try:
            offered = [one for one in _offers(place, wheel, site) if one.file == wheel.file]
        except (OSError, StageFailed) as problem:
            if isinstance(problem, StageFailed) or not is_gone(problem):
                trouble.append(f"{without_login(place)} did not answer: {problem}")
            continue
        if exact := [one for one in offered if one.sha256 == wheel.sha256]:
            return Sought(wheel=replace(wheel, url=exact[0].url), found=True)
        named += offered
    if unsaid := [one for one in named if not one.sha256]:
        return Sought(wheel=replace(wheel, url=unsaid[0].url), found=True)  # its bytes are checked when they are here
    if named:
        why = f"{wheel.file} is not the file that was locked: SHA-256 {named[0].sha256}, not {wheel.sha256}"
    else:
        why = f"{wheel.name} {wheel.version} is locked, and this site has no {wheel.file} any more"
    return Sought(wheel=wheel, found=False, why=why, trouble="; ".join(trouble))


def _places(build: str, site: Site) -> Iterator[str]:
    """Every source, indexes as the addresses that a project's name is put behind, then the folders."""
    first = site.torch_index(build)
    indexes = [*([first] if first else []), *site.extra_indexes, site.default_index]
    yield from (index.rstrip("/") + "/" for index in dict.fromkeys(indexes))
    yield from site.find_links


def _offers(place: str, wheel: Wheel, site: Site) -> Sequence[Offered]:
    """The files that a place offers for the wheel's project; OSError when it cannot be asked."""
    folder, local = place in site.find_links, place.startswith("file:")
    if folder and (local or "://" not in place):
        return _folder(_there(place), wheel)
    if local:
        _there(place)
    project = re.sub(r"[-_.]+", "-", wheel.name).lower()
    url = place if folder else f"{place}{project}/"
    with opened(url + "index.html" if local else url, site, {"Accept": _ACCEPT}) as answer:
        content = whole(answer, _MAX_BYTES)
    shown = without_login(url)
    if content.lstrip()[:1] == b"{":
        return _of_json(content, shown)
    return _of_html(content.decode(errors="replace"), shown)


def _there(place: str) -> Path:
    """A folder of this machine; one that is not there, as when nothing is mounted, has not said what it has."""
    folder = Path(unquote(urlsplit(place).path) if place.startswith("file:") else place)
    if not folder.is_dir():
        raise OSError("there is no such folder")
    return folder


def _folder(folder: Path, wheel: Wheel) -> Sequence[Offered]:
    path = (folder / wheel.file).absolute()
    return [Offered(file=wheel.file, url=path.as_uri(), sha256="")] if path.is_file() else []


def _of_json(content: bytes, url: str) -> Sequence[Offered]:
    found = []
    try:
        for entry in text.read_json(content, _Page).files:
            digest = str(entry.get("hashes", {}).get("sha256", ""))
            said = digest if _SHA256.fullmatch(digest) or not digest else _NO_SHA256
            found.append(Offered(file=str(entry["filename"]), url=urljoin(url, str(entry["url"])), sha256=said))
    except (ValueError, LookupError, TypeError, AttributeError) as problem:
        raise NoAnswer(f"its answer is no list of files ({type(problem).__name__})") from None
    return found


def _of_html(content: str, url: str) -> Sequence[Offered]:
    links = _Links(url)
    try:
        links.feed(content)
    except (ValueError, AssertionError) as problem:  # of an address, and of html.parser's own
        raise NoAnswer(f"its page is no list of files ({type(problem).__name__})") from None
    return links.found


class _Links(html.parser.HTMLParser):
    """The links of a page, as files."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._base = url
        self.found: list[Offered] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Take a link; a `<base>` moves the links after it."""
        values: Mapping[str, str] = {name: value for name, value in attrs if value is not None}
        if "href" not in values:
            return
        if tag == "base":
            self._base = urljoin(self._base, values["href"])
        elif tag == "a":
            url, fragment = urldefrag(urljoin(self._base, values["href"]))
            said = re.fullmatch(r"sha256=([0-9a-f]{64})", fragment)
            file = unquote(urlsplit(url).path.rsplit("/", 1)[-1])
            self.found.append(Offered(file=file, url=url, sha256=said[1] if said else ""))
