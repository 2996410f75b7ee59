"""Calls of docker-py that end: an answer has a time and a size in all, and not a time for each piece of it.

docker-py's own timeout is for one read of a socket. An engine that drips a byte a second keeps within it for ever, and
so does one that never stops sending.
"""

import errno
import io
import os
import time
from http import HTTPStatus
from http.client import HTTPResponse
from typing import TYPE_CHECKING, Any

from orchestrator.engines.docker.calls import refusal
from orchestrator.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Callable

    from docker import APIClient
    from requests import PreparedRequest, Response
    from requests.adapters import BaseAdapter
    from urllib3.connectionpool import HTTPConnectionPool

ANSWER_BYTES = 64 << 20


class _Allowance:
    """What one answer may still take; nothing is bound once it was lifted."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._bytes = ANSWER_BYTES
        self._lifted = False
        self.asked = False  # whether anything was read within it

    def lift(self) -> None:
        self._lifted = True

    def wait_s(self, piece_s: float | None) -> float | None:
        """How long the next piece may take, of which the socket waits `piece_s`; TimeoutError when that is over."""
        self.asked = True
        if self._lifted:
            return piece_s
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError(errno.ETIMEDOUT, "the whole answer took too long")
        return left if piece_s is None else min(left, piece_s)

    def take(self, amount: int) -> None:
        self._bytes -= amount
        if self._bytes < 0 and not self._lifted:
            raise OSError(errno.EMSGSIZE, f"{os.strerror(errno.EMSGSIZE)}: over {ANSWER_BYTES >> 20} MiB")


class _Limited(io.RawIOBase):
    """What a socket gives, within an allowance."""

    def __init__(self, raw: Any, allowance: _Allowance) -> None:
        self._raw = raw
        self._sock = raw._sock  # noqa: SLF001 - where docker-py too looks for the socket of a stream
        self._allowance = allowance

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def readinto(self, buffer: Any) -> int | None:
        piece_s = self._sock.gettimeout()
        self._sock.settimeout(self._allowance.wait_s(piece_s))
        try:
            amount: int | None = self._raw.readinto(buffer)
        finally:
            self._sock.settimeout(piece_s)
        self._allowance.take(amount or 0)
        return amount

    def close(self) -> None:
        self._raw.close()
        super().close()


def bounded(client: "APIClient") -> "APIClient":
    """The client, of which one answer takes `timeout` seconds at most; a stream only until it begins."""
    _Bound(client)
    return client


class _Bound:
    """What stands before `send`, through which everything goes that is asked of the engine, and behind it."""

    def __init__(self, client: "APIClient") -> None:
        self._timeout_s = float(client.timeout)
        self._allowance = _Allowance(self._timeout_s)
        self._send, self._get_adapter = client.send, client.get_adapter
        client.send = self.send  # type: ignore[method-assign]
        client.get_adapter = self.get_adapter  # type: ignore[method-assign]

    def send(self, request: "PreparedRequest", **options: Any) -> "Response":
        allowance = self._allowance = _Allowance(self._timeout_s)
        answer = self._send(request, **options)
        if not allowance.asked:
            raise _unbound("an answer was read past the bound")
        if answer.status_code >= HTTPStatus.BAD_REQUEST:
            raise refusal(answer)
        self._allowance.lift()
        return answer

    def get_adapter(self, url: str) -> "BaseAdapter":
        """The adapter for the address, whose connections read as told."""
        adapter: Any = self._get_adapter(url)
        if "pool_of" not in vars(adapter):
            if not hasattr(adapter, "get_connection_with_tls_context"):
                raise _unbound("an adapter is asked for its connections in another way")
            adapter.pool_of = adapter.get_connection_with_tls_context
            adapter.get_connection_with_tls_context = lambda *given, **more: self._bound(
                adapter.pool_of(*given, **more)
            )
        return adapter  # type: ignore[no-any-return]

    def _bound(self, pool: "HTTPConnectionPool") -> "HTTPConnectionPool":
        if "_new_conn" not in vars(pool):
            if not hasattr(pool, "_new_conn"):
                raise _unbound("connections are made in another way")
            make: Callable[[], Any] = pool._new_conn  # noqa: SLF001 - the one place where every kind of them is made

            def made() -> Any:
                connection = make()
                connection.response_class = self._answer
                return connection

            pool._new_conn = made  # type: ignore[method-assign]  # noqa: SLF001
        return pool

    def _answer(self, *given: Any, **more: Any) -> HTTPResponse:
        answer = HTTPResponse(*given, **more)
        answer.fp = io.BufferedReader(_Limited(answer.fp.detach(), self._allowance))
        return answer


def _unbound(why: str) -> InfrastructureError:
    """Without the bound an engine could keep us for ever, and nobody would know why: better to say so at once."""
    from importlib.metadata import version

    return InfrastructureError(
        "answers of the engine cannot be bounded",
        cause=f"{why}: requests {version('requests')}, urllib3 {version('urllib3')}",
        hint="pip install 'requests>=2.32' 'urllib3>=2'",
    )
