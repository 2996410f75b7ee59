"""What the errors of an engine become."""

import pytest
import requests
from docker.errors import APIError, DockerException, ImageNotFound, NotFound

from orchestrator.engines.docker.calls import Conflict, Gone, calling, refusal
from orchestrator.errors import InfrastructureError


def said(status: int) -> APIError:
    answer = requests.Response()
    answer.status_code = status
    return APIError("failed", answer, explanation="because\nof this")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (said(404), Gone),
        (said(409), Conflict),
        (said(500), InfrastructureError),
        (DockerException("x"), InfrastructureError),
        (requests.ReadTimeout("x"), InfrastructureError),
        (ConnectionResetError("x"), InfrastructureError),
        (ValueError("no JSON"), InfrastructureError),
    ],
)
def test_every_error_says_what_was_being_done(error: Exception, kind: type[InfrastructureError]) -> None:
    with (
        pytest.raises(InfrastructureError, match="while removing the container") as caught,
        calling("removing the container"),
    ):
        raise error
    assert type(caught.value) is kind


def test_the_engines_own_words_are_the_cause_on_one_line() -> None:
    with pytest.raises(InfrastructureError) as caught, calling("starting"):
        raise said(500)
    assert caught.value.cause == "because of this"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), AttributeError("ours"), InfrastructureError("own")])
def test_what_is_no_error_of_the_engine_goes_through(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, calling("starting"):
        raise error
    assert caught.value is error


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (404, b'{"message": "No such image: x"}', ImageNotFound, "No such image: x"),
        (404, b'{"message": "No such container: x"}', NotFound, "No such container: x"),
        (409, b'{"message": "in use"}', APIError, "in use"),
        (500, b'{"message": null}', APIError, '{"message": null}'),
        (500, b"[1]", APIError, "[1]"),
        (502, b"<html>\xff", APIError, "<html>\ufffd"),
        (500, b"", APIError, ""),
    ],
)
def test_a_refusal_is_read_whatever_its_words_are(status: int, body: bytes, kind: type[APIError], words: str) -> None:
    answer = requests.Response()
    answer.status_code, answer._content = status, body
    made = refusal(answer)
    assert (type(made), made.explanation, made.status_code) == (kind, words, status)
