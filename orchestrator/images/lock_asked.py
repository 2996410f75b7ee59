"""Whether what locks name can still be had: each index and mirror of the site is asked, and nothing is fetched.

Gone is what a source answered that it does not have. Where one did not answer, nothing is known: that is trouble of
the site, and no lock is stale by it.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from orchestrator import text
from orchestrator.images.failure import StageFailed
from orchestrator.images.index import seek
from orchestrator.images.locks import LockedBase, LockFile
from orchestrator.images.mirror import offered
from orchestrator.images.remote import is_gone, without_login
from orchestrator.settings import Site

_SHOWN = 5


class Answers(Struct, frozen=True, kw_only=True):
    """By image: what is `gone`, and what is `unknown`, since a source did not answer; `notes` is what nobody has."""

    gone: Mapping[str, list[str]]
    unknown: Mapping[str, list[str]]
    notes: list[str]


def asked_for(locks: Mapping[str, LockFile], site: Site) -> Answers:
    """What the sources of a site say of all that locks (image id -> lock) name; each is asked for a thing once."""
    gone: dict[str, list[str]] = {image: [] for image in locks}
    unknown: dict[str, list[str]] = {image: [] for image in locks}
    notes: list[str] = []
    for image, lost, silent in _wheels(locks, site):
        gone[image] += lost
        unknown[image] += silent
    if not site.apt_mirror and any(lock.base.packages for lock in locks.values()):
        notes.append("not asked for distribution packages: the site names no mirror of Debian (`apt_mirror`)")
    else:
        for image, lost, silent in _packages(locks, site):
            gone[image] += lost
            unknown[image] += silent
    return Answers(gone=gone, unknown=unknown, notes=notes)


def _wheels(locks: Mapping[str, LockFile], site: Site) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    for build in sorted({lock.axes["torch_build"] for lock in locks.values()}):
        those = {image: lock for image, lock in locks.items() if lock.axes["torch_build"] == build}
        wheels = {wheel.sha256: wheel for lock in those.values() for wheel in lock.lock.wheels}
        sought = {one.wheel.sha256: one for one in seek(list(wheels.values()), build, site) if not one.found}
        for image, lock in those.items():
            absent = [sought[wheel.sha256] for wheel in lock.wheels.all if wheel.sha256 in sought]
            silent: dict[str, list[str]] = {}
            for one in absent:
                if one.trouble:
                    silent.setdefault(one.trouble, []).append(f"{one.wheel.name} {one.wheel.version}")
            said = [f"{text.one_line(trouble)}: asked for {_some(names)}" for trouble, names in silent.items()]
            yield image, [one.why for one in absent if not one.trouble], said


def _packages(locks: Mapping[str, LockFile], site: Site) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    asked: dict[tuple[str, str], Mapping[str, frozenset[str]] | str] = {}
    for image, lock in locks.items():
        base = lock.base
        if not base.packages:
            continue
        if (key := (base.suite, base.architecture)) not in asked:
            asked[key] = _offered(base, site)
        there = asked[key]
        if isinstance(there, str):
            yield image, (), [there]
            continue
        pairs = (entry.split("=", 1) for entry in base.packages)
        missing = [f"{name} {version}" for name, version in pairs if version not in there.get(name, ())]
        yield image, [f"the mirror of {base.suite} has no {_some(missing)} any more"] if missing else [], ()


def _offered(base: LockedBase, site: Site) -> Mapping[str, frozenset[str]] | str:
    """The packages of a suite, none when the mirror answers that it has no such suite; or that it did not answer."""
    try:
        return offered(base.suite, base.architecture, site)
    except (OSError, StageFailed) as problem:
        if not isinstance(problem, StageFailed) and is_gone(problem):
            return {}
        return f"{without_login(site.apt_mirror)} did not answer for {base.suite}: {text.one_line(str(problem))}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
