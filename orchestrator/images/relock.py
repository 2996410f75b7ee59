"""`torchmatrix lock`: the locks of a set of images, made, kept or renewed."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from orchestrator.errors import InfrastructureError, InputErrors
from orchestrator.images.bases import Base, find_base, holding
from orchestrator.images.bootstrap import keep_root, made_root
from orchestrator.images.command import Commands
from orchestrator.images.docker import Docker
from orchestrator.images.failure import Stage, StageFailed, at
from orchestrator.images.lock import Lock
from orchestrator.images.lock_contents import base_contradictions
from orchestrator.images.lock_folder import alone_in
from orchestrator.images.locked import identified, other_base, unfit
from orchestrator.images.locks import LockedBase, LockFile, held_in, lock_file, write_lock
from orchestrator.images.mirror import date_of
from orchestrator.images.recipe import checked
from orchestrator.images.resolve import asked_anew
from orchestrator.images.roots import moved, read_root
from orchestrator.images.settle import Apart, Settled, settle
from orchestrator.images.wheelhouse import check_torch
from orchestrator.model import Axes, LockedImage
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause, LockState

Say = Callable[[str], None]


def relock(
    wanted: Mapping[str, Axes], folder: Path, site: Site, *, upgrade: bool | frozenset[str], say: Say
) -> Sequence[LockedImage]:
    """Locks the wanted images (image id -> axes); those whose lock fits keep it unless they are to be upgraded.

    `upgrade` is everything that they hold, or the packages and bases of these names. What a failing image had stays as
    it was. The folder is held meanwhile: a second call waits, and begins with what the first has written. On the way
    out by an exception every tool that still runs is ended.
    """
    commands = Commands()
    with alone_in(folder, say):
        try:
            return _Relocking(wanted, folder, site, commands, say, upgrade=upgrade).images()
        except BaseException:
            commands.stop()
            raise


class _Relocking:
    """One call: what is there, and what is made of it."""

    def __init__(
        self,
        wanted: Mapping[str, Axes],
        folder: Path,
        site: Site,
        commands: Commands,
        say: Say,
        *,
        upgrade: bool | frozenset[str],
    ) -> None:
        self._folder, self._site, self._commands, self._say = folder, site, commands, say
        self._all = upgrade is True
        self._named = upgrade if isinstance(upgrade, frozenset) else frozenset[str]()
        self._wanted = {image: checked(axes) for image, axes in wanted.items()}
        self._had = held_in(folder).locks
        self._bases: dict[str, tuple[LockedBase, tuple[str, ...]]] = {}

    def images(self) -> Sequence[LockedImage]:
        """Every wanted image, in the order wanted."""
        kept = {name: self._had[name] for name in self._wanted if not self._all and self._fits(name)}
        stay = {name: lock for name, lock in self._had.items() if name not in self._wanted and not self._all}
        neighbours = {name: (lock.axes, self._held(lock)) for name, lock in (kept | stay).items()}
        anew = {name: axes for name, axes in self._wanted.items() if name not in kept}
        before = {name: self._held(self._had[name]) for name in anew if name in self._had and not self._all}
        settled = settle(anew, neighbours, asked_anew(self._site, self._commands), self._say, before)
        return [self._kept(kept[name]) if name in kept else self._written(name, settled) for name in self._wanted]

    def _held(self, lock: LockFile) -> Mapping[str, str]:
        """The versions of a lock that are to stay."""
        return {package: version for package, version in lock.versions.items() if package not in self._named}

    def _fits(self, image: str) -> bool:
        """Whether a lock is kept as it is."""
        had = self._had.get(image)
        if had is None or unfit(had, image, self._wanted[image]):
            return False
        if self._named & {had.base.name, *had.versions}:
            return False
        try:
            return not other_base(had.base, find_base(self._wanted[image], self._site.bases))
        except StageFailed:
            return True  # the wheels are locked all the same

    def _kept(self, lock: LockFile) -> LockedImage:
        return LockedImage(
            image=lock.image,
            rows=(),
            state=LockState.UNCHANGED,
            wheels=len(lock.versions),
            packages=len(lock.base.packages),
        )

    def _written(self, image: str, settled: Settled) -> LockedImage:
        axes, made = self._wanted[image], settled.made[image]
        try:
            if not isinstance(made, Lock):
                raise made
            check_torch(made.torch, axes["torch_build"], self._site)
            base, notes = self._base(axes)
            new = _fitting(lock_file(image, axes, base, made), axes, notes)
            with at(Stage.WHEELS):
                changed = write_lock(self._folder, new)
        except StageFailed as failure:
            reason = failure.of(image).reason
            self._say(f"image {image}: {reason}")
            return LockedImage(image=image, rows=(), state=LockState.FAILED, reason=reason, cause=failure.why)
        return LockedImage(
            image=image,
            rows=(),
            state=LockState.WRITTEN if changed else LockState.UNCHANGED,
            wheels=len(new.versions),
            packages=len(base.packages),
            moved=_moves(self._had.get(image), new),
            apart=tuple(map(_told, settled.apart[image])),
            notes=notes,
        )

    def _base(self, axes: Axes) -> tuple[LockedBase, tuple[str, ...]]:
        """What is locked of a base, and what is not."""
        try:
            base = find_base(axes, self._site.bases)
        except StageFailed as failure:
            return LockedBase(name=axes["base"]), (f"its base is any that a site names: {failure.fact}",)
        if base.key not in self._bases:
            self._bases[base.key] = self._made(base)
        return self._bases[base.key]

    def _made(self, base: Base) -> tuple[LockedBase, tuple[str, ...]]:
        known = identified(base)
        if base.image:
            return known, ()
        before = [lock.base for lock in self._had.values() if _is_whole(lock) and not other_base(lock.base, base)]
        newest = max(before, key=lambda one: one.date, default=None)
        if newest is not None and not self._all and base.name not in self._named:
            return newest, ()
        try:
            with made_root(base, self._site, self._commands, self._say) as archive:
                root = read_root(archive)
                new = replace(known, packages=root.packages, release=root.release, date=date_of(base.suite, self._site))
                self._keep(holding(base, root.packages), archive)
        except StageFailed as failure:
            kept = f"its distribution packages stay as they were locked: {failure.fact}"
            if newest is not None:
                return newest, (kept,)
            return known, (f"no distribution package is locked: {failure.fact}",)
        return new, ()

    def _keep(self, base: Base, archive: Path) -> None:
        """Has what was made in the engine, where one answers, for the builds to come."""
        docker = Docker(self._commands, os.environ)
        try:
            docker.answers()
        except InfrastructureError:
            return
        if docker.inspect(base.ref) is None:
            keep_root(base, archive, docker)


def _fitting(new: LockFile, axes: Axes, notes: Sequence[str]) -> LockFile:
    """The new lock; StageFailed (wheels) when it would be refused as soon as somebody builds from it."""
    if why := unfit(new, new.image, axes):
        raise StageFailed(Stage.WHEELS, "; ".join((*why, *notes)), cause=Cause.BUILD)
    return new


def _is_whole(lock: LockFile) -> bool:
    """Whether a lock has the distribution packages of its base, all of them: no other lock takes over what has not.

    What was taken out by hand is seen by the digest alone: no lock that is written anew may hide it.
    """
    if lock.digest != lock.proper_digest:
        return False
    try:
        return bool(lock.base.packages) and not any(base_contradictions(lock.base, checked(lock.axes)))
    except InputErrors:
        return False


def _moves(old: LockFile | None, new: LockFile) -> tuple[str, ...]:
    """The packages of another version than in the lock before, none where there was none."""
    if old is None:
        return ()
    before, after = ([f"{name}={version}" for name, version in lock.versions.items()] for lock in (old, new))
    return (*moved(before, after), *(moved(old.base.packages, new.base.packages) if old.base.packages else ()))


def _told(apart: Apart) -> str:
    return f"{apart.package} {apart.version}, most have {apart.others}: {apart.why}"
