"""What the engine answers, as values. Each answer is read here: one of another form is told and goes no further.

Null stands for nothing where the Engine API says that it may (https://docs.docker.com/reference/api/engine/); a size or
an id that is missing is no answer.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct, field

from orchestrator.engines.docker.calls import calling

if TYPE_CHECKING:
    from collections.abc import Callable

_Answer = TypeVar("_Answer")
_NOTHING: Mapping[str, str] = {}


class ConfigOfImage(Struct, frozen=True, rename="pascal"):
    """How an image wants to be run."""

    labels: Mapping[str, str] | None = None
    env: tuple[str, ...] | None = None
    user: str | None = None
    entrypoint: tuple[str, ...] | None = None
    volumes: Mapping[str, object] | None = None


class RootFs(Struct, frozen=True, rename="pascal"):
    """The layers of an image from the bottom, by digest."""

    layers: tuple[str, ...] | None = None


class ImageAnswer(Struct, frozen=True, rename="pascal"):
    """An image, inspected."""

    id: str
    size: int
    config: ConfigOfImage | None
    repo_tags: tuple[str, ...] | None = None
    created: str | None = None
    root_fs: RootFs | None = field(name="RootFS", default=None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it has."""
        return self.repo_tags or ()

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels that it has."""
        return (self.config and self.config.labels) or _NOTHING


class NamedImage(Struct, frozen=True, rename="pascal"):
    """An image, inspected for nothing but its id and its names."""

    id: str
    repo_tags: tuple[str, ...] | None = None


class FoundImage(Struct, frozen=True, rename="pascal"):
    """An image in a list."""

    id: str
    labels: Mapping[str, str] | None = None


class MadeLayer(Struct, frozen=True, rename="pascal"):
    """A step in the history of an image, newest first."""

    size: int
    created_by: str


class FoundContainer(Struct, frozen=True, rename="pascal"):
    """A container in a list. One that is being removed has no name any more."""

    id: str
    names: tuple[str, ...] | None = None
    image_id: str = field(name="ImageID", default="")
    labels: Mapping[str, str] | None = None

    @property
    def name(self) -> str:
        """What it is called: its first name, or its id."""
        return self.names[0].lstrip("/") if self.names else self.id


class FoundVolume(Struct, frozen=True, rename="pascal"):
    """A volume in a list."""

    name: str
    labels: Mapping[str, str] | None = None


class Volumes(Struct, frozen=True, rename="pascal"):
    """The answer that lists volumes."""

    volumes: tuple[FoundVolume, ...] | None = None


class EngineFacts(Struct, frozen=True, rename="pascal"):
    """What the engine says of itself."""

    docker_root_dir: str


def asked(doing: str, kind: type[_Answer], ask: "Callable[[], object]") -> _Answer:
    """The answer to a call of docker-py; InfrastructureError says what was being done, and what it is not."""
    with calling(doing):
        return msgspec.convert(ask(), kind)
