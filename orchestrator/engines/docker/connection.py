"""The one connection to the container engine: found, checked, and every call on it under a deadline."""

import http.client
import os
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from orchestrator import text
from orchestrator.engines.docker.bounded import bounded
from orchestrator.engines.docker.calls import calling, said
from orchestrator.errors import InfrastructureError

if TYPE_CHECKING:
    from docker import APIClient

DEFAULT_HOST = "unix:///var/run/docker.sock"
OLDEST_API = (1, 41)  # Docker 20.10
PROBE_S = 2.0
CALL_S = 60.0  # one whole answer, or one piece of a stream
_ANSWER_BYTES = 1 << 20


class Version(Struct, frozen=True, kw_only=True):
    """What an engine says that it is."""

    host: str
    release: str
    api: tuple[int, int]


def probe(environ: Mapping[str, str]) -> tuple[bool, str]:
    """Whether an engine answers that we can use, and which, or why not. Within seconds also when it hangs."""
    try:
        found = version(environ)
    except InfrastructureError as error:
        return False, str(error)
    return True, f"Docker {found.release} (API {found.api[0]}.{found.api[1]}) at {found.host}"


def version(environ: Mapping[str, str], timeout_s: float = PROBE_S) -> Version:
    """Ask the engine what it is, without docker-py; InfrastructureError says why none can be used."""
    host = environ.get("DOCKER_HOST") or DEFAULT_HOST
    connection = _http(host, environ, timeout_s)
    with closing(connection), _reached(host, timeout_s), _cut_off(connection, timeout_s):
        connection.request("GET", "/version")
        answer = connection.getresponse()
        body = answer.read(_ANSWER_BYTES)
    try:
        said = text.read_json(body, dict[str, object])
        major, minor = str(said["ApiVersion"]).split(".")
        found = Version(host=host, release=text.one_line(str(said["Version"]), 40), api=(int(major), int(minor)))
    except (ValueError, KeyError, TypeError) as error:
        raise InfrastructureError(
            "what answers is not a container engine",
            place=host,
            cause=f"HTTP {answer.status}, {text.one_line(str(error))}",
        ) from error
    if found.api < OLDEST_API:
        raise InfrastructureError(
            f"the engine speaks API {major}.{minor}, 1.41 is needed",
            place=host,
            cause=f"Docker {found.release} is too old",
            hint="install Docker 20.10 or later",
        )
    return found


def client(environ: Mapping[str, str], timeout_s: float = CALL_S) -> "APIClient":
    """A docker-py client of an engine that answered and is new enough; each thread has its own."""
    found = version(environ, min(PROBE_S, timeout_s))
    import docker
    from docker.constants import DEFAULT_DOCKER_API_VERSION
    from docker.utils import kwargs_from_env

    with calling("connecting"):
        settings = kwargs_from_env(environment=dict(environ))
        newest = tuple(int(part) for part in DEFAULT_DOCKER_API_VERSION.split("."))
        major, minor = min(found.api, newest)
        return bounded(
            docker.APIClient(
                base_url=settings.get("base_url", DEFAULT_HOST),
                tls=settings.get("tls", False),
                version=f"{major}.{minor}",
                timeout=timeout_s,  # type: ignore[arg-type] # requests takes a fraction too
            )
        )


@contextmanager
def _cut_off(connection: http.client.HTTPConnection, timeout_s: float) -> Iterator[None]:
    """TimeoutError when the whole takes longer: the socket's own deadline is for each piece, and pieces can drip."""
    late = threading.Event()

    def shut() -> None:
        late.set()
        with suppress(OSError, AttributeError):  # closed, or never opened
            connection.sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(timeout_s, shut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException):
        if late.is_set():
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
    if late.is_set():
        raise TimeoutError


@contextmanager
def _reached(host: str, timeout_s: float) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise InfrastructureError(
            "no container engine",
            place=host,
            cause="there is no such socket: it is not installed, or was not started",
            hint="apt-get install docker.io, then: systemctl start docker",
        ) from error
    except ConnectionRefusedError as error:
        raise InfrastructureError(
            "the container engine is not running",
            place=host,
            cause="nobody listens: it stopped and left its socket behind",
            hint="systemctl start docker",
        ) from error
    except PermissionError as error:
        raise InfrastructureError(
            "no permission to use the container engine",
            place=host,
            cause=f"user {os.getuid()} may not open it",
            hint="add the user to the group docker and log in again, or run as root",
        ) from error
    except TimeoutError as error:
        raise InfrastructureError(
            f"the container engine did not answer within {timeout_s:g} s",
            place=host,
            cause="it hangs, or the machine is overloaded",
            hint="systemctl restart docker",
        ) from error
    except (OSError, http.client.HTTPException) as error:
        raise InfrastructureError("cannot reach the container engine", place=host, cause=said(error)) from error


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _http(host: str, environ: Mapping[str, str], timeout_s: float) -> http.client.HTTPConnection:
    try:
        parts = urlsplit(host)
        port = parts.port if parts.scheme == "tcp" else None
    except ValueError as error:
        raise InfrastructureError("this is no address of an engine", place=host, cause=str(error)) from error
    if parts.scheme == "unix":
        return _UnixConnection(parts.path, timeout_s)
    if parts.scheme != "tcp" or not parts.hostname:
        raise InfrastructureError("this kind of address is not supported", place=host, hint="use unix:// or tcp://")
    if not environ.get("DOCKER_TLS_VERIFY"):
        return http.client.HTTPConnection(parts.hostname, port or 2375, timeout=timeout_s)
    keys = Path(environ.get("DOCKER_CERT_PATH") or Path.home() / ".docker")
    try:
        context = ssl.create_default_context(cafile=keys / "ca.pem")
        context.load_cert_chain(keys / "cert.pem", keys / "key.pem")
    except OSError as error:  # an SSLError is one
        raise InfrastructureError(
            "the keys for the engine cannot be used",
            place=str(keys),
            cause=said(error),
            hint="DOCKER_TLS_VERIFY asks for ca.pem, cert.pem and key.pem in DOCKER_CERT_PATH",
        ) from error
    return http.client.HTTPSConnection(parts.hostname, port or 2376, timeout=timeout_s, context=context)
