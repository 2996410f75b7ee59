"""What an image is to be made of: its lock where there is one, resolved anew, and said so, where there is none."""

from collections.abc import Callable, Mapping

from orchestrator.axes import image_id
from orchestrator.images.bases import Base, holding
from orchestrator.images.command import Commands
from orchestrator.images.failure import Stage, StageFailed, stale
from orchestrator.images.index import located
from orchestrator.images.lock import Lock, lock
from orchestrator.images.lock_contents import contradictions
from orchestrator.images.locks import LockedBase, LockFile, place_of_lock, read_lock
from orchestrator.images.resolve import Wheel
from orchestrator.images.wheelhouse import place_of
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause

Axes = Mapping[str, str]
_SHOWN = 3


def lock_of(full: Axes, site: Site, say: Callable[[str], None]) -> LockFile | None:
    """The lock file of image axes that are complete; None where there is none, which is said.

    InputError when the file is no lock, StageFailed (wheels) when it is one of something else.
    """
    if site.locks is None:
        return None
    image = image_id(full)
    found = read_lock(site.locks, image)
    if found is None:
        say(f"image {image}: no lock, so its wheels are resolved anew: `torchmatrix lock` makes one")
    elif why := unfit(found, image, full):
        more = f", and {len(why) - _SHOWN} more" if len(why) > _SHOWN else ""
        raise StageFailed(
            Stage.WHEELS,
            f"{place_of_lock(site.locks, image).name} does not fit the matrix: {'; '.join(why[:_SHOWN])}{more}",
            log="\n".join(why),
            cause=Cause.LOCK_STALE,
            hint="`torchmatrix lock` writes it anew, if it was edited or merged",
        )
    return found


def unfit(held: LockFile, image: str, full: Axes) -> tuple[str, ...]:
    """Why a lock is not one of the image of these axes; empty when it is. Whoever reads a lock asks this first."""
    if other := other_image(held, image, full):
        return (other,)
    if found := tuple(dict.fromkeys(contradictions(held, full))):
        return found
    # What else was taken out, nobody knows: a package that another needs is in no question.
    return (
        () if held.digest == held.proper_digest else ("it is not as it was written: its digest is of something else",)
    )


def other_image(held: LockFile, image: str, full: Axes) -> str:
    """What a lock says that another image than this one would have; empty when nothing is."""
    if held.image != image:
        return f"it is of {held.image}"
    different = [name for name in sorted({*held.axes, *full}) if held.axes.get(name) != full.get(name)]
    return ", ".join(
        f"{name} is {held.axes.get(name, 'not there')}, not {full.get(name, 'there')}" for name in different
    )


def wheels_of(held: LockFile | None, full: Axes, site: Site, commands: Commands) -> Lock:
    """The wheels, each here already or with its place; StageFailed (wheels) otherwise."""
    if held is None:
        return lock(full, site, commands)
    wheels = held.lock
    absent = [wheel for wheel in wheels.wheels if not place_of(wheel, site).is_file()]
    found = {wheel.sha256: wheel for wheel in located(absent, full["torch_build"], site)}

    def placed(layer: tuple[Wheel, ...]) -> tuple[Wheel, ...]:
        return tuple(found.get(wheel.sha256, wheel) for wheel in layer)

    return Lock(torch=placed(wheels.torch), companions=placed(wheels.companions), tools=placed(wheels.tools))


def base_of(held: LockFile | None, base: Base) -> Base:
    """The site's base, held to what is locked of it; StageFailed (base) when it is another one."""
    if held is None:
        return base
    if why := other_base(held.base, base):
        raise stale(Stage.BASE, why)
    return holding(base, held.base.packages) if held.base.packages else base


def other_base(held: LockedBase, base: Base) -> str:
    """Why the site's base is not the locked one; empty when it is, or when nothing is locked of it."""
    if held.digest and not base.image.endswith(held.digest):
        return f"base {base.name} is locked as {held.digest}, and this site has {base.image or 'one of its own making'}"
    if not held.packages:
        return ""
    if base.image:
        return f"base {base.name} is locked as bootstrapped from {held.suite}, and this site has {base.image}"
    asked = (base.suite, base.architecture, base.packages)
    if asked != (held.suite, held.architecture, held.include):
        return f"base {base.name} is locked with {', '.join(held.include)}, and is made with {', '.join(base.packages)}"
    return ""


def identified(base: Base) -> LockedBase:
    """What is known of a base before it is made."""
    return LockedBase(
        name=base.name,
        digest=f"sha256:{base.image.rpartition('sha256:')[2]}" if base.image else "",
        suite=base.suite,
        architecture=base.architecture,
        include=base.packages,
    )
