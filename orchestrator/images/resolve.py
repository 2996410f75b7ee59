"""Requirements -> pinned wheels, by uv, from the site's indexes. Answers are kept on disk by what was asked."""

import json
import os
import re
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

from orchestrator import disk, text
from orchestrator.images.command import Commands, Finished
from orchestrator.images.failure import Stage, StageFailed, at
from orchestrator.masking import without_passwords
from orchestrator.settings import Site

_DEADLINE_S = 600.0
_KEPT_BYTES = 64 << 20
_REFUSED = 1  # how uv says that nothing answers; anything else is no answer
_FINDING = threading.Lock()  # uv asks sysconfig, whose first answer is wrong in a second thread (Python 3.11)
_MANYLINUX = ((2, 28), (2, 31), (2, 32), (2, 33), (2, 34), (2, 35), (2, 36), (2, 37), (2, 38), (2, 39), (2, 40))


class Wheel(Struct, frozen=True, kw_only=True):
    """One wheel of a lock. `url` says where it was seen last; it is no part of what the wheel is."""

    name: str
    version: str
    file: str
    sha256: str
    url: str

    @property
    def identity(self) -> list[str]:
        """What goes into a recipe's digest."""
        return [self.name, self.version, self.file, self.sha256]


class Question(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is asked: requirements under constraints, for one Python on one platform.

    `preferences` are pins that are taken where they can be, and given up one by one where they cannot.
    """

    requirements: tuple[str, ...]
    constraints: tuple[str, ...]
    python: str
    platform: str
    build: str
    preferences: tuple[str, ...] = ()


Ask = Callable[[Question], tuple[Wheel, ...]]


def platform_tag(architecture: str, glibc: str) -> str:
    """The newest manylinux platform that uv knows and a base with this C library takes."""
    have = tuple(int(part) for part in glibc.split("."))
    major, minor = max((known for known in _MANYLINUX if known <= have), default=_MANYLINUX[0])
    return f"{architecture}-manylinux_{major}_{minor}"


def asked_anew(site: Site, commands: Commands) -> Ask:
    """Asks the site's indexes as they are now, each question once; a refusal is an answer too."""

    @cache
    def answer(question: Question) -> tuple[Wheel, ...] | StageFailed:
        try:
            return _ask_uv(question, site, commands)
        except StageFailed as failure:
            return failure

    def ask(question: Question) -> tuple[Wheel, ...]:
        found = answer(question)
        if isinstance(found, StageFailed):
            raise found
        return found

    return ask


def resolve(
    question: Question, site: Site, commands: Commands, *, deadline_s: float = _DEADLINE_S
) -> tuple[Wheel, ...]:
    """The wheels that answer the question, by name; StageFailed (wheels) with uv's own words when nothing does."""
    kept = site.cache / "locks" / f"{text.digest([msgspec.to_builtins(question), _sources(question, site)], 32)}.json"
    try:
        return text.read_json(disk.read_bounded(kept, _KEPT_BYTES), tuple[Wheel, ...])
    except (OSError, ValueError):
        wheels = _ask_uv(question, site, commands, deadline_s)
    with at(Stage.WHEELS):
        kept.parent.mkdir(parents=True, exist_ok=True)
        disk.write(kept, msgspec.json.format(msgspec.json.encode(wheels)), 0o600)
    return wheels


def _sources(question: Question, site: Site) -> list[str]:
    """The index options: the torch build's own index first, then the site's others in the site's order.

    A package comes from the first that has a version that fits, so no later index can outbid an earlier one.
    """
    first = site.torch_index(question.build) if question.build else ""
    return [
        *(("--index", first) if first else ()),
        *(word for url in site.extra_indexes for word in ("--index", url)),
        *("--default-index", site.default_index, "--index-strategy", "unsafe-first-match"),
        *(word for place in site.find_links for word in ("--find-links", place)),
    ]


def _settings(sources: Sequence[str]) -> str:
    """The index options as a settings file of uv: on a command line every user could read the logins in them."""
    options = list(zip(sources[::2], sources[1::2], strict=True))
    indexes = [(url, option == "--default-index") for option, url in options if option.endswith("index")]
    links = [place for option, place in options if option == "--find-links"]
    strategy = next(value for option, value in options if option == "--index-strategy")
    lines = [f"index-strategy = {json.dumps(strategy)}", f"find-links = {json.dumps(links, ensure_ascii=False)}"]
    for url, is_default in indexes:
        lines += ["[[index]]", f"url = {json.dumps(url, ensure_ascii=False)}", f"default = {str(is_default).lower()}"]
    return "\n".join(lines) + "\n"


def uv() -> str:
    """The uv that torchmatrix was installed with."""
    from uv import find_uv_bin

    with _FINDING:
        return str(find_uv_bin())


def uv_environment(site: Site, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for uv: the site's certificates and proxies, and no uv setting that we did not give."""
    kept = {name: value for name, value in environ.items() if not name.startswith("UV_") or name == "UV_CACHE_DIR"}
    for scheme, url in site.proxies.items():
        kept[f"{scheme.upper()}_PROXY"] = url
    if site.ca_bundle:
        kept["SSL_CERT_FILE"] = site.ca_bundle
    return kept


def _ask_uv(question: Question, site: Site, commands: Commands, deadline_s: float = _DEADLINE_S) -> tuple[Wheel, ...]:
    with tempfile.TemporaryDirectory(prefix="torchmatrix-resolve-") as name:
        folder = Path(name)
        (folder / "requirements.in").write_text("\n".join(question.requirements) + "\n")
        (folder / "constraints.txt").write_text("\n".join(question.constraints) + "\n")
        (folder / "uv.toml").write_text(_settings(_sources(question, site)))
        if question.preferences:
            (folder / "pylock.toml").write_text(_before(question.preferences))
        done = commands.run(
            [
                *(uv(), "pip", "compile", "requirements.in", "--constraints", "constraints.txt"),
                *("--format", "pylock.toml", "--output-file", "pylock.toml", "--no-header", "--generate-hashes"),
                *(
                    "--config-file",
                    "uv.toml",
                    "--no-python-downloads",
                    "--only-binary",
                    ":all:",
                    "--python",
                    sys.executable,
                ),
                *("--python-version", question.python, "--python-platform", question.platform),
            ],
            deadline_s=deadline_s,
            env=uv_environment(site, os.environ),
            cwd=folder,
        )
        wanted = ", ".join(question.requirements)
        if done.timed_out:
            raise StageFailed(
                Stage.WHEELS,
                f"the indexes did not say within {deadline_s:.0f} s what there is for {wanted}",
                log=done.log,
                hint="`torchmatrix site --check` asks each of them",
            )
        if done.code != 0:
            asked = f"{wanted} on Python {question.python}, {question.platform}"
            fact = f"no wheels for {asked}" if done.code == _REFUSED else f"{_trouble(done)}: no answer for {asked}"
            hint = "see the site's `ca_bundle`" if "certificate" in fact else ""
            raise StageFailed(Stage.WHEELS, fact, log=done.log, hint=hint)
        return read_pylock(_written_by_uv(folder / "pylock.toml"))


def _trouble(done: Finished) -> str:
    """Why uv came to no answer at all, an index that is down mostly: what it asked, and its deepest cause."""
    said = re.findall(r"^ *(?:error|caused?(?: by)?): (.*)$", done.err, re.MULTILINE | re.IGNORECASE)
    place = next((line for line in said if "fetch" in line), "")  # with another uv it stands below another line
    told = dict.fromkeys((place or said[0], said[-1])) if said else (f"uv ended with {done.code}",)
    return text.one_line(without_passwords(": ".join(told)), 300)


def _before(pins: Sequence[str]) -> str:
    """A lock as if an earlier call had left it: what it holds uv takes before anything newer."""
    held = [pin.split("==", 1) for pin in pins]
    packages = (f'[[packages]]\nname = "{name}"\nversion = "{version}"\n' for name, version in held)
    return 'lock-version = "1.0"\ncreated-by = "torchmatrix"\n' + "".join(packages)


def _written_by_uv(file: Path) -> str:
    try:
        return disk.read_bounded(file, _KEPT_BYTES).decode()
    except (OSError, ValueError) as problem:
        raise _unreadable(problem) from problem


class _Source(Struct, frozen=True):
    url: str = ""
    path: str = ""
    hashes: Mapping[str, str] = {}


class _Package(Struct, frozen=True):
    name: str
    version: str = ""
    wheels: tuple[_Source, ...] = ()


class _Pylock(Struct, frozen=True):
    packages: tuple[_Package, ...] = ()


def read_pylock(content: str) -> tuple[Wheel, ...]:
    """The wheels of a lock file as uv writes it (https://peps.python.org/pep-0751/), by name.

    StageFailed (wheels) where it is none: what stands in it came from indexes.
    """
    try:
        held = msgspec.convert(tomllib.loads(content), _Pylock)
        wheels = [_wheel(package, package.wheels[0]) for package in held.packages if package.wheels]
    except (ValueError, RecursionError, msgspec.MsgspecError) as problem:
        raise _unreadable(problem) from problem
    return tuple(sorted(wheels, key=lambda wheel: wheel.name))


def _wheel(package: _Package, source: _Source) -> Wheel:
    if not source.url and not source.path:
        raise ValueError(f"a wheel of `{text.shown(package.name)}` has no place")
    url = source.url or Path(source.path).resolve().as_uri()
    return Wheel(
        name=package.name,
        version=package.version,
        file=unquote(urlsplit(url).path.rsplit("/", 1)[-1]),
        sha256=source.hashes.get("sha256", ""),
        url=url,
    )


def _unreadable(problem: Exception) -> StageFailed:
    why = text.one_line(str(problem), 200)
    return StageFailed(Stage.WHEELS, f"uv answered in a form that is not known: {why}")
