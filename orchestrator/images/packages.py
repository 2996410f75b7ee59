"""Vendor packages: user-mode drivers that live in an image, as files that the site has put in place."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from orchestrator import text
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause

AXES_WITH_PACKAGES = ("cuda_compat", "level_zero", "compute_runtime")


class Package(Struct, frozen=True, kw_only=True):
    """One package file of one axis."""

    axis: str
    file: str
    sha256: str
    path: str

    @property
    def identity(self) -> list[str]:
        """What goes into a recipe's digest."""
        return [self.axis, self.file, self.sha256]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_packages(axes: Mapping[str, str], site: Site) -> tuple[Package, ...]:
    """The package files of every axis that has some; StageFailed (base) when the site has none for it."""
    found: list[Package] = []
    for axis in AXES_WITH_PACKAGES:
        if axis in axes:
            folder = Path(site.packages) / axis / axes[axis]
            files = sorted(path for path in folder.glob("*.deb") if text.is_file_name(path.name) and path.is_file())
            if not files:
                raise StageFailed(
                    Stage.BASE,
                    f"no packages of {axis} {axes[axis]} in {folder}",
                    cause=Cause.MISSING_PACKAGE,
                    hint="put the vendor's .deb files there, or set packages: to where they are",
                )
            found += [Package(axis=axis, file=path.name, sha256=_sha256(path), path=str(path)) for path in files]
    return tuple(found)
