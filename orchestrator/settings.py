"""The site's settings: where wheels, distribution packages and bases come from, and where things are kept.

What is not set is what pip and apt on this host use, because a closed network is the normal case. What is set wins, in
this order: `TORCHMATRIX_*` variables, the user's `site.yaml`, then the host. Each value remembers its origin.

    indexes:       {default: https://pypi.example/simple, cu130: https://pypi.example/torch/cu130}
    extra_indexes: [https://pypi.example/more]
    find_links:    [/mnt/wheels]
    bases:         {ubuntu24.04: registry.example/ubuntu@sha256:…, debian12-py3.12: registry.example/python@sha256:…}
    packages:      /mnt/vendor-packages
    ca_bundle: …   apt_mirror: …   proxies: {https: …}   store: …   cache: …
"""

import configparser
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from orchestrator import axes, masking, text
from orchestrator.errors import InputError, InputErrors
from orchestrator.yaml_bounds import admit

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

PYPI = "https://pypi.org/simple"
TORCH_INDEX = "https://download.pytorch.org/whl/{build}"
_APT = Path("/etc/apt")
_PIP = Path("/etc/pip.conf")


class Site(Struct, frozen=True, kw_only=True):
    """Where this site's things are. `indexes` maps a torch build to its index; the empty key is everything else."""

    indexes: Mapping[str, str]
    extra_indexes: tuple[str, ...]
    find_links: tuple[str, ...]
    ca_bundle: str
    apt_mirror: str
    bases: Mapping[str, str]
    packages: str
    proxies: Mapping[str, str]
    store: Path
    cache: Path
    origins: Mapping[str, str]
    locks: Path | None = None  # the folder of lock files beside the matrix at hand; no setting of a site

    @property
    def default_index(self) -> str:
        """The index of everything that is not built for one accelerator."""
        return self.indexes.get("", PYPI)

    @property
    def passwords(self) -> tuple[bytes, ...]:
        """What the addresses of the site carry to log in with."""
        lists = (self.indexes.values(), self.extra_indexes, self.find_links, (self.apt_mirror,), self.proxies.values())
        return tuple(masking.passwords(address for addresses in lists for address in addresses))

    def torch_index(self, build: str) -> str:
        """The index of a torch build; empty when the site's other sources are where its torch is."""
        if build in self.indexes:
            return self.indexes[build]
        configured = "" in self.indexes or self.extra_indexes or self.find_links
        return "" if configured else TORCH_INDEX.format(build=build)


# Kinds of setting: one text, a list (white space between the items in a variable), or pairs (name=value there).
_KINDS: Mapping[str, str] = {
    "indexes": "pairs",
    "extra_indexes": "list",
    "find_links": "list",
    "ca_bundle": "text",
    "apt_mirror": "text",
    "bases": "pairs",
    "packages": "text",
    "proxies": "pairs",
    "store": "text",
    "cache": "text",
}
_Value = str | tuple[str, ...] | Mapping[str, str]
_Found = Iterator[tuple[str, _Value, str]]  # setting, value, origin


def load_site(environ: Mapping[str, str]) -> Site:
    """The settings of this host and user; InputErrors when a file or a variable cannot be used."""
    values: dict[str, _Value] = {}
    origins: dict[str, str] = {}
    for source in (_defaults, _from_apt, _from_proxies, _from_pip, _from_file, _from_variables):
        for name, value, origin in source(environ):
            if isinstance(value, Mapping) and isinstance(had := values.get(name), Mapping):
                values[name] = {**had, **value}
            else:
                values[name] = value
            origins.update({f"{name}.{key}": origin for key in value} if isinstance(value, Mapping) else {name: origin})
    return _site(values, origins)


def _site(values: Mapping[str, _Value], origins: Mapping[str, str]) -> Site:
    def one(name: str) -> str:
        return str(values[name])

    def many(name: str) -> tuple[str, ...]:
        value = values[name]
        return tuple(value) if not isinstance(value, str) else (value,)

    def pairs(name: str) -> dict[str, str]:
        value = values[name]
        return dict(value) if isinstance(value, Mapping) else {}

    indexes = {"" if key == "default" else key: url for key, url in pairs("indexes").items()}
    for name, image in pairs("bases").items():
        if problem := axes.problem_with(axes.AXES["image"], image):
            raise InputError(f"base `{text.one_line(name, 60)}`: {problem}", place=origins.get(f"bases.{name}", ""))
    return Site(
        indexes=indexes,
        extra_indexes=many("extra_indexes"),
        find_links=many("find_links"),
        ca_bundle=one("ca_bundle"),
        apt_mirror=one("apt_mirror"),
        bases=pairs("bases"),
        packages=one("packages"),
        proxies=pairs("proxies"),
        store=_at_home(one("store")),
        cache=_at_home(one("cache")),
        origins=dict(origins),
    )


def _at_home(path: str) -> Path:
    """The path, with a leading `~` as the home that it names; one of a user who is not there stays as it is written."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


# --- the host ---------------------------------------------------------------------------------------------------------


def _defaults(environ: Mapping[str, str]) -> _Found:
    import platformdirs

    data, cache = Path(platformdirs.user_data_dir("torchmatrix")), Path(platformdirs.user_cache_dir("torchmatrix"))
    if home := environ.get("XDG_DATA_HOME"):
        data = Path(home) / "torchmatrix"
    if home := environ.get("XDG_CACHE_HOME"):
        cache = Path(home) / "torchmatrix"
    empty: Mapping[str, _Value] = {"text": "", "list": (), "pairs": {}}
    for name, kind in _KINDS.items():
        yield name, empty[kind], "default"
    yield "store", str(data / "history"), "default"
    yield "cache", str(cache), "default"
    yield "packages", str(data / "packages"), "default"
    if bundle := environ.get("SSL_CERT_FILE"):
        yield "ca_bundle", bundle, "environment SSL_CERT_FILE"


def _from_proxies(environ: Mapping[str, str]) -> _Found:
    for scheme in ("http", "https", "no"):
        for name in (f"{scheme}_proxy", f"{scheme.upper()}_PROXY"):
            if environ.get(name):
                yield "proxies", {scheme: environ[name]}, f"environment {name}"


def _from_apt(_: Mapping[str, str]) -> _Found:
    files = [_APT / "sources.list", *sorted((_APT / "sources.list.d").glob("*.*"))]
    for file in files:
        try:
            content = file.read_text(errors="replace")
        except OSError:
            continue
        uris = [line.split() for line in content.splitlines() if re.match(r"(deb\s|URIs:)", line)]
        for words in uris:
            for word in words:
                # A mirror of Debian's archive, however it is named: not its security archive, not a vendor's.
                if re.match(r"(https?|file)://", word) and word.rstrip("/").endswith("/debian"):
                    yield "apt_mirror", word.rstrip("/"), str(file)
                    return


_PIP_SETTINGS = {
    "index-url": "indexes",
    "extra-index-url": "extra_indexes",
    "find-links": "find_links",
    "cert": "ca_bundle",
}


def _from_pip(environ: Mapping[str, str]) -> _Found:
    """What pip would use: its files, the later over the earlier, then its variables."""
    for file in _pip_files(environ):
        parser = configparser.RawConfigParser()
        try:
            parser.read(file, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue  # pip itself will complain; torchmatrix only borrows
        for section in ("global", "download", "install"):
            for option, setting in _PIP_SETTINGS.items():
                if parser.has_option(section, option):
                    yield setting, _pip_value(setting, parser.get(section, option)), f"{file} [{section}] {option}"
    for option, setting in _PIP_SETTINGS.items():
        name = f"PIP_{option.upper().replace('-', '_')}"
        if environ.get(name):
            yield setting, _pip_value(setting, environ[name]), f"environment {name}"


def _pip_value(setting: str, value: str) -> _Value:
    kind = _KINDS[setting]
    if kind == "list":
        return tuple(value.split())
    return {"default": value.strip()} if kind == "pairs" else value.strip()


def _pip_files(environ: Mapping[str, str]) -> Sequence[Path]:
    """The configuration files of pip, least first: https://pip.pypa.io/en/stable/topics/configuration/."""
    named = environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return []
    home = Path(environ.get("HOME") or "~").expanduser()
    shared = [Path(folder) / "pip/pip.conf" for folder in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")]
    user = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip/pip.conf"
    files = [*shared, _PIP, home / ".pip/pip.conf", user, Path(sys.prefix) / "pip.conf"]
    return [*files, Path(named)] if named else files


# --- the user ---------------------------------------------------------------------------------------------------------


def site_file(environ: Mapping[str, str]) -> Path:
    """The user's file: `$TORCHMATRIX_SITE`, else `torchmatrix/site.yaml` in the configuration folder."""
    if named := environ.get("TORCHMATRIX_SITE"):
        return _at_home(named)
    home = Path(environ.get("HOME") or "~").expanduser()
    return Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "torchmatrix/site.yaml"


def _from_variables(environ: Mapping[str, str]) -> _Found:
    for name, kind in _KINDS.items():
        variable = f"TORCHMATRIX_{name.upper()}"
        if value := environ.get(variable, "").strip():
            yield name, _split(kind, value, variable), f"environment {variable}"


def _split(kind: str, value: str, variable: str) -> _Value:
    if kind == "text":
        return value
    if kind == "list":
        return tuple(value.split())
    pairs = [item.partition("=") for item in value.split()]
    if bad := [key for key, equals, target in pairs if not (key and equals and target)]:
        raise InputError(
            f"`{text.one_line(bad[0], 60)}` is not a name=value pair", place=f"environment {variable}", hint="a=b c=d"
        )
    return {key: target for key, _, target in pairs}


def _from_file(environ: Mapping[str, str]) -> _Found:
    file = site_file(environ)
    try:
        content = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        if "TORCHMATRIX_SITE" in environ:
            raise InputError("no such file", place=str(file), cause="named by TORCHMATRIX_SITE") from None
        return
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"cannot be read: {text.one_line(str(problem))}", place=str(file)) from problem
    problems: list[InputError] = []
    for key, node in _entries(file, content):
        name, place = str(key.value), f"{file}:{key.start_mark.line + 1}:{key.start_mark.column + 1}"
        shown, kind = text.one_line(name, 60), _KINDS.get(name, "")
        value = _plain(kind, node)
        if not kind:
            problems.append(InputError(f"`{shown}` is no setting", place=place, hint=axes.suggestion(name, _KINDS)))
        elif value is None:
            problems.append(InputError(f"`{shown}` takes {_FORMS[kind]}", place=place))
        else:
            yield name, value, place
    if problems:
        raise InputErrors(problems)


def _entries(file: Path, content: str) -> "Sequence[tuple[Node, Node]]":
    """The keys of the file and their values, as nodes that know their places."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.nodes import MappingNode

    try:
        admit(content)
        root = YAML(typ="safe", pure=True).compose(content)
    except (YAMLError, ValueError, LookupError, TypeError, AttributeError, AssertionError) as problem:
        # The pure parser lets a few of its own slips through on hostile input.
        raise InputError(f"is not YAML: {text.one_line(str(problem))}", place=str(file)) from problem
    if root is None:
        return ()
    if not isinstance(root, MappingNode):
        raise InputError("holds no settings", place=str(file), hint="a mapping of setting names")
    return tuple(root.value)


_FORMS = {"text": "one text", "list": "a list of texts", "pairs": "a mapping of names to texts"}


def _plain(kind: str, node: object) -> _Value | None:
    """The node as that kind of value, every scalar as text; None when it is something else."""
    from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

    if kind == "text" and isinstance(node, ScalarNode):
        return str(node.value)
    if kind == "list" and isinstance(node, SequenceNode) and all(isinstance(item, ScalarNode) for item in node.value):
        return tuple(str(item.value) for item in node.value)
    if kind == "pairs" and isinstance(node, MappingNode):
        items = node.value
        if all(isinstance(key, ScalarNode) and isinstance(value, ScalarNode) for key, value in items):
            return {str(key.value): str(value.value) for key, value in items}
    return None
