"""A scripted engine that keeps containers: each runs its cell as a process of this machine.

It lives in the test's process, so it outlives an orchestrator that is killed, and can go away while one runs.
"""

import io
import json
import os
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from engine_api import FakeEngine, Handler, served

IMAGE = "sha256:" + "5" * 64


class Container:
    """One container: its files, and its process once it was started."""

    def __init__(self, config: Mapping[str, Any], folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        self.paused = False
        self.attached = False
        self.kills: list[float] = []  # when, by the clock of the machine
        self.started = threading.Event()
        (folder / "out").mkdir(parents=True)
        (folder / "in").mkdir()

    def start(self) -> None:
        mounts = self.config["HostConfig"]["Mounts"]
        suites = next(mount["Source"] for mount in mounts if mount["Target"].endswith("/suites"))
        given = dict(pair.split("=", 1) for pair in self.config["Env"])
        self.process = subprocess.Popen(
            [sys.executable, *(part.replace("/results", str(self.folder)) for part in self.config["Cmd"])],
            cwd=self.folder,
            env={**given, "PYTHONPATH": str(Path(suites).parent), "PATH": os.environ["PATH"]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.started.set()

    def kill(self, number: int) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kills.append(time.time())
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)

    def state(self) -> dict[str, object]:
        code = self.process.poll() if self.process is not None else 0
        code = 128 - code if code is not None and code < 0 else code
        running = self.process is not None and code is None
        return {"Running": running, "Paused": self.paused, "ExitCode": code or 0, "OOMKilled": False}

    def remove(self) -> None:
        self.kill(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()
            if self.process.stdout is not None and not self.attached:
                self.process.stdout.close()
        self.started.set()


_GOING = 10  # looks at what is still connected when the engine goes


class CellEngine(FakeEngine):
    """`containers` by name; `images` are the references that it has, `asked` those that containers were made of."""

    def __init__(self, path: Path) -> None:
        self.containers: dict[str, Container] = {}
        self.images = {IMAGE}
        self.live: set[socket.socket] = set()
        self.folder = path.parent
        self.made = 0
        self.asked: list[str] = []
        super().__init__(path, CellHandler)
        self.environ |= {"ENGINE": "docker", "READY_IMAGE": IMAGE}

    def stop(self) -> None:
        """The engine is gone, as after a crash of the daemon: its containers go on."""
        self.path.rename(self.path.with_suffix(".away"))
        for _ in range(_GOING):  # a call that came just before is taken up a moment later, and must be cut too
            for connection in tuple(self.live):
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            time.sleep(0.02)

    def start(self) -> None:
        """The engine is back; nothing happens when it was never gone."""
        with suppress(FileNotFoundError):
            self.path.with_suffix(".away").rename(self.path)

    def left(self) -> list[str]:
        """The containers that nobody has removed."""
        return list(self.containers)


@contextmanager
def cell_engine(folder: Path) -> Iterator[CellEngine]:
    """A scripted engine on a socket in the folder; whatever it runs ends with the block."""
    with served(CellEngine(folder / "engine.sock")) as engine:
        try:
            yield engine
        finally:
            for container in engine.containers.values():
                container.remove()


class CellHandler(Handler):
    server: CellEngine

    def setup(self) -> None:
        super().setup()
        self.server.live.add(self.request)

    def finish(self) -> None:
        self.server.live.discard(self.request)
        super().finish()

    @property
    def container(self) -> Container | None:
        """The container that the call is about; the call is answered where there is none."""
        name = urlsplit(self.path).path.split("/containers/", 1)[1].split("/", 1)[0]
        found = self.server.containers.get(name)
        if found is None:
            self.answer(404, json.dumps({"message": f"No such container: {name}"}).encode())
        return found

    def on_create(self, body: bytes) -> None:
        config = json.loads(body)
        self.server.asked.append(config["Image"])
        if config["Image"] not in self.server.images:
            self.answer(404, json.dumps({"message": f"No such image: {config['Image']}"}).encode())
            return
        (name,) = parse_qs(urlsplit(self.path).query)["name"]
        self.server.made += 1
        self.server.containers[name] = Container(config, self.server.folder / f"container-{self.server.made}")
        super().on_create(body)

    def on_put(self, body: bytes) -> None:
        if (container := self.container) is not None:
            with tarfile.open(fileobj=io.BytesIO(body)) as tar:
                for member in tar:
                    if (content := tar.extractfile(member)) is not None:
                        (container.folder / member.name).write_bytes(content.read())
            super().on_put(body)

    def on_attach(self, body: bytes) -> None:
        if (container := self.container) is None:
            return
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
        container.attached = True
        container.started.wait(30)
        if container.process is None or container.process.stdout is None:
            return
        with container.process.stdout:
            while piece := os.read(container.process.stdout.fileno(), 1 << 16):
                with suppress(OSError):  # nobody listens: it is drained all the same
                    self.wfile.write(bytes([1, 0, 0, 0]) + len(piece).to_bytes(4, "big") + piece)

    def on_start(self, body: bytes) -> None:
        if (container := self.container) is not None:
            container.start()
            self.answer(204, b"")

    def on_inspect(self, body: bytes) -> None:
        path = urlsplit(self.path).path
        if "/images/" in path:
            there = path.split("/images/", 1)[1].removesuffix("/json") in self.server.images
            self.answer(*((200, b'{"Id": "there"}') if there else (404, b'{"message": "No such image"}')))
        elif path.endswith("/containers/json"):
            (wanted,) = json.loads(parse_qs(urlsplit(self.path).query)["filters"][0])["label"]
            found = [
                {"Id": name, "Names": [f"/{name}"], "Labels": container.config["Labels"]}
                for name, container in tuple(self.server.containers.items())
                if wanted in {f"{label}={value}" for label, value in container.config["Labels"].items()}
            ]
            self.answer(200, json.dumps(found).encode())
        elif (container := self.container) is not None:
            self.answer(200, json.dumps({"State": container.state()}).encode())

    def on_kill(self, body: bytes) -> None:
        if (container := self.container) is not None:
            container.kill(int(parse_qs(urlsplit(self.path).query)["signal"][0]))
            self.answer(204, b"")

    def on_collect(self, body: bytes) -> None:
        if (container := self.container) is not None:
            made = io.BytesIO()
            with tarfile.open(fileobj=made, mode="w") as tar:
                tar.add(container.folder / "out", "out")
            self.answer(200, made.getvalue())

    def on_events(self, body: bytes) -> None:
        """Those until a time of the clock, and where none is given all of them, and it goes on."""
        given = parse_qs(urlsplit(self.path).query)
        filters = json.loads(given["filters"][0])
        until = float(given["until"][0]) if "until" in given else None
        kills = self.server.containers[filters["container"][0]].kills
        events = [*(("kill", when) for when in kills), ("die", time.time())]
        told = [action for action, when in events if action in filters["event"] and (until is None or when <= until)]
        lines = "".join(f"{json.dumps({'Action': action})}\n" for action in told).encode()
        if until is not None:
            self.answer(200, lines)
            return
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        self.wfile.write(b"%x\r\n%b\r\n" % (len(lines), lines))
        self.rfile.read(1)  # until nobody listens any more

    def on_remove(self, body: bytes) -> None:
        if "/volumes/" in self.path:
            self.answer(404, b'{"message": "no such volume"}')
        elif (container := self.container) is not None:
            container.remove()
            del self.server.containers[urlsplit(self.path).path.rsplit("/", 1)[1]]
            self.answer(204, b"")
