"""`torchmatrix lock --check`: whether the locks fit the matrix, and whether what they name can still be had."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from orchestrator import text
from orchestrator.images.bases import find_base
from orchestrator.images.failure import StageFailed
from orchestrator.images.lock_asked import asked_for
from orchestrator.images.locked import other_base, unfit
from orchestrator.images.locks import Held, held_in, place_of_lock
from orchestrator.images.recipe import checked
from orchestrator.model import Axes, CheckedLock, LockCheck
from orchestrator.settings import Site
from orchestrator.vocabulary import LockState

_GOOD = {LockState.GOOD, LockState.NONE}
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
    nobody here could lock there is nothing to hold. Where there is no lock at all each one counts: nothing tells
    then what could not be locked. `strangers` are lock files that no image has any more. With `ask` the site's indexes
    and mirror are asked for all that the good ones name; what one that does not answer has is not known, and neither
    good nor stale.
    """
    held = held_in(folder)
    builds = {lock.axes.get("torch_build", "") for lock in held.locks.values()}
    found = [
        _fit(image, axes, held, site, strict=image in needed or axes["torch_build"] in builds or not builds)
        for image, axes in wanted.items()
    ]
    notes: list[str] = []
    answered = True
    if ask:
        good = {one.image: held.locks[one.image] for one in found if one.state is LockState.GOOD}
        answers = asked_for(good, site)
        notes, answered = answers.notes, not any(answers.unknown.values())
        found = [_answered(one, answers.gone, answers.unknown) for one in found]
    found += [_stranger(image, held) for image in strangers]
    return LockCheck(
        folder=str(folder),
        good=all(one.state in _GOOD for one in found),
        asked=ask,
        answered=answered,
        locks=tuple(found),
        notes=tuple(notes),
    )


def _fit(image: str, axes: Axes, held: Held, site: Site, *, strict: bool) -> CheckedLock:
    full = checked(axes)
    if image in held.unreadable:
        return _unreadable(image, held)
    lock = held.locks.get(image)
    if lock is None:
        none = f"nothing of {axes['torch_build']} is locked, and no such image runs here"
        return _checked(image, *((LockState.MISSING, ["there is no lock"]) if strict else (LockState.NONE, [none])))
    why = unfit(lock, image, full)
    try:
        other = "" if why else other_base(lock.base, find_base(full, site.bases))
    except StageFailed:
        other = ""  # this site cannot make the base at all: that is no matter of the lock
    if wrong := [*why, *([other] if other else [])]:
        return _checked(image, LockState.OTHER, [_named(image, one) for one in wrong])
    unlocked = f"no distribution package of {lock.base.suite} is locked: where it was made, there were none to be had"
    return _checked(image, LockState.GOOD, [unlocked] if lock.base.suite and not lock.base.packages else [])


def _answered(one: CheckedLock, gone: Mapping[str, Sequence[str]], unknown: Mapping[str, Sequence[str]]) -> CheckedLock:
    """The same with what was answered: gone is certain, whatever else could not be asked."""
    stale, open_ = gone.get(one.image, ()), unknown.get(one.image, ())
    if not stale and not open_:
        return one
    return _checked(one.image, LockState.STALE if stale else LockState.UNANSWERED, [*stale, *open_])


def _stranger(image: str, held: Held) -> CheckedLock:
    """A lock file that no image of the matrix has; it is told also when it is none."""
    if image in held.unreadable:
        found = _unreadable(image, held)
        return replace(found, because=(*found.because, "no image of the matrix has this name: remove the file"))
    return _checked(text.one_line(image), LockState.LEFT_OVER, ["no image of the matrix has this name"])


def _unreadable(image: str, held: Held) -> CheckedLock:
    problem = held.unreadable[image]
    return _checked(text.one_line(image), LockState.UNREADABLE, [_named(image, f"{problem.fact} ({problem.cause})")])


def _named(image: str, why: str) -> str:
    return text.one_line(f"{place_of_lock(Path(), image)}: {why}", 400)


def _checked(image: str, state: LockState, why: Sequence[str]) -> CheckedLock:
    told = [*why[:_SHOWN], *([f"and {len(why) - _SHOWN} more"] if len(why) > _SHOWN else [])]
    return CheckedLock(image=image, rows=(), state=state, because=tuple(told))
