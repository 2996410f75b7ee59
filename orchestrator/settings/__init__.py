"""The site's settings: where wheels, distribution packages and bases come from, and where things are kept.

What is not set is what pip and apt on this host use, because a closed network is the normal case. What is set wins, in
this order: `TORCHMATRIX_*` variables, the user's `site.yaml`, then the host. Each value remembers its origin.

    indexes:       {default: https://pypi.example/simple, cu130: https://pypi.example/torch/cu130}
    extra_indexes: [https://pypi.example/more]
    find_links:    [/mnt/wheels]
    bases:         {ubuntu24.04: registry.example/ubuntu@sha256:…, debian12-py3.12: registry.example/python@sha256:…}
    registries:    {registry.example: robot:env:REGISTRY_TOKEN}
    packages:      /mnt/vendor-packages
    ca_bundle: …   apt_mirror: …   proxies: {https: …}   store: …   cache: …
"""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from orchestrator import masking
from orchestrator.settings.addresses import as_proxy
from orchestrator.settings.host import defaults, from_apt, from_pip, from_proxies
from orchestrator.settings.kinds import KINDS, Value, items
from orchestrator.settings.user import at_home, from_file, from_variables, site_file, unknown_variables
from orchestrator.settings.validation import check

__all__ = ["PYPI", "TORCH_INDEX", "Site", "load_site", "site_file", "unknown_variables"]

PYPI = "https://pypi.org/simple"
TORCH_INDEX = "https://download.pytorch.org/whl/{build}"


class Site(Struct, frozen=True, kw_only=True):
    """Where this site's things are. `indexes` maps a torch build to its index; the empty key is everything else.

    `registries` maps a host to the login for it, `USER:env:NAME` or `USER:file:PATH`: its password is never here.
    """

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
    registries: Mapping[str, str] = {}
    locks: Path | None = None  # the folder of lock files beside the matrix at hand; no setting of a site

    @property
    def default_index(self) -> str:
        """The index of everything that is not built for one accelerator."""
        return self.indexes.get("", PYPI)

    @property
    def passwords(self) -> tuple[bytes, ...]:
        """What the settings of the site carry to log in with, wherever somebody put an address."""
        listed = [each for name in KINDS if name != "registries" for _, each in items(getattr(self, name))]
        listed += self.proxies.get("no", "").split(",")
        return tuple(dict.fromkeys(masking.passwords(listed)))

    def torch_index(self, build: str) -> str:
        """The index of a torch build; empty when the site's other sources are where its torch is."""
        if build in self.indexes:
            return self.indexes[build]
        configured = "" in self.indexes or self.extra_indexes or self.find_links
        return "" if configured else TORCH_INDEX.format(build=build)


def load_site(environ: Mapping[str, str]) -> Site:
    """The settings of this host and user; InputErrors when a file or a variable cannot be used."""
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    for source in (defaults, from_apt, from_proxies, from_pip, from_file, from_variables):
        for name, value, origin in source(environ):
            if isinstance(value, Mapping) and isinstance(had := values.get(name), Mapping):
                values[name] = {**had, **value}
            else:
                values[name] = value
            origins.update({f"{name}.{key}": origin for key in value} if isinstance(value, Mapping) else {name: origin})
    return _site(values, origins)


def _site(values: Mapping[str, Value], origins: Mapping[str, str]) -> Site:
    def one(name: str) -> str:
        return str(values[name])

    def many(name: str) -> tuple[str, ...]:
        value = values[name]
        return tuple(value) if not isinstance(value, str) else (value,)

    def pairs(name: str) -> dict[str, str]:
        value = values[name]
        return dict(value) if isinstance(value, Mapping) else {}

    indexes = {"" if key == "default" else key: url for key, url in pairs("indexes").items()}
    check(values, origins)
    return Site(
        indexes=indexes,
        extra_indexes=many("extra_indexes"),
        find_links=tuple(map(_expanded, many("find_links"))),
        ca_bundle=_expanded(one("ca_bundle")),
        apt_mirror=one("apt_mirror"),
        bases=pairs("bases"),
        registries=pairs("registries"),
        packages=_expanded(one("packages")),
        proxies={scheme: value if scheme == "no" else as_proxy(value) for scheme, value in pairs("proxies").items()},
        store=at_home(one("store")),
        cache=at_home(one("cache")),
        origins=dict(origins),
    )


def _expanded(place: str) -> str:
    """A folder of somebody's home, as no tool that is given it expands it; an address as it is."""
    return str(at_home(place)) if place.startswith("~") and place != "~" else place
