"""What is in force at a site, each value with where it came from and nothing secret in it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from orchestrator import disk, text
from orchestrator.masking import without_passwords
from orchestrator.settings import TORCH_INDEX, Site
from orchestrator.settings.kinds import KINDS
from orchestrator.settings.user import site_file

_CONFIG_BYTES = 1 << 20


class Told(Struct, frozen=True, kw_only=True):
    """One value; `name` is the setting, or `setting.key` where it maps names."""

    name: str
    value: str
    origin: str


class SiteAnswer(Struct, frozen=True, kw_only=True):
    """What `torchmatrix site` answers: the file of the user, there or not, what is in force, and what was checked."""

    file: str
    file_found: bool
    settings: tuple[Told, ...]
    checks: "tuple[Checked, ...]" = ()


class Checked(Struct, frozen=True, kw_only=True):
    """Whether a place can be used; `problem` is empty where it can."""

    name: str
    value: str
    problem: str = ""


def answer(site: Site, environ: Mapping[str, str]) -> SiteAnswer:
    """All that is in force, by the order of the settings; unset ones are told as such."""
    file = site_file(environ)
    return SiteAnswer(file=str(file), file_found=file.is_file(), settings=tuple(_told(site, environ)))


def _told(site: Site, environ: Mapping[str, str]) -> Iterator[Told]:
    for name, kind in KINDS.items():
        value = getattr(site, name)
        if kind != "pairs" or (not value and name != "indexes"):
            for each in (value or ("",)) if kind == "list" else (value or "",):
                yield Told(name=name, value=without_passwords(str(each)), origin=site.origins.get(name, "default"))
            if kind != "pairs":
                continue
        if name == "indexes":
            yield from _indexes(site)
        for key, each in value.items():
            if key:
                origin = site.origins.get(f"{name}.{key}", "default")
                yield Told(name=f"{name}.{key}", value=without_passwords(each), origin=origin)
        if name == "registries":
            yield from _logged_in(environ, frozenset(value))


def _indexes(site: Site) -> Iterator[Told]:
    """The index of everything, and of the torch builds that have none of their own."""
    origin = site.origins.get("indexes.default", "default")
    yield Told(name="indexes.default", value=without_passwords(site.default_index), origin=origin)
    if site.torch_index("") == TORCH_INDEX.format(build=""):
        yield Told(name="indexes.<torch_build>", value=TORCH_INDEX.format(build="<torch_build>"), origin="default")


def _logged_in(environ: Mapping[str, str], own: frozenset[str]) -> Iterator[Told]:
    """The registries that docker itself is logged in to, by its file: names of hosts and helpers, no login."""
    home = environ.get("DOCKER_CONFIG") or str(Path(environ.get("HOME") or "/nonexistent", ".docker"))
    file = Path(home, "config.json")
    try:
        config = text.read_json(disk.read_bounded(file, _CONFIG_BYTES), dict[str, Any])
        helpers, auths = dict(config.get("credHelpers") or {}), dict(config.get("auths") or {})
        store = config.get("credsStore")
    except (OSError, ValueError, TypeError, AttributeError):
        return
    found = {host: f"docker's credential helper {helper}" for host, helper in helpers.items()}
    found |= {
        host: f"docker's credential store {store}" if store else "docker's own login"
        for host in auths
        if host not in found
    }
    for host, how in sorted(found.items()):
        if host not in own:
            yield Told(name=f"registries.{text.one_line(host, 100)}", value=text.one_line(how, 100), origin=str(file))
