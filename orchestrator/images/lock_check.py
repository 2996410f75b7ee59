"""`torchmatrix lock --check`: whether the locks fit the matrix, and whether what they name can still be had."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from orchestrator import text
from orchestrator.images.bases import find_base
from orchestrator.images.failure import StageFailed
from orchestrator.images.index import seek
from orchestrator.images.locked import other_base, other_image
from orchestrator.images.locks import Held, LockFile, held_in
from orchestrator.images.mirror import offered
from orchestrator.images.recipe import checked
from orchestrator.model import Axes, CheckedLock, LockCheck
from orchestrator.settings import Site
from orchestrator.vocabulary import LockState

_FAILING = {LockState.MISSING, LockState.UNREADABLE, LockState.OTHER, LockState.STALE, LockState.LEFT_OVER}
_SHOWN = 5


def check_locks(
    wanted: Mapping[str, Axes],
    needed: frozenset[str],
    strangers: Sequence[str],
    folder: Path,
    site: Site,
    *,
    ask: bool,
) -> LockCheck:
    """What is wrong with the locks of the wanted images (image id -> axes).

    A missing one counts where the image is `needed`, or where another of its torch build has one: of a build that
    nobody here could lock there is nothing to hold. `strangers` are lock files that no image has any more. With `ask`
    the site's indexes and mirror are asked for all that the good ones name; one that does not answer is a note.
    """
    held = held_in(folder)
    builds = {lock.axes.get("torch_build", "") for lock in held.locks.values()}
    found = [
        _fit(image, axes, held, site, strict=image in needed or axes["torch_build"] in builds or not builds)
        for image, axes in wanted.items()
    ]
    notes: list[str] = []
    if ask:
        good = {one.image: held.locks[one.image] for one in found if one.state is LockState.GOOD}
        gone, notes = _gone(good, site)
        found = [
            replace(one, state=LockState.STALE, because=tuple(gone[one.image])) if gone.get(one.image) else one
            for one in found
        ]
    found += [
        CheckedLock(image=image, rows=(), state=LockState.LEFT_OVER, because=("no image of the matrix has this name",))
        for image in strangers
    ]
    return LockCheck(
        folder=str(folder),
        good=not any(one.state in _FAILING for one in found),
        asked=ask,
        locks=tuple(found),
        notes=tuple(notes),
    )


def _fit(image: str, axes: Axes, held: Held, site: Site, *, strict: bool) -> CheckedLock:
    full = checked(axes)
    if image in held.unreadable:
        return _checked(image, LockState.UNREADABLE, text.one_line(held.unreadable[image].fact))
    lock = held.locks.get(image)
    if lock is None:
        why = "" if strict else f"nothing of {axes['torch_build']} is locked, and no such image runs here"
        return _checked(image, LockState.MISSING if strict else LockState.NONE, why or "there is no lock")
    why = other_image(lock, image, full)
    if not why:
        try:
            why = other_base(lock.base, find_base(full, site.bases))
        except StageFailed:
            why = ""  # this site cannot make the base at all: that is no matter of the lock
    return _checked(image, LockState.OTHER if why else LockState.GOOD, why)


def _checked(image: str, state: LockState, why: str) -> CheckedLock:
    return CheckedLock(image=image, rows=(), state=state, because=(why,) if why else ())


def _gone(locks: Mapping[str, LockFile], site: Site) -> tuple[Mapping[str, Sequence[str]], list[str]]:
    """What each lock names that the site does not have any more, and what could not be asked."""
    gone: dict[str, list[str]] = {image: [] for image in locks}
    notes: dict[str, None] = {}
    for build in sorted({lock.axes["torch_build"] for lock in locks.values()}):
        those = {image: lock for image, lock in locks.items() if lock.axes["torch_build"] == build}
        wheels = {wheel.sha256: wheel for lock in those.values() for wheel in lock.lock.wheels}
        for one in seek(list(wheels.values()), build, site):
            if one.trouble:
                notes[f"not asked for all wheels: {text.one_line(one.trouble)}"] = None
            elif not one.found:
                for image, lock in those.items():
                    gone[image] += [one.why] if one.wheel.sha256 in {held.sha256 for held in lock.lock.wheels} else []
    for image, (packages, trouble) in _packages_gone(locks, site):
        gone[image] += packages
        if trouble:
            notes[trouble] = None
    return gone, list(notes)


def _packages_gone(locks: Mapping[str, LockFile], site: Site) -> Iterator[tuple[str, tuple[Sequence[str], str]]]:
    """The locked distribution packages that the mirror has in no such version, by image; or why it was not asked."""
    asked: dict[tuple[str, str], Mapping[str, frozenset[str]] | str] = {}
    for image, lock in locks.items():
        base = lock.base
        if not base.packages:
            continue
        if (key := (base.suite, base.architecture)) not in asked:
            try:
                asked[key] = offered(*key, site)
            except OSError as problem:
                asked[key] = f"not asked for packages of {base.suite}: {text.one_line(str(problem))}"
        there = asked[key]
        if isinstance(there, str):
            yield image, ((), there)
            continue
        pairs = (entry.split("=", 1) for entry in base.packages)
        missing = [f"{name} {version}" for name, version in pairs if version not in there.get(name, ())]
        told = ", ".join(missing[:_SHOWN]) + (f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else "")
        yield image, ([f"the mirror of {base.suite} has no {told} any more"] if missing else (), "")
