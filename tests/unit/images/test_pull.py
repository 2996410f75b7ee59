import os
from typing import Any

import pytest
from docker.errors import APIError

from orchestrator.errors import InputError
from orchestrator.images import pull as pulling
from orchestrator.images.docker import Docker
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.images.pull import pull

REF = f"r.example/team/image@sha256:{'0' * 64}"


class Client:
    """Answers a pull with these lines, and remembers what it was asked."""

    def __init__(self, *lines: dict[str, str], error: Exception | None = None) -> None:
        self.lines, self.error, self.asked = lines, error, {}

    def pull(self, name: str, **asked: Any) -> Any:
        self.asked = {"name": name, **asked}
        if self.error:
            raise self.error
        return iter(self.lines)

    def close(self) -> None:
        pass


@pytest.fixture
def docker(commands, engine):
    return Docker(commands, os.environ)


@pytest.fixture
def logged_in(with_site, monkeypatch):
    monkeypatch.setenv("R_TOKEN", "hunter22-hunter22\n")
    return with_site(registries={"r.example": "robot:env:R_TOKEN"})


def test_a_registry_that_the_site_does_not_name_is_dockers_own_business(logged_in, docker, engine):
    other = f"other.example/image@sha256:{'0' * 64}"
    pull(other, logged_in, docker)

    assert [call["argv"] for call in engine.calls("pull")] == [["pull", "--quiet", other]]


def test_the_login_of_the_site_goes_to_the_engine_and_on_no_command_line(logged_in, docker, engine, monkeypatch):
    client = Client({"status": "Downloading"}, {"status": "Done"})
    monkeypatch.setattr(pulling.connection, "client", lambda _: client)
    pull(REF, logged_in, docker)

    assert client.asked["auth_config"] == {
        "username": "robot",
        "password": "hunter22-hunter22",
        "serveraddress": "r.example",
    }
    assert (client.asked["name"], client.asked["tag"]) == ("r.example/team/image", f"sha256:{'0' * 64}")
    assert engine.calls("pull") == []


@pytest.mark.parametrize(
    "client",
    [
        Client({"status": "x"}, {"error": "denied for robot:hunter22-hunter22"}),
        Client(error=APIError("denied for robot:hunter22-hunter22")),
    ],
)
def test_a_refusal_is_told_without_the_password(logged_in, docker, monkeypatch, client):
    monkeypatch.setattr(pulling.connection, "client", lambda _: client)

    with pytest.raises(StageFailed, match="could not be pulled") as caught:
        pull(REF, logged_in, docker)

    assert caught.value.stage is Stage.BASE
    assert "denied for robot:[MASKED]" in caught.value.log


def test_a_password_that_is_not_there_is_bad_input(logged_in, docker, monkeypatch):
    monkeypatch.delenv("R_TOKEN")

    with pytest.raises(InputError, match=r"environment R_TOKEN: secret `password of r\.example` is empty or not set"):
        pull(REF, logged_in, docker)
