"""A Docker daemon of a test's own: it can be stopped and started again, and nobody else's images are in it."""

import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from orchestrator.engines.docker import connection, labels

MEMORY = Path("/dev/shm")
ROOM = 1 << 30  # bytes, for an image, its archive and some containers
UP_S = 60.0
DOWN_S = 60.0  # it gives each container ten seconds to end


class PrivateEngine:
    """`environ` has programs use it. Its files are below the folder, whose path is short: sockets lie there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = f"torchmatrix-test-{secrets.token_hex(4)}"
        self._daemon: subprocess.Popen[bytes] | None = None
        self.environ = {"DOCKER_HOST": f"unix://{folder}/docker.sock"}

    def start(self) -> None:
        """It answers when this returns; nothing happens when it does already."""
        if self._daemon is not None:
            return
        log = self._folder / "dockerd.log"
        # A namespace of its own: a daemon without a bridge removes the one of the machine's daemon.
        command = ["unshare", "--net", "dockerd", f"--host={self.environ['DOCKER_HOST']}"]
        command += [f"--data-root={self._folder}/data", f"--exec-root={self._folder}/exec"]
        command += [f"--pidfile={self._folder}/docker.pid", f"--config-file={self._folder}/daemon.json"]
        command += ["--bridge=none", "--iptables=false", "--ip6tables=false"]
        # Where a containerd of the machine is running it is shared, and knows what belongs to whom by these.
        command += [f"--containerd-namespace={self._name}", f"--containerd-plugins-namespace={self._name}-plugins"]
        (self._folder / "daemon.json").write_text("{}")
        with log.open("ab") as said:
            self._daemon = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )
        give_up = time.monotonic() + UP_S
        while not connection.probe(self.environ)[0]:
            assert self._daemon.poll() is None, log.read_text()[-4000:]
            assert time.monotonic() < give_up, log.read_text()[-4000:]
            time.sleep(0.05)

    def stop(self) -> None:
        """The daemon ends as a service manager ends it, and its containers with it."""
        if self._daemon is not None:
            self._daemon.terminate()
            self._daemon.wait(DOWN_S)
            self._daemon = None

    def left(self) -> list[str]:
        """The containers and volumes in it that any run or image of ours made."""
        with closing(connection.client(self.environ)) as client:
            return [
                *(
                    each["Id"]
                    for label in (labels.RUN, labels.OBSERVE)
                    for each in client.containers(all=True, filters={"label": label})
                ),
                *(each["Name"] for each in client.volumes(filters={"label": labels.RUN})["Volumes"] or ()),
            ]

    def docker(self, *words: str) -> str:
        """What a command of Docker's client prints, asked of this daemon."""
        environ = {**os.environ, **self.environ, "DOCKER_BUILDKIT": "0"}  # which knows no image by its id
        done = subprocess.run(["docker", *words], env=environ, capture_output=True, text=True, check=True)
        return done.stdout.strip()


def why_not() -> str:
    """Why no daemon can be started here, or an empty text."""
    if os.geteuid() != 0:
        return "only root can start a container engine"
    missing = [tool for tool in ("dockerd", "docker", "unshare") if not shutil.which(tool)]
    return f"there is no {' and no '.join(missing)}" if missing else ""


@contextmanager
def private_engine(image: str) -> Iterator[PrivateEngine]:
    """A daemon that has this image of the machine's engine; it is gone, and all that it had, when the block ends."""
    in_memory = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM  # a disk takes long to remove an image
    folder = Path(tempfile.mkdtemp(prefix="engine-", dir=MEMORY if in_memory else "/tmp"))
    engine = PrivateEngine(folder)
    try:
        engine.start()
        subprocess.run(["docker", "save", f"--output={folder}/image.tar", image], check=True, capture_output=True)
        engine.docker("load", f"--input={folder}/image.tar")
        (folder / "image.tar").unlink()
        engine.environ |= {"ENGINE": "docker", "READY_IMAGE": engine.docker("inspect", "--format={{.Id}}", image)}
        yield engine
    finally:
        engine.stop()
        shutil.rmtree(folder)
