"""Settings that this host has already: what its apt, its pip and its environment use."""

import configparser
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator import disk
from orchestrator.settings.kinds import KINDS, Found, Value

_APT = Path("/etc/apt")
_LONGEST = 1 << 20
_PIP = Path("/etc/pip.conf")


def defaults(environ: Mapping[str, str]) -> Found:
    """What holds where nobody says anything."""
    import platformdirs

    data, cache = Path(platformdirs.user_data_dir("torchmatrix")), Path(platformdirs.user_cache_dir("torchmatrix"))
    if home := environ.get("XDG_DATA_HOME"):
        data = Path(home) / "torchmatrix"
    if home := environ.get("XDG_CACHE_HOME"):
        cache = Path(home) / "torchmatrix"
    empty: Mapping[str, Value] = {"text": "", "list": (), "pairs": {}}
    for name, kind in KINDS.items():
        yield name, empty[kind], "default"
    yield "store", str(data / "history"), "default"
    yield "cache", str(cache), "default"
    yield "packages", str(data / "packages"), "default"
    if bundle := environ.get("SSL_CERT_FILE"):
        yield "ca_bundle", bundle, "environment SSL_CERT_FILE"


def from_proxies(environ: Mapping[str, str]) -> Found:
    """The proxies that programs here use."""
    for scheme in ("http", "https", "no"):
        for name in (f"{scheme}_proxy", f"{scheme.upper()}_PROXY"):
            if environ.get(name):
                yield "proxies", {scheme: environ[name]}, f"environment {name}"


def from_apt(_: Mapping[str, str]) -> Found:
    """The mirror that apt here uses."""
    files = [_APT / "sources.list", *sorted((_APT / "sources.list.d").glob("*.*"))]
    for file in files:
        try:
            content = disk.read_bounded(file, _LONGEST).decode(errors="replace")
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


def from_pip(environ: Mapping[str, str]) -> Found:
    """What pip would use: its files, the later over the earlier, then its variables."""
    for file in _pip_files(environ):
        parser = configparser.RawConfigParser()
        try:
            parser.read_string(disk.read_bounded(file, _LONGEST).decode())
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue  # pip itself will complain; torchmatrix only borrows
        for section in ("global", "download", "install"):
            for option, setting in _PIP_SETTINGS.items():
                if parser.has_option(section, option):
                    yield setting, _pip_value(setting, parser.get(section, option)), f"{file} [{section}] {option}"
    for option, setting in _PIP_SETTINGS.items():
        name = f"PIP_{option.upper().replace('-', '_')}"
        if environ.get(name):
            yield setting, _pip_value(setting, environ[name]), f"environment {name}"


def _pip_value(setting: str, value: str) -> Value:
    kind = KINDS[setting]
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
