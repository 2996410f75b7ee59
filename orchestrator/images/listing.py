"""The images and bases that torchmatrix made, known by their labels and by nothing else."""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from orchestrator.engines.docker.calls import Gone, calling
from orchestrator.images.docker import LABEL

if TYPE_CHECKING:
    from docker import APIClient

_MAKES_A_LAYER = re.compile(r"(?:RUN|COPY|ADD|WORKDIR)\b|$")  # `$`: an imported root says nothing

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
    with calling("listing images"):
        labels = [LABEL + label for label in ("recipe", "base")]
        # All: one that lost its names and on which another stands is shown to nobody else.
        ids = {found["Id"] for label in labels for found in client.images(all=True, filters={"label": label})}
        containers = client.containers(all=True)
        told = [found for image in sorted(ids) if (found := _inspected(client, image))]
    ours = ((facts, history) for facts, history in told if _made_here(facts, cache))
    listed = (_listed(facts, history, containers, cache) for facts, history in ours)
    return tuple(sorted(listed, key=lambda image: (image.used, not image.recipe, image.id)))


def made_images(client: "APIClient") -> tuple[frozenset[str], Path]:
    """The ids, as a plan has them, of the images that the engine has of ours, and the folder it keeps images in."""
    label = f"{LABEL}image-id"
    with calling("listing images"):
        found = client.images(filters={"label": label})
        root = str(client.info()["DockerRootDir"])
    return frozenset(each["Labels"][label] for each in found), Path(root)


def _inspected(client: "APIClient", image: str) -> tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]] | None:
    """What the engine says of an image, and its history; None when somebody removed it meanwhile."""
    try:
        with calling("listing images"):
            return client.inspect_image(image), client.history(image)  # type: ignore[no-untyped-call]
    except Gone:
        return None


def _made_here(facts: Mapping[str, Any], cache: Path) -> bool:
    """Whether an image with our labels is ours; one that somebody built on it has them too.

    It has a name that we give, or none any more (a removal was cut off) and we remember that we built it.
    """
    if names := facts.get("RepoTags") or ():
        return any(map(is_ours, names))
    labels = facts["Config"].get("Labels") or {}
    try:
        return f"{LABEL}image-id" in labels and _mark(cache, facts["Id"]).read_text(encoding="utf-8") == _BUILT
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
    facts: Mapping[str, Any],
    history: Sequence[Mapping[str, Any]],
    containers: Collection[Mapping[str, Any]],
    cache: Path,
) -> ListedImage:
    labels = facts["Config"].get("Labels") or {}
    return ListedImage(
        id=facts["Id"],
        names=tuple(facts.get("RepoTags") or ()),
        image_id=labels.get(f"{LABEL}image-id", ""),
        recipe=labels.get(f"{LABEL}recipe", ""),
        base=labels.get(f"{LABEL}base-name", ""),
        size=facts["Size"],
        used=_used(cache, facts),
        containers=tuple(sorted(each["Names"][0].lstrip("/") for each in containers if each["ImageID"] == facts["Id"])),
        layers=_layers(facts, history),
    )


def _used(cache: Path, facts: Mapping[str, Any]) -> str:
    try:
        moment = datetime.fromtimestamp(_mark(cache, facts["Id"]).stat().st_mtime, UTC)
    except OSError:
        return str(facts["Created"])[:23] + "Z"  # as it was made, nobody has asked for it since
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _mark(cache: Path, image: str) -> Path:
    return cache / "used" / image.rpartition(":")[2]


def _layers(facts: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, int], ...]:
    """The chain of layers with their sizes; where the history does not tell them apart, all is in the last one."""
    digests = facts["RootFS"].get("Layers") or ()
    sizes = [each["Size"] for each in reversed(history) if each["Size"] or _MAKES_A_LAYER.match(each["CreatedBy"])]
    if len(sizes) != len(digests):
        sizes = [0] * (len(digests) - 1) + [facts["Size"]] * bool(digests)
    return tuple(zip(("/".join(digests[: place + 1]) for place in range(len(digests))), sizes, strict=True))
