"""Images really listed and removed: of those that a test made, and of no other."""

import subprocess
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from docker.errors import NotFound

from orchestrator.images.gc import choose, clear
from orchestrator.images.listing import disk_use, list_images, note_use

if TYPE_CHECKING:
    from docker import APIClient

pytestmark = pytest.mark.docker


@pytest.fixture
def made(docker_engine: "APIClient", python_image: str) -> Iterator[dict[str, str]]:
    """Two images of ours on one layer, by their names, and one that somebody made of the first."""
    session = uuid.uuid4().hex[:12]
    tags = {name: f"torchmatrix/gc-{name}:{session}" for name in ("old", "new")}
    tags["theirs"] = f"torchmatrix-test/gc-theirs:{session}"
    for name, tag in tags.items():
        labels = f"LABEL org.torchmatrix.recipe={session}-{name} org.torchmatrix.image-id={session}-{name}"
        start = tags["old"] if name == "theirs" else python_image
        steps = f"FROM {start}\n{labels}\nRUN head -c 100000 /dev/zero >/{name}; echo {session} >>/{name}\n"
        subprocess.run(["docker", "build", "--quiet", "--tag", tag, "-"], input=steps.encode(), check=True, timeout=120)
    yield tags
    for tag in reversed(tags.values()):
        with suppress(NotFound):
            docker_engine.remove_image(tag)


def test_images_go_by_their_use_and_one_that_a_container_is_made_of_stays(
    docker_engine: "APIClient", made: dict[str, str], tmp_path: Path
) -> None:
    ids = {name: docker_engine.inspect_image(tag)["Id"] for name, tag in made.items()}
    note_use(tmp_path, ids["old"])
    note_use(tmp_path, ids["new"])
    listed = [image for image in list_images(docker_engine, tmp_path) if set(image.names) & set(made.values())]
    assert [image.id for image in listed] == [ids["old"], ids["new"]]  # what is theirs is not ours
    shared = listed[0].layers[0]
    assert listed[1].layers[0] == shared
    assert disk_use(listed) == shared[1] + sum(image.layers[-1][1] for image in listed)
    assert disk_use(listed) < sum(image.size for image in listed)

    container = docker_engine.create_container(made["old"], "true")
    try:
        listed = [image for image in list_images(docker_engine, tmp_path) if set(image.names) & set(made.values())]
        done = clear(docker_engine, listed, choose(listed, 0, {}))
    finally:
        docker_engine.remove_container(container, force=True)
    assert [image.id for image in done.removed] == [ids["new"]]
    assert [kept.image.id for kept in done.kept] == [ids["old"]]
    assert "is made of it" in done.kept[0].why
    with pytest.raises(NotFound):
        docker_engine.inspect_image(ids["new"])
    assert docker_engine.inspect_image(made["old"])["Id"] == ids["old"]
    assert docker_engine.inspect_image(made["theirs"])["Id"] == ids["theirs"]
