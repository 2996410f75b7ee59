"""Answers of an engine that are JSON and not what the Engine API says: told as its fault, never taken for ours."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from engine_api import FakeEngine, Handler, served

from orchestrator.engines.docker import connection
from orchestrator.engines.docker.answers import EngineFacts, asked
from orchestrator.engines.docker.sweep import sweep
from orchestrator.engines.docker.watch import look_at
from orchestrator.errors import ExitCode, InfrastructureError
from orchestrator.images.gc import choose, clear
from orchestrator.images.listing import list_images, made_images

NESTED = "[" * 5000 + "]" * 5000
LABELS = {"org.torchmatrix.recipe": "r", "org.torchmatrix.image-id": "torch-1"}
IMAGE = {
    "Id": "sha256:i",
    "RepoTags": ["torchmatrix/torch:1"],
    "Size": 430,
    "Created": "2026-11-29T10:00:00.123456789Z",
    "Config": {"Labels": LABELS},
    "RootFS": {"Type": "layers", "Layers": ["sha256:one"]},
}
CONTAINER = {"Id": "0123", "Names": ["/cell-1"], "ImageID": "sha256:i", "Labels": None}
STATE = {"Running": True, "Paused": False, "ExitCode": 0, "OOMKilled": False, "Pid": 1}
WELL: dict[str, Any] = {
    "/images/json": [{"Id": "sha256:i", "Labels": LABELS}],
    "/images/sha256:i/json": IMAGE,
    "/images/torchmatrix/torch:1/json": IMAGE,
    "/images/sha256:i/history": [{"CreatedBy": "RUN x", "Size": 430}],
    "/containers/json": [CONTAINER],
    "/containers/0123/json": {"State": STATE, "Mounts": None},
    "/volumes": {"Volumes": None},
    "/info": {"DockerRootDir": "/var/lib/docker"},
}


class Telling(Handler):
    """Answers what the test says, by path: a value as JSON, a text as it is, a number as a status with odd words."""

    server: "Told"

    def handle_call(self) -> None:
        path = urlsplit(self.path).path.removeprefix("/v1.41")
        if path.endswith("version"):
            self.on_version(b"")
        elif self.command == "DELETE":
            self.answer(self.server.removal, b'["no object"]')
        else:
            told = self.server.told[path]
            self.answer(200, (told if isinstance(told, str) else json.dumps(told)).encode())

    do_GET = do_POST = do_PUT = do_DELETE = handle_call  # noqa: N815 - the names that are called


class Told(FakeEngine):
    def __init__(self, path: Path) -> None:
        self.told = dict(WELL)
        self.removal = 500
        super().__init__(path, Telling)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Told]:
    with served(Told(tmp_path / "engine.sock")) as told:
        yield told


def torchmatrix(engine: Told, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **engine.environ, "TORCHMATRIX_CACHE": str(folder / "cache")}
    command = [sys.executable, "-c", "from orchestrator.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environ, check=False, timeout=60)


def without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: each for key, each in value.items() if key != name}


ODD: list[tuple[str, object, str]] = [
    ("/images/json", None, "Expected `array`, got `null`"),
    ("/images/json", {"Id": "x"}, "Expected `array`, got `object`"),
    ("/images/json", [1], "Expected `object`, got `int` - at `$[0]`"),
    ("/images/json", [{"Id": None}], "Expected `str`, got `null` - at `$[0].Id`"),
    ("/images/json", NESTED, ""),
    ("/images/sha256:i/json", [], "Expected `object`, got `array`"),
    ("/images/sha256:i/json", {**IMAGE, "Size": None}, "Expected `int`, got `null` - at `$.Size`"),
    ("/images/sha256:i/json", without(IMAGE, "Size"), "missing required field `Size`"),
    ("/images/sha256:i/json", without(IMAGE, "Config"), "missing required field `Config`"),
    ("/images/sha256:i/json", {**IMAGE, "RepoTags": "x"}, "at `$.RepoTags`"),
    ("/images/sha256:i/json", {**IMAGE, "RootFS": 1}, "at `$.RootFS`"),
    ("/images/sha256:i/json", {**IMAGE, "Config": {"Labels": [1]}}, "at `$.Config.Labels`"),
    ("/images/sha256:i/json", NESTED, ""),
    ("/images/sha256:i/history", None, "Expected `array`, got `null`"),
    ("/images/sha256:i/history", [{"Size": 1}], "missing required field `CreatedBy`"),
    ("/images/sha256:i/history", [{"CreatedBy": "x"}], "missing required field `Size`"),
    ("/containers/json", "null", "Expected `array`, got `null`"),
    ("/containers/json", ["x"], "Expected `object`, got `str`"),
    ("/containers/json", [without(CONTAINER, "Id")], "missing required field `Id`"),
    ("/containers/json", [{**CONTAINER, "Names": [None]}], "at `$[0].Names[0]`"),
]


@pytest.mark.parametrize(("path", "told", "fact"), ODD)
def test_an_image_is_not_listed_from_an_answer_of_another_form(
    engine: Told, tmp_path: Path, path: str, told: object, fact: str
) -> None:
    engine.told[path] = told
    with closing(connection.client(engine.environ)) as client, pytest.raises(InfrastructureError) as caught:
        list_images(client, tmp_path)
    assert caught.value.fact == "the engine did not answer as it should while listing images"
    assert fact in caught.value.cause


@pytest.mark.parametrize(
    ("path", "told", "names", "containers", "sizes"),
    [
        ("/images/sha256:i/json", IMAGE, ("torchmatrix/torch:1",), ("cell-1",), [430]),
        ("/images/sha256:i/json", {**IMAGE, "Created": None}, ("torchmatrix/torch:1",), ("cell-1",), [430]),
        ("/images/sha256:i/json", {**IMAGE, "RootFS": None}, ("torchmatrix/torch:1",), ("cell-1",), []),
        ("/images/sha256:i/json", without(IMAGE, "RootFS"), ("torchmatrix/torch:1",), ("cell-1",), []),
        ("/images/sha256:i/json", {**IMAGE, "RootFS": {"Layers": None}}, ("torchmatrix/torch:1",), ("cell-1",), []),
        ("/images/sha256:i/json", {**IMAGE, "Config": None}, ("torchmatrix/torch:1",), ("cell-1",), [430]),
        ("/containers/json", [{**CONTAINER, "Names": None}], ("torchmatrix/torch:1",), ("0123",), [430]),
        ("/containers/json", [without(CONTAINER, "Names")], ("torchmatrix/torch:1",), ("0123",), [430]),
        ("/containers/json", [{**CONTAINER, "Names": []}], ("torchmatrix/torch:1",), ("0123",), [430]),
    ],
)
def test_null_is_nothing_where_the_engine_may_say_so(
    engine: Told,
    tmp_path: Path,
    path: str,
    told: object,
    names: tuple[str, ...],
    containers: tuple[str, ...],
    sizes: list[int],
) -> None:
    engine.told[path] = told
    with closing(connection.client(engine.environ)) as client:
        (image,) = list_images(client, tmp_path)
    assert (image.names, image.containers, [size for _, size in image.layers]) == (names, containers, sizes)


@pytest.mark.parametrize("told", [{**IMAGE, "RepoTags": None}, without(IMAGE, "RepoTags")])
def test_an_image_without_names_has_none(engine: Told, tmp_path: Path, told: object) -> None:
    engine.told["/images/sha256:i/json"] = told
    with closing(connection.client(engine.environ)) as client:
        assert list_images(client, tmp_path) == ()  # nothing says that it is ours


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/images/json", None),
        ("/images/json", [{"Id": "x", "Labels": 1}]),
        ("/info", []),
        ("/info", {"DockerRootDir": None}),
        ("/info", NESTED),
    ],
)
def test_what_is_built_already_is_not_read_from_another_form(engine: Told, path: str, told: object) -> None:
    with closing(connection.client(engine.environ)) as client:
        assert made_images(client) == ({"torch-1"}, Path("/var/lib/docker"))
        engine.told[path] = told
        with pytest.raises(InfrastructureError, match="did not answer as it should while listing images"):
            made_images(client)


@pytest.mark.parametrize(
    "told", [None, [], {"State": None}, {"State": {}}, {}, {"State": STATE, "Mounts": [1]}, NESTED]
)
def test_a_container_is_not_looked_at_in_another_form(engine: Told, told: object) -> None:
    with closing(connection.client(engine.environ)) as client:
        assert look_at(client, "0123")[1] is None
        engine.told["/containers/0123/json"] = told
        with pytest.raises(InfrastructureError, match="did not answer as it should while looking at the container"):
            look_at(client, "0123")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/containers/json", [{"Names": ["/x"]}]),
        ("/containers/json", [None]),
        ("/containers/json", [{"Id": "0", "Labels": []}]),
        ("/volumes", None),
        ("/volumes", []),
        ("/volumes", {"Volumes": [None]}),
        ("/volumes", {"Volumes": [{"Labels": None}]}),
    ],
)
def test_nothing_is_swept_by_an_answer_of_another_form(engine: Told, path: str, told: object) -> None:
    engine.told["/containers/json"] = []
    with closing(connection.client(engine.environ)) as client:
        assert sweep(client, "run-1") == ()
        engine.told[path] = told
        with pytest.raises(InfrastructureError, match="did not answer as it should while listing"):
            sweep(client, "run-1")


def test_a_refusal_without_words_is_a_refusal(engine: Told, tmp_path: Path) -> None:
    engine.told["/containers/json"] = []
    with closing(connection.client(engine.environ)) as client:
        images = list_images(client, tmp_path)
        (kept,) = clear(client, images, choose(images, 0, {})).kept
        assert kept.failed
        assert kept.why == 'the engine failed while removing an image (["no object"])'
        engine.removal = 409
        (kept,) = clear(client, images, choose(images, 0, {})).kept
        assert kept.why == 'it is in use now: ["no object"]'
        assert asked("asking", EngineFacts, client.info).docker_root_dir == "/var/lib/docker"


@pytest.mark.parametrize("verb", [("ls",), ("gc", "--max-bytes", "0")])
def test_the_command_says_that_it_is_the_engine(engine: Told, tmp_path: Path, verb: tuple[str, ...]) -> None:
    engine.told["/images/sha256:i/json"] = {**IMAGE, "Size": None}
    done = torchmatrix(engine, tmp_path, "images", *verb)
    assert done.returncode == ExitCode.INFRASTRUCTURE, done.stderr
    assert (
        "error: the engine did not answer as it should while listing images (Expected `int`, got `null`" in done.stderr
    )
    assert "bug in torchmatrix" not in done.stderr


def test_a_version_that_is_nested_too_deep_is_no_engine(engine: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Telling, "on_version", lambda self, _: self.answer(200, NESTED.encode()))
    with pytest.raises(InfrastructureError, match="what answers is not a container engine"):
        connection.version(engine.environ)
