"""How an absent or broken engine is told is in tests/faults; here is how one that answers is spoken to."""

from contextlib import closing
from pathlib import Path

import pytest
from engine_api import fake_engine

from orchestrator.engines.docker import connection


@pytest.mark.parametrize(("api", "spoken"), [("1.41", "1.41"), ("1.43", "1.43")])
def test_the_newest_api_that_both_know_is_spoken(tmp_path: Path, api: str, spoken: str) -> None:
    with fake_engine(tmp_path) as engine:
        engine.api_version = api
        with closing(connection.client(engine.environ)) as client:
            assert client.api_version == spoken


def test_an_engine_that_is_newer_than_docker_py_is_spoken_to_as_docker_py_can(tmp_path: Path) -> None:
    from docker.constants import DEFAULT_DOCKER_API_VERSION

    with fake_engine(tmp_path) as engine:
        engine.api_version = "1.99"
        with closing(connection.client(engine.environ)) as client:
            assert client.api_version == DEFAULT_DOCKER_API_VERSION


def test_every_call_has_a_deadline(tmp_path: Path) -> None:
    with fake_engine(tmp_path) as engine, closing(connection.client(engine.environ, 7.5)) as client:
        assert client.timeout == 7.5


def test_without_a_setting_it_is_the_usual_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(connection, "DEFAULT_HOST", f"unix://{tmp_path}/none.sock")
    assert f"{tmp_path}/none.sock" in connection.probe({})[1]
