"""A container engine that is not there: enough of the Engine API on a unix socket for one container's life.

A route can be given a fault: what happens to an engine now and then, here as often as a test wants it.
"""

import io
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

HANG, HALF, GARBAGE, DROP = "hang", "half", "garbage", "drop"
REFUSE, CONFLICT, MISSING = "refuse", "conflict", "missing"  # HTTP 500, 409, 404
DRIP, TRICKLE, FLOOD = "drip", "trickle", "flood"  # a byte now and then, of the head, of the body; too much of it
FAULTS = (HANG, HALF, GARBAGE, DROP, REFUSE, CONFLICT, DRIP, TRICKLE)


Engine = TypeVar("Engine", bound="FakeEngine")


class FakeEngine(ThreadingMixIn, UnixStreamServer):
    """One engine with at most one container. `faults` maps a route (`create`, `start`, …) to a fault."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, path: Path, handler: "type[Handler] | None" = None) -> None:
        self.path = path
        self.environ = {"DOCKER_HOST": f"unix://{path}"}
        self.faults: dict[str, str] = {}
        self.refused_once: dict[str, int] = {}  # of a route, the call that it refuses, from 1
        self.calls: list[str] = []
        self.api_version = "1.41"
        self.output = b"hello\n"
        self.output_is_cut = False
        self.exit_code = 0
        self.state: dict[str, object] = {}
        self.runs_until_killed = False
        self.listed: list[dict[str, object]] = []  # its images
        self.root = "/proc/nowhere"
        self.results: dict[str, bytes] = {"cell.json": b"{}"}
        self.events = b""
        self.started = threading.Event()
        self.killed = threading.Event()
        self.over = threading.Event()
        super().__init__(str(path), handler or Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle is what the tests are about."""

    def container_state(self) -> dict[str, object]:
        running = not self.started.is_set() or (self.runs_until_killed and not self.killed.is_set())
        code = 137 if self.killed.is_set() else self.exit_code
        return {"Running": running, "Paused": False, "ExitCode": code, "OOMKilled": False, **self.state}

    def archive(self, path: str) -> bytes | None:
        """The results folder as a tar archive, or one file of it; None when it has no such file."""
        name = path.removeprefix("/results/out").lstrip("/")
        if name and name not in self.results:
            return None
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w") as tar:
            for member in (name,) if name else ("out", *(f"out/{result}" for result in self.results)):
                entry = tarfile.TarInfo(member)
                content = self.results.get(member.removeprefix("out/"), b"")
                entry.type, entry.size = tarfile.DIRTYPE if member == "out" else tarfile.REGTYPE, len(content)
                tar.addfile(entry, io.BytesIO(content))
        return made.getvalue()


@contextmanager
def fake_engine(folder: Path) -> Iterator[FakeEngine]:
    """A fake engine that answers on a socket in the folder."""
    with served(FakeEngine(folder / "engine.sock")) as engine:
        yield engine


@contextmanager
def served(made: Engine) -> Iterator[Engine]:
    """The same, answering until the block ends."""
    with made as engine:
        thread = threading.Thread(target=engine.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield engine
        finally:
            engine.over.set()
            engine.killed.set()
            engine.shutdown()
            thread.join()


_ROUTES = {
    ("GET", "version"): "version",
    ("POST", "create"): "create",
    ("PUT", "archive"): "put",
    ("POST", "attach"): "attach",
    ("POST", "start"): "start",
    ("GET", "json"): "inspect",
    ("POST", "kill"): "kill",
    ("GET", "archive"): "collect",
    ("GET", "events"): "events",
    ("GET", "volumes"): "volumes",
    ("GET", "info"): "info",
}


class Handler(BaseHTTPRequestHandler):
    server: FakeEngine
    protocol_version = "HTTP/1.1"

    def address_string(self) -> str:
        return "unix"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it has
        pass

    def handle_call(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        route = _ROUTES.get((self.command, urlsplit(self.path).path.rsplit("/", 1)[-1]), "remove")
        self.server.calls.append(route)
        fault = self.server.faults.get(route)
        if self.server.refused_once.get(route) == self.server.calls.count(route):
            fault = REFUSE
        if fault is not None:
            self.fail(fault)
        else:
            getattr(self, f"on_{route}")(body)

    do_GET = do_POST = do_PUT = do_DELETE = handle_call  # noqa: N815 - the names that are called

    def fail(self, fault: str) -> None:
        self.close_connection = True
        if fault == HANG:
            self.server.over.wait(30)
        elif fault == REFUSE:
            self.answer(500, b'{"message": "the engine has a bad day"}')
        elif fault == CONFLICT:
            self.answer(409, b'{"message": "somebody else is at it"}')
        elif fault == MISSING:
            self.answer(404, b'{"message": "No such image"}')
        elif fault == GARBAGE:
            self.answer(200, b"<html>not what you expect</html>")
        elif fault == HALF:
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            self.wfile.write(b'{"half": ')
        else:
            self.fail_at_length(fault)

    def fail_at_length(self, fault: str) -> None:
        if fault == DRIP:
            self.send_slowly(b"HTTP/1.1 200 OK\r\nX-Long: ")
        elif fault == TRICKLE:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            self.send_slowly(b"[")
        elif fault == FLOOD:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n[")
            while True:  # until nobody reads
                self.wfile.write(b" " * (1 << 20))
        # DROP: the connection closes without a word

    def send_slowly(self, first: bytes) -> None:
        """Something often enough that no read waits long, until nobody reads or the engine is over."""
        self.wfile.write(first)
        while not self.server.over.wait(0.05):
            self.wfile.write(b" ")

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def on_version(self, body: bytes) -> None:
        said = {"Version": "20.10.99", "ApiVersion": self.server.api_version}
        self.answer(200, json.dumps(said).encode())

    def on_create(self, body: bytes) -> None:
        self.answer(201, b'{"Id": "0123", "Warnings": []}')

    def on_put(self, body: bytes) -> None:
        self.answer(200, b"")

    def on_attach(self, body: bytes) -> None:
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
        self.server.started.wait(10)
        frame = bytes([1, 0, 0, 0]) + len(self.server.output).to_bytes(4, "big") + self.server.output
        self.wfile.write(frame[: len(frame) // 2] if self.server.output_is_cut else frame)
        if self.server.runs_until_killed:
            self.server.killed.wait(30)

    def on_start(self, body: bytes) -> None:
        self.answer(204, b"")
        self.server.started.set()

    def on_inspect(self, body: bytes) -> None:
        images = urlsplit(self.path).path.endswith("/images/json")
        told = self.server.listed if images else {"State": self.server.container_state()}
        self.answer(200, json.dumps(told).encode())

    def on_info(self, body: bytes) -> None:
        self.answer(200, json.dumps({"DockerRootDir": self.server.root}).encode())

    def on_kill(self, body: bytes) -> None:
        self.answer(204, b"")
        if "signal=9" in self.path or "SIGKILL" in self.path:
            self.server.killed.set()

    def on_collect(self, body: bytes) -> None:
        archive = self.server.archive(parse_qs(urlsplit(self.path).query)["path"][0])
        self.answer(404, b'{"message": "no such file"}') if archive is None else self.answer(200, archive)

    def on_events(self, body: bytes) -> None:
        self.answer(200, self.server.events)

    def on_volumes(self, body: bytes) -> None:
        self.answer(200, b'{"Volumes": []}')

    def on_remove(self, body: bytes) -> None:
        self.answer(204, b"")
