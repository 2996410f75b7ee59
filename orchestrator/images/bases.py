"""Bases: the root file systems that images stand on.

A base is a name (`debian12`). The site says what it is: an image by digest, or, for Debian's releases and by default,
bootstrapped here from the site's mirror. One is never swapped for the other: a base that the site does not name and
that cannot be bootstrapped is a failure that says what to set.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from orchestrator import text
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.vocabulary import Cause

Axes = Mapping[str, str]


class Release(Struct, frozen=True, kw_only=True):
    """A release of a distribution: what it brings. `numpy` is the one that its torch package stands on."""

    suite: str
    python: str
    glibc: str
    bootstrapped: bool = False
    numpy: str = ""
    torch_packages: tuple[str, ...] = ()


# torch.compile needs a compiler and Python.h; Debian's torch 2.6 also its own headers and setuptools.
_TOOLCHAIN = ("g++", "libpython3-dev")
RELEASES: Mapping[str, Release] = {
    "debian11": Release(
        suite="bullseye",
        python="3.9",
        glibc="2.31",
        bootstrapped=True,
        numpy="1.19.5",
        torch_packages=("python3-torch",),
    ),
    "debian12": Release(
        suite="bookworm",
        python="3.11",
        glibc="2.36",
        bootstrapped=True,
        numpy="1.24.2",
        torch_packages=("python3-torch",),
    ),
    "debian13": Release(
        suite="trixie",
        python="3.13",
        glibc="2.41",
        bootstrapped=True,
        numpy="2.2.4",
        torch_packages=("python3-torch", "libtorch-dev", "python3-setuptools", *_TOOLCHAIN),
    ),
    "ubuntu22.04": Release(suite="jammy", python="3.10", glibc="2.35"),
    "ubuntu24.04": Release(suite="noble", python="3.12", glibc="2.39"),
}
_ALWAYS = ("python3", "ca-certificates")
_ANY_GLIBC = "2.28"  # what a base that we know nothing about is taken to have: the oldest that torch is built for
_DEBIAN_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "s390x": "s390x", "ppc64le": "ppc64el"}


class Base(Struct, frozen=True, kw_only=True):
    """A base resolved: `ref` is what FROM names. It is bootstrapped with `packages`, or is the site's `image`.

    `locked` is what a lock says that the bootstrapped root holds, each `name=version`; without one it is any.
    """

    name: str
    ref: str
    image: str = ""
    suite: str = ""
    architecture: str = ""
    packages: tuple[str, ...] = ()
    locked: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Everything that goes into the base, as hex digits; never the mirror that it came from."""
        made_of = [self.image, self.suite, self.architecture, list(self.packages), list(OPTIONS)]
        return text.digest([*made_of, list(self.locked)] if self.locked else made_of)


# Documentation is a fifth of a small root and nothing reads it; syncing each file to disk doubles the time.
OPTIONS = (
    "--variant=minbase",
    "--dpkgopt=path-exclude=/usr/share/man/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-include=/usr/share/doc/*/copyright",
    '--aptopt=APT::Install-Recommends "false"',
    "--dpkgopt=force-unsafe-io",
)


def find_base(axes: Axes, named: Mapping[str, str]) -> Base:
    """The base of a combination. `named` are the site's images, by `base` or `base-pyVERSION`, the latter first.

    StageFailed when the site names none and none can be bootstrapped that has this Python and torch.
    """
    name, python = axes["base"], axes.get("python", "")
    for key in (f"{name}-py{python}", name):
        if key in named:
            return _by_digest(name, named[key])
    release = RELEASES.get(name)
    key = name if release and release.python == python else f"{name}-py{python}"
    setting = f"set bases: {{{key}: repo@sha256:…}} in site.yaml"
    if release is None or not release.bootstrapped:
        raise StageFailed(
            Stage.BASE, f"base `{name}` is not one that is bootstrapped here", cause=Cause.BUILD, hint=setting
        )
    if python and release.python != ".".join(python.split(".")[:2]):
        raise StageFailed(
            Stage.BASE,
            f"`{name}` as bootstrapped here has Python {release.python}, not {python}",
            cause=Cause.MISSING_PACKAGE,
            hint=setting,
        )
    return _bootstrapped(name, release, axes)


def _by_digest(name: str, image: str) -> Base:
    """The site's image. BuildKit takes no bare image id in FROM, so a local image gets a name made of its id."""
    local = image.startswith("sha256:")
    return Base(name=name, ref=f"torchmatrix/base-{name}:{image[7:19]}" if local else image, image=image)


def _bootstrapped(name: str, release: Release, axes: Axes) -> Base:
    distribution = axes.get("torch_from") == "distribution"
    draft = Base(
        name=name,
        ref="",
        suite=release.suite,
        architecture=_DEBIAN_ARCHITECTURES[axes.get("host_arch", "x86_64")],
        packages=(*_ALWAYS, *(release.torch_packages if distribution else _TOOLCHAIN)),
    )
    return holding(draft, ())


def holding(base: Base, locked: Sequence[str]) -> Base:
    """A bootstrapped base that is to hold just these packages, under the name that it then has."""
    draft = replace(base, locked=tuple(locked))
    return replace(draft, ref=f"torchmatrix/base-{base.name}:{draft.key[:12]}")


def glibc(name: str) -> str:
    """The C library of a base, which decides what wheels it takes."""
    return RELEASES[name].glibc if name in RELEASES else _ANY_GLIBC
