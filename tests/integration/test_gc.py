"""Images really listed and removed: of those that a test made, and of no other."""

import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
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


@pytest.fixture
def many(docker_engine: "APIClient", python_image: str, tmp_path: Path) -> Iterator[list[str]]:
    """The names of eight images of ours, two of each, and nothing of them is left at the end."""
    session = uuid.uuid4().hex[:12]
    tags = [(f"torchmatrix/gc-{number}:{session}", f"torchmatrix/gc-{number}-too:{session}") for number in range(8)]
    for number, (tag, other) in enumerate(tags):
        label = f"LABEL org.torchmatrix.recipe={session}-{number} org.torchmatrix.image-id={session}-{number}"
        steps = f"FROM {python_image}\n{label}\n"
        subprocess.run(["docker", "build", "--quiet", "--tag", tag, "-"], input=steps.encode(), check=True, timeout=120)
        subprocess.run(["docker", "tag", tag, other], check=True, timeout=60)
    names = [name for pair in tags for name in pair]
    yield names
    for name in names:
        with suppress(NotFound):
            docker_engine.remove_image(name)


CLEARS = """
import os, sys
from pathlib import Path
from orchestrator.engines.docker import connection
from orchestrator.images.gc import choose, clear
from orchestrator.images.listing import list_images
client = connection.client(os.environ)
listed = [image for image in list_images(client, Path(sys.argv[1])) if set(image.names) & set(sys.argv[2:])]
print(len(listed), flush=True)
sys.stdin.readline()
chosen = choose(listed, 0, {})
done = clear(client, listed, chosen)
print([kept.why for kept in done.kept], len(done.removed), flush=True)
"""


@pytest.fixture
def clearing(tmp_path: Path, many: list[str]) -> Iterator[Callable[[], "subprocess.Popen[str]"]]:
    """Begins to remove those images, as a process that has listed them and waits for a line."""
    begun: list[subprocess.Popen[str]] = []

    def begin() -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", CLEARS, str(tmp_path), *many]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        begun.append(process)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


def there(client: "APIClient", names: list[str]) -> list[str]:
    return sorted({name for image in client.images() for name in image["RepoTags"] or ()} & set(names))


def test_several_at_once_all_come_to_their_end(
    docker_engine: "APIClient", many: list[str], clearing: Callable[[], "subprocess.Popen[str]"]
) -> None:
    several = [clearing() for _ in range(3)]
    for process in several:
        assert process.stdout is not None
        assert process.stdout.readline() == "8\n"
    for process in several:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate()[0] for process in several] == ["[] 8\n"] * 3
    assert [process.returncode for process in several] == [0, 0, 0]
    assert there(docker_engine, many) == []


def test_an_image_on_which_another_stands_keeps_its_names(
    docker_engine: "APIClient", many: list[str], clearing: Callable[[], "subprocess.Popen[str]"]
) -> None:
    container = docker_engine.create_container(many[0], ["true"])["Id"]
    child = docker_engine.commit(container)["Id"]
    docker_engine.remove_container(container)
    try:
        process = clearing()
        assert process.communicate("\n")[0] == "8\n['an image that somebody made stands on it'] 7\n"
        assert there(docker_engine, many) == sorted(many[:2])
    finally:
        docker_engine.remove_image(child)


def test_one_that_lost_its_names_is_found_and_goes_when_nothing_stands_on_it(
    docker_engine: "APIClient", made: dict[str, str], tmp_path: Path
) -> None:
    image = docker_engine.inspect_image(made["old"])["Id"]
    docker_engine.remove_image(made["theirs"])
    container = docker_engine.create_container(image, ["true"])["Id"]
    child = docker_engine.commit(container)["Id"]
    docker_engine.remove_container(container)
    docker_engine.remove_image(made["old"])  # as when giving the name back failed
    assert not docker_engine.inspect_image(image)["RepoTags"]
    note_use(tmp_path, image, built=True)
    try:
        (found,) = [each for each in list_images(docker_engine, tmp_path) if each.id in {image, child}]
        assert (found.id, found.names) == (image, ())
        done = clear(docker_engine, [found], choose([found], 0, {}))
        assert (done.removed, [kept.failed for kept in done.kept]) == ((), [False])
        assert "dependent child" in done.kept[0].why
    finally:
        docker_engine.remove_image(child, noprune=True)
    assert clear(docker_engine, [found], choose([found], 0, {})).removed == (found,)
    with pytest.raises(NotFound):
        docker_engine.inspect_image(image)


@pytest.mark.parametrize("after", [1, 4, 9])
def test_one_that_was_killed_is_finished_by_the_next(
    docker_engine: "APIClient", many: list[str], clearing: Callable[[], "subprocess.Popen[str]"], after: int
) -> None:
    first = clearing()
    assert first.stdout is not None
    assert first.stdin is not None
    assert first.stdout.readline() == "8\n"
    first.stdin.write("\n")
    first.stdin.flush()
    while len(there(docker_engine, many)) > len(many) - after:
        time.sleep(0.001)
    first.kill()
    first.wait()
    left = there(docker_engine, many)
    assert len(left) < len(many)
    second = clearing()
    out, _ = second.communicate("\n")
    assert out.splitlines()[1] == f"[] {len({name.replace('-too', '') for name in left})}"
    assert there(docker_engine, many) == []


def test_images_go_by_their_use_and_one_that_a_container_is_made_of_stays(
    docker_engine: "APIClient", made: dict[str, str], tmp_path: Path
) -> None:
    ids = {name: docker_engine.inspect_image(tag)["Id"] for name, tag in made.items()}
    note_use(tmp_path, ids["old"], built=True)
    time.sleep(0.01)  # what is told of it has milliseconds
    note_use(tmp_path, ids["new"], built=True)
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
