"""Axes -> the wheels of an image, in the layers that it is built from: torch, companions, tools.

Each layer is resolved under the pins of those before it, so that cells with the same torch have the same first layer,
byte for byte, and a cell's neighbours differ only in what the changed axis forces.
"""

from collections.abc import Mapping
from functools import partial

from msgspec import Struct

from orchestrator.axes import AXES, Where
from orchestrator.axes import matches as version_matches
from orchestrator.images.bases import RELEASES, glibc
from orchestrator.images.command import Commands
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.images.resolve import Ask, Question, Wheel, platform_tag, resolve
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause

Axes = Mapping[str, str]
_NUMPY_2 = (2, 3)  # the first torch that was compiled against numpy 2; an older one cannot import beside it

_TOOLS = ("pytest",)  # what the suite runs in


class Lock(Struct, frozen=True, kw_only=True):
    """The wheels of an image by layer."""

    torch: tuple[Wheel, ...]
    companions: tuple[Wheel, ...]
    tools: tuple[Wheel, ...]

    @property
    def layers(self) -> Mapping[str, tuple[Wheel, ...]]:
        """Layer -> wheels, in building order."""
        return {"torch": self.torch, "companions": self.companions, "tools": self.tools}

    @property
    def wheels(self) -> tuple[Wheel, ...]:
        """All of them."""
        return self.torch + self.companions + self.tools


def companions(axes: Axes) -> dict[str, str]:
    """The packages that stand beside torch: name on the index -> version asked for."""
    return {
        AXES[name].package: version
        for name, version in axes.items()
        if AXES[name].where is Where.IMAGE and AXES[name].package and name != "torch"
    }


def asked_of(axes: Axes) -> tuple[str, ...]:
    """What the wheels of an image answer to, whatever else comes with them: every lock of it holds these packages."""
    beside = (f"{package}=={version}" for package, version in companions(axes).items())
    torch = (f"torch=={axes['torch']}",) if _from_wheel(axes) else ()
    return (*torch, *beside, *_numpy(axes), *_TOOLS)


def _from_wheel(axes: Axes) -> bool:
    return axes.get("torch_from", "wheel") == "wheel"


def _numpy(axes: Axes) -> tuple[str, ...]:
    """Torch's CPU code wants numpy in practice and does not say so in its metadata."""
    if not _from_wheel(axes) or "numpy" in axes:
        return ()
    release = tuple(int(part) for part in axes["torch"].split("+")[0].split(".")[:2] if part.isdecimal())
    return ("numpy<2",) if release < _NUMPY_2 else ("numpy",)


def lock(axes: Axes, site: Site, commands: Commands) -> Lock:
    """The wheels of an image; StageFailed (wheels) when there are none, or when a companion wants another torch."""
    return lock_with(partial(resolve, site=site, commands=commands), axes)


def lock_with(ask: Ask, axes: Axes, prefer: Mapping[str, str] | None = None) -> Lock:
    """The same, answered by `ask`; versions (by package) that are preferred are taken where they can be."""
    return _Locking(ask, axes, prefer or {}).lock()


def why_not(ask: Ask, axes: Axes, package: str, version: str) -> str:
    """Why the image cannot have that version of a package, in the resolver's words; empty when it can."""
    return _Locking(ask, axes, {}).why_not(f"{package}=={version}")


class _Locking:
    """One image's questions to the resolver."""

    def __init__(self, ask: Ask, axes: Axes, prefer: Mapping[str, str]) -> None:
        self._resolve, self._axes = ask, axes
        self._prefer = tuple(f"{name}=={version}" for name, version in sorted(prefer.items()))
        self._wheel = _from_wheel(axes)
        self._beside = tuple(f"{package}=={version}" for package, version in companions(axes).items())

    def lock(self) -> Lock:
        torch = self._torch() if self._wheel else ()
        beside = self._companions(torch)
        if not self._wheel and (brought := _named(beside, "torch")):
            raise self._another_torch(brought[0].version)
        tools = self._ask(_TOOLS, torch + beside, own_index=False)
        seen = {wheel.name for wheel in torch}
        rest = {wheel.name for wheel in beside} | seen
        return Lock(
            torch=tuple(wheel for wheel in beside if wheel.name in seen) or torch,
            companions=tuple(wheel for wheel in beside if wheel.name not in seen),
            tools=tuple(wheel for wheel in tools if wheel.name not in rest),
        )

    def why_not(self, pin: str) -> str:
        """The resolver's words against a pin beside all that the image holds; empty when there are none."""
        torch = tuple(f"torch=={wheel.version}" for wheel in _named(self._torch(), "torch")) if self._wheel else ()
        try:
            self._ask((*torch, *self._beside, *_numpy(self._axes), *_TOOLS), more=(pin,))
        except StageFailed as failure:
            return failure.log or failure.fact
        return ""

    def _ask(
        self,
        requirements: tuple[str, ...],
        pins: tuple[Wheel, ...] = (),
        *,
        own_index: bool = True,
        more: tuple[str, ...] = (),
    ) -> tuple[Wheel, ...]:
        axes = self._axes
        question = Question(
            requirements=requirements,
            constraints=tuple(f"{wheel.name}=={wheel.version}" for wheel in pins) + self._of_the_distribution() + more,
            python=axes["python"],
            platform=platform_tag(axes.get("host_arch", "x86_64"), glibc(axes["base"])),
            build=axes["torch_build"] if own_index else "",
            preferences=self._prefer,
        )
        return tuple(wheel for wheel in self._resolve(question) if not self._is_there(wheel))

    def _of_the_distribution(self) -> tuple[str, ...]:
        """A distribution's torch was compiled against the distribution's numpy: another one may break it."""
        release = RELEASES.get(self._axes["base"])
        fixed = release and release.numpy and not self._wheel and "numpy" not in self._axes
        return (f"numpy=={release.numpy}",) if release and fixed else ()

    def _is_there(self, wheel: Wheel) -> bool:
        return f"{wheel.name}=={wheel.version}" in self._of_the_distribution()

    def _torch(self) -> tuple[Wheel, ...]:
        """Torch and what it needs, of the asked build; PyPI's CUDA wheels do not name theirs, so it is read later."""
        version, build = self._axes["torch"], self._axes["torch_build"]
        try:
            return self._ask((f"torch=={version}+{build}" if "+" not in version else f"torch=={version}",))
        except StageFailed:
            if not build.startswith("cu") or "+" in version:
                raise
            return self._ask((f"torch=={version}",))

    def _companions(self, torch: tuple[Wheel, ...]) -> tuple[Wheel, ...]:
        """The companions with what they and torch need: on the pins of torch's layer, else all resolved anew."""
        wanted = self._beside + _numpy(self._axes)
        if not wanted:
            return torch
        pinned = tuple(f"{wheel.name}=={wheel.version}" for wheel in torch)
        try:
            return self._ask(pinned + wanted)
        except StageFailed as failure:
            try:
                return self._ask(tuple(f"torch=={wheel.version}" for wheel in _named(torch, "torch")) + wanted)
            except StageFailed:
                self._complain_of_another_torch()
                raise failure from None

    def _complain_of_another_torch(self) -> None:
        """When the companions resolve alone and bring another torch, that is why they did not resolve."""
        try:
            alone = self._ask(self._beside)
        except StageFailed:
            return
        for wheel in _named(alone, "torch"):
            if not version_matches("torch", self._axes["torch"], wheel.version):
                raise self._another_torch(wheel.version)

    def _another_torch(self, version: str) -> StageFailed:
        asked = self._axes["torch"] + ("" if self._wheel else f" of {self._axes['base']}")
        return StageFailed(
            Stage.WHEELS,
            f"{', '.join(self._beside)} wants torch {version}, but torch {asked} was asked for",
            cause=Cause.VERSION_MISMATCH,
        )


def _named(wheels: tuple[Wheel, ...], name: str) -> tuple[Wheel, ...]:
    return tuple(wheel for wheel in wheels if wheel.name == name)
