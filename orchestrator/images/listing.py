"""The images and bases that torchmatrix made, known by their labels and by nothing else."""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from orchestrator import text
from orchestrator.engines.docker.answers import (
    EngineFacts,
    FoundContainer,
    FoundImage,
    ImageAnswer,
    MadeLayer,
    asked,
)
from orchestrator.engines.docker.calls import Gone
from orchestrator.images.docker import LABEL

if TYPE_CHECKING:
    from docker import APIClient

_MAKES_A_LAYER = re.compile(r"(?:RUN|COPY|ADD|WORKDIR)\b|$")  # `$`: an imported root says nothing

_DOING = "listing images"
_BUILT = "built\n"  # in the mark of an image that is ours


class ImageFacts(Struct, frozen=True, kw_only=True):
    """One of our images, or a base of them (then `recipe` is empty).

    `size` is in bytes with all that it shares, `used` when a run or a build last asked for it, `containers` are those
    that are made of it.
    """

    id: str
    names: tuple[str, ...]
    image_id: str
    recipe: str
    base: str
    size: int
    used: str
    containers: tuple[str, ...]


class ListedImage(ImageFacts, frozen=True, kw_only=True):
    """An image with its chain of layers from the bottom: a name for each, equal in images that share it, its bytes."""

    layers: tuple[tuple[str, int], ...]


def list_images(client: "APIClient", cache: Path) -> tuple[ListedImage, ...]:
    """All of ours, least recently used first; InfrastructureError when the engine does not answer."""
    labels = [LABEL + label for label in ("recipe", "base")]
    # All: one that lost its names and on which another stands is shown to nobody else.
    ids = {found.id for label in labels for found in _labelled(client, label, all_of_them=True)}
    containers = asked(_DOING, tuple[FoundContainer, ...], lambda: client.containers(all=True))
    told = [found for image in sorted(ids) if (found := _inspected(client, image))]
    ours = ((facts, history) for facts, history in told if _made_here(facts, cache))
    listed = (_listed(facts, history, containers, cache) for facts, history in ours)
    return tuple(sorted(listed, key=lambda image: (image.used, not image.recipe, image.id)))


def made_images(client: "APIClient") -> tuple[frozenset[str], Path]:
    """The ids, as a plan has them, of the images that the engine has of ours, and the folder it keeps images in."""
    label = f"{LABEL}image-id"
    found = _labelled(client, label, all_of_them=False)
    root = asked(_DOING, EngineFacts, client.info).docker_root_dir
    return frozenset((each.labels or {}).get(label, "") for each in found), Path(root)


def _labelled(client: "APIClient", label: str, *, all_of_them: bool) -> tuple[FoundImage, ...]:
    return asked(_DOING, tuple[FoundImage, ...], lambda: client.images(all=all_of_them, filters={"label": label}))


def _inspected(client: "APIClient", image: str) -> tuple[ImageAnswer, tuple[MadeLayer, ...]] | None:
    """What the engine says of an image, and its history; None when somebody removed it meanwhile."""
    try:
        facts = asked(_DOING, ImageAnswer, lambda: client.inspect_image(image))  # type: ignore[no-untyped-call]
        return facts, asked(_DOING, tuple[MadeLayer, ...], lambda: client.history(image))  # type: ignore[no-untyped-call]
    except Gone:
        return None


def _made_here(facts: ImageAnswer, cache: Path) -> bool:
    """Whether an image with our labels is ours; one that somebody built on it has them too.

    It has a name that we give, or none any more (a removal was cut off) and we remember that we built it.
    """
    if facts.names:
        return any(map(is_ours, facts.names))
    try:
        return f"{LABEL}image-id" in facts.labels and _mark(cache, facts.id).read_text(encoding="utf-8") == _BUILT
    except (OSError, ValueError):
        return False


def is_ours(name: str) -> bool:
    """Whether a name is one that we give."""
    return name.startswith("torchmatrix/")


def note_use(cache: Path, image: str, *, built: bool) -> None:
    """Remembers that an image was asked for now, and whether it is one that we built: engines do not.

    A cache that takes nothing loses the order, and one that lost all its names.
    """
    with suppress(OSError):
        file = _mark(cache, image)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        if built:
            file.write_text(_BUILT, encoding="utf-8")
        os.utime(file)


def disk_use(images: Iterable[ListedImage]) -> int:
    """The bytes that images take together: what they share is counted once."""
    return sum(dict(layer for image in images for layer in image.layers).values())


def _listed(
    facts: ImageAnswer, history: Sequence[MadeLayer], containers: Iterable[FoundContainer], cache: Path
) -> ListedImage:
    labels = facts.labels
    return ListedImage(
        id=facts.id,
        names=facts.names,
        image_id=labels.get(f"{LABEL}image-id", ""),
        recipe=labels.get(f"{LABEL}recipe", ""),
        base=labels.get(f"{LABEL}base-name", ""),
        size=facts.size,
        used=_used(cache, facts),
        containers=tuple(sorted(each.name for each in containers if each.image_id == facts.id)),
        layers=_layers(facts, history),
    )


def _used(cache: Path, facts: ImageAnswer) -> str:
    try:
        moment = datetime.fromtimestamp(_mark(cache, facts.id).stat().st_mtime, UTC)
    except OSError:
        return text.one_line(facts.created or "")[:23] + "Z"  # as it was made, nobody has asked for it since
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _mark(cache: Path, image: str) -> Path:
    return cache / "used" / image.rpartition(":")[2]


def _layers(facts: ImageAnswer, history: Sequence[MadeLayer]) -> tuple[tuple[str, int], ...]:
    """The chain of layers with their sizes; where the history does not tell them apart, all is in the last one."""
    digests = (facts.root_fs and facts.root_fs.layers) or ()
    sizes = [each.size for each in reversed(history) if each.size or _MAKES_A_LAYER.match(each.created_by)]
    if len(sizes) != len(digests):
        sizes = [0] * (len(digests) - 1) + [facts.size] * bool(digests)
    return tuple(zip(("/".join(digests[: place + 1]) for place in range(len(digests))), sizes, strict=True))
