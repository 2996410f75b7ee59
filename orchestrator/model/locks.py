"""What `torchmatrix lock` did, and what its check found."""

from msgspec import Struct

from orchestrator.vocabulary import Cause, LockState


class LockedImage(Struct, frozen=True, kw_only=True):
    """One image and its lock. `moved` are its packages that changed, each `name: old -> new`, before and after.

    `apart` are those of which it holds another version than most images, each with the rule that demands it; `notes`
    is what could not be locked; `reason` and `cause` say why there is no lock.
    """

    image: str
    rows: tuple[str, ...]
    state: LockState
    wheels: int = 0
    packages: int = 0
    moved: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""
    cause: Cause = Cause.NONE


class Locking(Struct, frozen=True, kw_only=True):
    """What `torchmatrix lock` did: each image of the plan, and each lock that was taken away."""

    folder: str
    images: tuple[LockedImage, ...]


class CheckedLock(Struct, frozen=True, kw_only=True):
    """One lock as its check found it; `because` is empty where it is good."""

    image: str
    rows: tuple[str, ...]
    state: LockState
    because: tuple[str, ...] = ()


class LockCheck(Struct, frozen=True, kw_only=True):
    """What `torchmatrix lock --check` found. `asked` says whether the site's sources were; `notes` is no failure.

    `answered` is false when one of them did not answer, and what it has is not known.
    """

    folder: str
    good: bool
    asked: bool
    locks: tuple[CheckedLock, ...]
    notes: tuple[str, ...] = ()
    answered: bool = True
