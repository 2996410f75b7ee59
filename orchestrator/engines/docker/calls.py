"""What calls of the engine raise, made into errors of ours that say what was being done."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

from orchestrator import text
from orchestrator.errors import InfrastructureError

if TYPE_CHECKING:
    from docker.errors import APIError
    from requests import Response


@contextmanager
def calling(doing: str) -> Iterator[None]:
    """Turns whatever an engine call raises into an InfrastructureError that says what was being done."""
    import docker
    import msgspec
    import requests
    import urllib3

    broken = (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError, msgspec.MsgspecError)
    nested = RecursionError  # what JSON becomes that is
    try:
        yield
    except docker.errors.DockerException as error:
        kind = _KINDS.get(getattr(error, "status_code", None), InfrastructureError)
        raise kind(f"the engine failed while {doing}", cause=said(error)) from error
    except (*broken, nested) as error:
        raise InfrastructureError(
            f"the engine did not answer as it should while {doing}",
            cause=said(error),
            hint="see whether it is running: docker version",
        ) from error


def refusal(answer: "Response") -> "APIError":
    """The error in an answer that is one. docker-py itself fails where it is no object with a message."""
    from docker.errors import APIError, ImageNotFound, NotFound

    try:
        told = text.read_json(answer.content, dict[str, object]).get("message")
    except ValueError:
        told = None
    explanation = told if isinstance(told, str) else answer.content.decode(errors="replace").strip()
    kind = APIError
    if answer.status_code == HTTPStatus.NOT_FOUND:  # as docker-py tells them apart
        kind = ImageNotFound if "no such image" in explanation.lower() else NotFound
    return kind("the engine refused", response=answer, explanation=explanation)


class Gone(InfrastructureError):  # noqa: N818 - reads as what happened
    """What a call was about is not there (any more)."""


class Conflict(InfrastructureError):  # noqa: N818 - reads as what happened
    """The state of what a call was about does not allow it: it ended, or somebody else is removing it."""


_KINDS: Mapping[int | None, type[InfrastructureError]] = {HTTPStatus.NOT_FOUND: Gone, HTTPStatus.CONFLICT: Conflict}


def said(error: Exception) -> str:
    """The engine's own words for an error, on one line."""
    return text.one_line(str(getattr(error, "explanation", "") or error) or type(error).__name__)
