"""The images that torchmatrix made, known by their labels and by nothing else."""

from msgspec import Struct

from orchestrator.images.docker import LABEL, Docker


class ListedImage(Struct, frozen=True, kw_only=True):
    """One of our images in the engine; `size` is in bytes, layers that it shares counted whole."""

    id: str
    names: tuple[str, ...]
    image_id: str
    recipe: str
    size: int


def list_images(docker: Docker) -> tuple[ListedImage, ...]:
    """Every image with our recipe label, by image id; InfrastructureError when the engine does not answer."""
    found = [
        ListedImage(
            id=image.id,
            names=image.names,
            image_id=image.labels.get(f"{LABEL}image-id", ""),
            recipe=image.labels[f"{LABEL}recipe"],
            size=image.size,
        )
        for image in docker.labelled(f"{LABEL}recipe")
    ]
    return tuple(sorted(found, key=lambda image: (image.image_id, image.id)))
