"""Which of our images go when they take too much: the least recently used first, none that is needed."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from orchestrator import text
from orchestrator.engines.docker.answers import NamedImage, asked
from orchestrator.engines.docker.calls import Conflict, Gone, calling
from orchestrator.errors import InfrastructureError
from orchestrator.images.listing import ImageFacts, ListedImage, disk_use, is_ours

if TYPE_CHECKING:
    from docker import APIClient

_LOOKS, _BETWEEN_S = 10, 0.2  # at an image that has no name left: another's removal of it takes a moment


class Kept(Struct, frozen=True, kw_only=True):
    """An image that stays although it was its turn, and why; `failed` when the engine did not remove it."""

    image: ListedImage
    why: str
    failed: bool = False


class Clearing(Struct, frozen=True, kw_only=True):
    """What goes, what stays although it was its turn, and the bytes that ours take before and after."""

    removed: tuple[ListedImage, ...]
    kept: tuple[Kept, ...]
    before: int
    after: int


class KeptFacts(Struct, frozen=True, kw_only=True):
    """As `Kept`, for machines."""

    image: ImageFacts
    why: str
    failed: bool = False


class ClearingAnswer(Struct, frozen=True, kw_only=True):
    """What `torchmatrix images gc --json` prints: with `dry_run` nothing was removed."""

    removed: tuple[ImageFacts, ...]
    kept: tuple[KeptFacts, ...]
    before: int
    after: int
    dry_run: bool


def choose(images: Sequence[ListedImage], most: int, needed: Mapping[str, str]) -> Clearing:
    """What has to go so that ours take at most `most` bytes; `images` come least recently used first.

    `needed` says by image id why an image must stay. A base goes when no image stands on it any more: earlier, its
    layers would stay with them.
    """
    left = list(images)
    removed: list[ListedImage] = []
    kept: list[Kept] = []
    for image in [*(image for image in images if image.recipe), *(image for image in images if not image.recipe)]:
        if disk_use(left) <= most:
            break
        others = [other for other in left if other.id != image.id]
        if why := _needed(image, others, needed):
            kept.append(Kept(image=image, why=why))
            continue
        left = others
        removed.append(image)
    return Clearing(removed=tuple(removed), kept=tuple(kept), before=disk_use(images), after=disk_use(left))


def _needed(image: ListedImage, others: Sequence[ListedImage], needed: Mapping[str, str]) -> str:
    if image.containers:
        return f"container {image.containers[0]} is made of it"
    if why := needed.get(image.image_id if image.recipe else "", ""):
        return why
    if foreign := [name for name in image.names if not is_ours(name)]:
        return f"somebody named it {foreign[0]}"
    top = image.layers[-1][0] if image.layers else ""
    if not image.recipe and any(top == name for other in others for name, _ in other.layers):
        return "images stand on it"
    return ""


def clear(client: "APIClient", images: Sequence[ListedImage], chosen: Clearing) -> Clearing:
    """Removes what was chosen of the images; what somebody began to use meanwhile stays, and is told so.

    What somebody else removes meanwhile is removed. An engine that fails is not asked for the rest.
    """
    removed: list[ListedImage] = []
    kept = list(chosen.kept)
    failed = ""
    for image in chosen.removed:
        try:
            why = failed or _remove(client, image)
        except InfrastructureError as error:
            why = failed = text.one_line(str(error))
        if why:
            kept.append(Kept(image=image, why=why, failed=bool(failed)))
        else:
            removed.append(image)
    gone = {image.id for image in removed}
    after = disk_use(image for image in images if image.id not in gone)
    return Clearing(removed=tuple(removed), kept=tuple(kept), before=chosen.before, after=after)


def _remove(client: "APIClient", image: ListedImage) -> str:
    """Takes the image its names, and so removes it; why it stays, with all its names, when it does."""
    taken: list[str] = []
    for name in image.names or (image.id,):
        if _id_of(client, name) != image.id:
            continue  # somebody gave the name to another one, or was quicker
        try:
            with suppress(Gone), calling("removing an image"):
                client.remove_image(name)
        except InfrastructureError as error:
            if not _id_of(client, image.id):
                return ""  # somebody else was at it: his answer was that it is gone, ours that it cannot be
            _name_again(client, image.id, taken)
            if not isinstance(error, Conflict):
                raise
            return f"it is in use now: {error.cause}"
        taken.append(name)
    return _why_it_stays(client, image)


def _why_it_stays(client: "APIClient", image: ListedImage) -> str:
    """Why an image is still there without the names that it had; empty once it is gone.

    Without any name it is being removed by somebody else, which takes a moment, or another image stands on it: it gets
    its names back then, since nobody would find it again.
    """
    for _ in range(_LOOKS):
        names = _names_of(client, image.id)
        if names is None:
            return ""
        if names:
            return "it has another name now"
        time.sleep(_BETWEEN_S)
    with suppress(Gone):
        _name_again(client, image.id, [name for name in image.names if not _id_of(client, name)])
    return "an image that somebody made stands on it"


def _name_again(client: "APIClient", image: str, names: Sequence[str]) -> None:
    """Gives an image these names: each that can be had, whatever becomes of another; then the first problem is told."""
    problems: list[InfrastructureError] = []
    for name in names:
        try:
            with calling("naming an image"):
                client.tag(image, *name.rpartition(":")[::2])
        except InfrastructureError as problem:
            problems.append(problem)
    if problems:
        raise problems[0]


def _named(client: "APIClient", image: str) -> NamedImage:
    return asked("looking for an image", NamedImage, lambda: client.inspect_image(image))  # type: ignore[no-untyped-call]


def _names_of(client: "APIClient", image: str) -> list[str] | None:
    """The names that an image has now; None when it is gone."""
    try:
        return list(_named(client, image).repo_tags or ())
    except Gone:
        return None


def _id_of(client: "APIClient", name: str) -> str:
    """The id of what has the name now; empty when nothing has it."""
    try:
        return _named(client, name).id
    except Gone:
        return ""
