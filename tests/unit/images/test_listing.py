from pathlib import Path
from typing import Any

import pytest
from docker.errors import APIError

from orchestrator.errors import InfrastructureError
from orchestrator.images.listing import disk_use, list_images, note_use

BASE = ("sha256:b", ["torchmatrix/base-debian12:1"], {"base": "b", "base-name": "debian12"}, [("", 400)])
STEPS = [("", 400), ("ENV A=1", 0), ("RUN /bin/sh -c x", 30), ("USER 1", 0), ("WORKDIR /tmp", 0), ("CMD [x]", 0)]
IMAGE = ("sha256:i", ["torchmatrix/torch:1"], {"recipe": "r", "image-id": "torch-1", "base-name": "debian12"}, STEPS)


class Engine:
    """Answers as docker-py does, of images given as (id, names, our labels, steps with their bytes)."""

    def __init__(self, *images: Any, containers: tuple[dict[str, Any], ...] = ()) -> None:
        self.held = {image[0]: image for image in images}
        self.made = containers
        self.asked: list[object] = []

    def images(self, *, all: bool, filters: dict[str, str]) -> list[dict[str, Any]]:  # noqa: A002 - its name there
        assert all
        self.asked.append(filters)
        label = filters["label"].removeprefix("org.torchmatrix.")
        return [{"Id": id_} for id_, (_, _, labels, _) in self.held.items() if label in labels]

    def containers(self, *, all: bool) -> list[dict[str, Any]]:  # noqa: A002 - as docker-py calls it
        assert all
        return list(self.made)

    def inspect_image(self, id_: str) -> dict[str, Any]:
        _, names, labels, steps = self.held[id_]
        return {
            "Id": id_,
            "RepoTags": names,
            "Size": sum(size for _, size in steps),
            "Created": "2026-11-29T10:00:00.123456789Z",
            "Config": {"Labels": {f"org.torchmatrix.{name}": value for name, value in labels.items()}},
            "RootFS": {"Layers": ["sha256:one", "sha256:two", "sha256:three"][: 1 if len(steps) == 1 else 3]},
        }

    def history(self, id_: str) -> list[dict[str, Any]]:
        return [{"CreatedBy": by, "Size": size} for by, size in reversed(self.held[id_][3])]


def test_an_image_is_told_with_its_layers_and_what_is_made_of_it(tmp_path: Path) -> None:
    containers = (
        {"Id": "1", "Names": ["/cell-1"], "ImageID": "sha256:i"},
        {"Id": "2", "Names": ["/other"], "ImageID": "o"},
    )
    image, base = list_images(Engine(BASE, IMAGE, containers=containers), tmp_path)  # type: ignore[arg-type]
    assert (image.image_id, image.names, image.base, image.containers) == (
        "torch-1",
        ("torchmatrix/torch:1",),
        "debian12",
        ("cell-1",),
    )
    one, two = "sha256:one", "sha256:one/sha256:two"
    assert image.layers == ((one, 400), (two, 30), (f"{two}/sha256:three", 0))
    assert base.layers == ((one, 400),)
    assert (image.size, disk_use([image, base]), disk_use([])) == (430, 430, 0)
    assert (base.recipe, base.used) == ("", "2026-11-29T10:00:00.123Z")


def test_a_history_of_another_form_shares_nothing(tmp_path: Path) -> None:
    strange = ("sha256:i", ["torchmatrix/torch:1"], {"recipe": "r"}, [("", 400), ("SHELL [x]", 0)])
    (image,) = list_images(Engine(strange), tmp_path)  # type: ignore[arg-type]
    assert [size for _, size in image.layers] == [0, 0, 400]


def test_what_somebody_built_on_ours_is_not_ours(tmp_path: Path) -> None:
    theirs = ("sha256:t", ["registry.example/theirs:1"], {"recipe": "r"}, STEPS)
    nameless = ("sha256:n", None, {"recipe": "r"}, STEPS)
    assert list_images(Engine(theirs, nameless), tmp_path) == ()  # type: ignore[arg-type]


def test_what_lost_its_names_is_ours_where_we_built_it(tmp_path: Path) -> None:
    images = [(f"sha256:{name}", None, {"recipe": "r", "image-id": "torch-1"}, STEPS) for name in "abc"]
    images.append(("sha256:d", ["theirs:1"], {"recipe": "r", "image-id": "torch-1"}, STEPS))
    note_use(tmp_path, "sha256:a", built=True)
    note_use(tmp_path, "sha256:a", built=False)  # somebody gave its id as a ready image
    note_use(tmp_path, "sha256:b", built=False)  # one that somebody built on ours, given as a ready image
    note_use(tmp_path, "sha256:d", built=True)
    (image,) = list_images(Engine(*images), tmp_path)  # type: ignore[arg-type]
    assert (image.id, image.names) == ("sha256:a", ())


def test_the_least_recently_used_come_first(tmp_path: Path) -> None:
    images = [(f"sha256:{name}", [f"torchmatrix/{name}:1"], {"recipe": name}, STEPS) for name in "abc"]
    note_use(tmp_path, "sha256:a", built=True)
    listed = list_images(Engine(*images), tmp_path)  # type: ignore[arg-type]
    assert [image.recipe for image in listed] == ["b", "c", "a"]
    assert listed[-1].used > listed[0].used


def test_a_cache_that_takes_nothing_stops_nobody() -> None:
    note_use(Path("/proc/nowhere"), "sha256:a", built=True)


def test_an_engine_that_fails_is_told(tmp_path: Path) -> None:
    class Broken(Engine):
        def history(self, id_: str) -> list[dict[str, Any]]:
            raise APIError(f"no history of {id_}")

    with pytest.raises(InfrastructureError, match="the engine failed while listing images"):
        list_images(Broken(IMAGE), tmp_path)  # type: ignore[arg-type]
