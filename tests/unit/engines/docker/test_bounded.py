"""The hooks by which answers are bounded: one that is not there any more is told, and nothing goes on without."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docker.transport import UnixHTTPAdapter
from docker.transport.basehttpadapter import BaseHTTPAdapter
from docker.transport.unixconn import UnixHTTPConnectionPool
from engine_api import FakeEngine, fake_engine
from requests.adapters import HTTPAdapter

from orchestrator.engines.docker import connection
from orchestrator.engines.docker.calls import calling
from orchestrator.errors import InfrastructureError


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[FakeEngine]:
    with fake_engine(tmp_path) as engine:
        yield engine


def asked(engine: FakeEngine) -> Any:
    client = connection.client(engine.environ, 5.0)
    try:
        with calling("asking"):
            return client.version()
    finally:
        client.close()


def test_an_answer_is_read_within_its_bound(engine: FakeEngine) -> None:
    assert json.dumps(asked(engine))


class Elsewhere(UnixHTTPAdapter):
    """As with a requests that asks for connections as it did before 2.32."""

    def send(self, request: Any, **options: Any) -> Any:
        self.get_connection_with_tls_context = lambda *_, **__: self.get_connection(request.url)  # type: ignore[method-assign]
        return super().send(request, **options)


def test_a_requests_that_goes_around_the_hook_is_told(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docker.api.client.UnixHTTPAdapter", Elsewhere)
    with pytest.raises(InfrastructureError, match="cannot be bounded") as told:
        asked(engine)
    assert "read past the bound: requests 2." in told.value.cause
    assert "requests>=2.32" in told.value.hint


def test_an_adapter_without_the_hook_is_told(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    for adapter in (HTTPAdapter, BaseHTTPAdapter):
        monkeypatch.delattr(adapter, "get_connection_with_tls_context")
    with pytest.raises(InfrastructureError, match="cannot be bounded"):
        asked(engine)


def test_a_pool_that_makes_connections_in_another_way_is_told(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = type("Pool", (), {})()
    monkeypatch.setattr(UnixHTTPAdapter, "get_connection_with_tls_context", lambda *_, **__: pool, raising=False)
    with pytest.raises(InfrastructureError, match="cannot be bounded"):
        asked(engine)


def test_an_answer_class_that_is_not_used_is_told(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    made = UnixHTTPConnectionPool._new_conn

    class Fixed:
        """A connection whose answer class cannot be set."""

        def __init__(self, real: Any) -> None:
            self.__dict__["real"] = real

        def __getattr__(self, name: str) -> Any:
            return getattr(self.__dict__["real"], name)

        def __setattr__(self, name: str, value: Any) -> None:
            if name != "response_class":
                setattr(self.__dict__["real"], name, value)

    monkeypatch.setattr(UnixHTTPConnectionPool, "_new_conn", lambda pool: Fixed(made(pool)))
    with pytest.raises(InfrastructureError, match="cannot be bounded"):
        asked(engine)
