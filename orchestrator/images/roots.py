"""What a root file system holds, read from its tar file without unpacking it."""

import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from orchestrator.images.failure import Stage, StageFailed

_STATUS = "var/lib/dpkg/status"
_RELEASE = "etc/debian_version"


class Root(Struct, frozen=True, kw_only=True):
    """A distribution's release and its packages, each `name=version`, sorted."""

    release: str
    packages: tuple[str, ...]


def read_root(archive: Path) -> Root:
    """What is in a root; StageFailed (base) when it is none of a distribution with dpkg."""
    wanted: dict[str, str] = {}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                name = member.name.removeprefix("./")
                if name in {_STATUS, _RELEASE} and (stream := tar.extractfile(member)) is not None:
                    wanted[name] = stream.read().decode(errors="replace")
                if len(wanted) == 2:  # noqa: PLR2004 - both are there
                    break
    except tarfile.TarError as problem:
        raise StageFailed(Stage.BASE, "the root that was made is no tar file", log=str(problem)) from problem
    if _STATUS not in wanted:
        raise StageFailed(Stage.BASE, "the root that was made has no list of its packages", log=_STATUS)
    return Root(release=wanted.get(_RELEASE, "").strip(), packages=installed(wanted[_STATUS]))


def installed(status: str) -> tuple[str, ...]:
    """`name=version` of each package that a dpkg status file has as installed, sorted."""
    return tuple(
        sorted(
            f"{fields['Package']}={fields['Version']}"
            for fields in stanzas(status)
            if fields.get("Status", "").endswith(" installed") and fields.get("Version")
        )
    )


def stanzas(content: str) -> Sequence[Mapping[str, str]]:
    """The paragraphs of a Debian control file that name a package, without what is continued on further lines."""
    found = []
    for paragraph in content.split("\n\n"):
        lines = (line.partition(":") for line in paragraph.splitlines() if line[:1] not in {" ", "\t"})
        fields = {name: value.strip() for name, _, value in lines}
        if "Package" in fields:
            found.append(fields)
    return found


def moved(before: Sequence[str], after: Sequence[str]) -> Sequence[str]:
    """What differs between two lists of packages, `name: old -> new` each; `none` where one has it not."""
    old, new = (dict(entry.split("=", 1) for entry in entries) for entries in (before, after))
    return [
        f"{name}: {old.get(name, 'none')} -> {new.get(name, 'none')}"
        for name in sorted(old | new)
        if old.get(name) != new.get(name)
    ]
