"""The wheels of a set of images, chosen together: neighbours differ only in what the changed axis forces.

Each image prefers what its nearest neighbour has. Where two still hold different versions of a package, every image is
asked which of them it can have, and the version that most can have is given to all of those; so a package has as few
versions over the set as the rules allow, and an image that holds another one than most has a reason in the resolver's
words.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from orchestrator import text
from orchestrator.images.failure import StageFailed
from orchestrator.images.lock import Lock, companions, lock_with, why_not
from orchestrator.images.resolve import Ask

Axes = Mapping[str, str]
Versions = Mapping[str, str]  # package on the index -> version


class Apart(Struct, frozen=True, kw_only=True):
    """A package of which an image holds another version than most of its neighbours, and why."""

    package: str
    version: str
    others: str
    why: str


class Settled(Struct, frozen=True, kw_only=True):
    """What became of the images: a lock or a failure each, and where one is apart from the others."""

    made: Mapping[str, Lock | StageFailed]
    apart: Mapping[str, tuple[Apart, ...]]


def settle(
    wanted: Mapping[str, Axes],
    neighbours: Mapping[str, tuple[Axes, Versions]],
    ask: Ask,
    say: Callable[[str], None],
    before: Mapping[str, Versions] | None = None,
) -> Settled:
    """Locks the wanted images (image id -> axes). `neighbours` are locked already and stay as they are.

    `before` is what the wanted images had and keep where they can.
    """
    settling = _Settling(wanted, neighbours, before or {}, ask)
    for image in wanted:
        say(f"image {image}: resolving")
        settling.resolve(image)
    for package in settling.disputed():
        settling.agree(package)
    return Settled(made=settling.made, apart={image: settling.apart(image) for image in settling.locks})


class _Settling:
    """The state of one call: what each image holds, and what was found out on the way."""

    def __init__(
        self,
        wanted: Mapping[str, Axes],
        neighbours: Mapping[str, tuple[Axes, Versions]],
        before: Mapping[str, Versions],
        ask: Ask,
    ) -> None:
        self._wanted, self._neighbours, self._before, self._ask = wanted, neighbours, before, ask
        self.locks: dict[str, Lock] = {}
        self._failures: dict[str, StageFailed] = {}
        self._words: dict[tuple[str, str, str], str] = {}

    @property
    def made(self) -> Mapping[str, Lock | StageFailed]:
        """Every wanted image, in the order wanted."""
        return {image: self._failures.get(image) or self.locks[image] for image in self._wanted}

    def resolve(self, image: str) -> None:
        """Locks an image near what it had, then its nearest neighbours."""
        axes = self._wanted[image]
        others = [*self._neighbours.values(), *((self._wanted[name], _versions(held)) for name, held in self._done())]
        prefer = dict(self._before.get(image, {}))
        for _, versions in sorted(others, key=lambda other: _distance(axes, other[0])):
            prefer = {**versions, **prefer}
        try:
            self.locks[image] = lock_with(self._ask, axes, prefer)
        except StageFailed as failure:
            self._failures[image] = failure

    def disputed(self) -> Sequence[str]:
        """The packages of which there are several versions, by name, beside those that axes ask for."""
        held: dict[str, set[str]] = {}
        for image, versions in self._all().items():
            for package, version in versions.items():
                if package in self._asked(image):
                    continue
                held.setdefault(package, set()).add(version)
        return sorted(package for package, versions in held.items() if len(versions) > 1)

    def agree(self, package: str) -> None:
        """Gives as many images as can have it the same version of a package, then the rest of them another."""
        holders = {image: versions[package] for image, versions in self._all().items() if package in versions}
        fixed = Counter(holders[image] for image in holders if image in self._neighbours)
        left = [image for image in holders if image in self.locks]
        versions = sorted(set(holders.values()), key=lambda version: (-fixed[version], _order(version)))
        while left and versions:
            takers = {
                version: [
                    image for image in left if holders[image] == version or not self._why(image, package, version)
                ]
                for version in versions
            }
            # The most images; then what neighbours hold that stay; then the newest.
            best = max(versions, key=lambda version: (len(takers[version]), fixed[version], _order(version)))
            for image in takers[best]:
                if holders[image] != best:
                    self._move(image, package, best)
            left = [image for image in left if image not in takers[best]]
            versions.remove(best)

    def apart(self, image: str) -> tuple[Apart, ...]:
        """Where an image holds another version than most, with the reason."""
        found = []
        everyone = self._all()
        for package, version in sorted(everyone[image].items()):
            if package in self._asked(image):
                continue
            counted = Counter(versions[package] for versions in everyone.values() if package in versions)
            most = max(counted, key=lambda other: (counted[other], _order(other)))
            if version != most:
                why = self._why(image, package, most)
                found.append(Apart(package=package, version=version, others=most, why=why or _UNMOVED))
        return tuple(found)

    def _asked(self, image: str) -> frozenset[str]:
        """The packages whose version an axis of the image says."""
        axes = self._wanted.get(image) or self._neighbours[image][0]
        return frozenset({"torch", *companions(axes)})

    def _move(self, image: str, package: str, version: str) -> None:
        """Locks an image once more, with that version and everything else as it is, if it can be had so."""
        prefer = {**_versions(self.locks[image]), package: version}
        try:
            again = lock_with(self._ask, self._wanted[image], prefer)
        except StageFailed:
            return
        if _versions(again).get(package) == version:
            self.locks[image] = again

    def _why(self, image: str, package: str, version: str) -> str:
        key = (image, package, version)
        if key not in self._words:
            self._words[key] = reason(why_not(self._ask, self._wanted[image], package, version))
        return self._words[key]

    def _done(self) -> Sequence[tuple[str, Lock]]:
        return list(self.locks.items())

    def _all(self) -> Mapping[str, Versions]:
        """What each image holds, those that stay as they are too."""
        fixed = {image: versions for image, (_, versions) in self._neighbours.items()}
        return {**fixed, **{image: _versions(held) for image, held in self.locks.items()}}


_UNMOVED = "it could, but not with what else it holds"


def reason(log: str) -> str:
    """What the resolver said against a pin: its first sentence of why, without the layout of its log."""
    if not log:
        return ""
    line = " ".join(re.sub(r"[^\x20-\x7e]+", " ", log).split())  # uv draws a tree around its words
    said = re.search(r"[Bb]ecause (.*?)(?:,? and you require |, we can conclude|$)", line)
    return text.one_line(said[1] if said else line, 200)


def _versions(held: Lock) -> dict[str, str]:
    return {wheel.name: wheel.version for wheel in held.wheels}


def _distance(one: Axes, other: Axes) -> int:
    """How many axes are different."""
    return sum(one.get(name) != other.get(name) for name in {*one, *other})


def _order(version: str) -> object:
    """A key that puts an older version before a newer one."""
    from packaging.version import Version

    return Version(version)
