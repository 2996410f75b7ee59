"""Results out of a stopped container, through the engine's archive stream.

The container is stopped first: a running one could swap a file for a link between two looks at it.
"""

import errno
import posixpath
import time
from contextlib import closing
from typing import TYPE_CHECKING

from orchestrator.engines.compile_cache import CompileCache, Taking, remove
from orchestrator.engines.docker.calls import Gone, calling
from orchestrator.engines.docker.profile import CACHE, RESULTS
from orchestrator.engines.docker.tar import Malformed, Source, TarStream
from orchestrator.engines.intake import Intake
from orchestrator.errors import InfrastructureError
from orchestrator.formats import BUNDLE_FILES

if TYPE_CHECKING:
    from docker import APIClient

HEADER_BYTES = 512  # of each member: a million empty files cost time too
ARCHIVE_CALLS = 10  # how much longer than one answer a whole archive may take
_PLAIN = {"Accept-Encoding": "identity"}  # sizes are counted as they come; compression would hide them
SKIPPED_BYTES = 256 << 20  # of what is not taken: passing over it costs time


def collect(client: "APIClient", container: str, intake: Intake) -> None:
    """Take the bundle out of a container.

    All in one stream. A cell that left more than is worth passing over is asked for each missing file by itself, so
    that one large file does not take the others with it.
    """
    try:
        if _read_folder(client, container, intake):
            return
        for name in BUNDLE_FILES:
            if name not in intake.files and not any(line.startswith(f"{name}: ") for line in intake.refused):
                _read_file(client, container, name, intake)
    except Malformed as error:
        raise InfrastructureError("the engine sent results that are not an archive", cause=str(error)) from error


def collect_cache(client: "APIClient", container: str, cache: CompileCache) -> None:
    """Take the compile cache out of a container, whole or not at all: a cell's result does not depend on it."""
    taking = Taking(cache.taken)
    try:
        with _archive(client, container, CACHE) as source:
            take_cache(TarStream(source), taking)
    except (Malformed, InfrastructureError):
        taking.whole = False
    if not taking.whole:
        remove(cache.taken)


def take_cache(archive: TarStream, taking: Taking) -> None:
    """Take each file of the cache's folder, up to the first that spoils it."""
    top = posixpath.basename(CACHE)
    for member in archive:
        folder, _, inside = member.name.partition("/")
        taking.whole = taking.whole and folder == top
        name = inside.rstrip("/")
        if taking.accepts(name, member.kind, member.size):
            taking.take(name, member.size, archive.data())
        if not taking.whole:
            return


def _read_folder(client: "APIClient", container: str, intake: Intake) -> bool:
    """Take files from the stream of the results folder; false when it was left before its end."""
    with _archive(client, container, RESULTS) as source:
        return take_members(TarStream(source), intake, skip_bytes=SKIPPED_BYTES)


def _read_file(client: "APIClient", container: str, name: str, intake: Intake) -> None:
    try:
        with _archive(client, container, f"{RESULTS}/{name}") as source:
            take_members(TarStream(source), intake, skip_bytes=0, within="")
    except Gone:
        return  # the cell did not write it


def take_members(
    archive: TarStream, intake: Intake, *, skip_bytes: int, within: str = posixpath.basename(RESULTS)
) -> bool:
    """Offer each member under the folder `within` to the intake; false when more than `skip_bytes` were passed over."""
    skipped = 0
    for member in archive:
        path = member.name.rstrip("/")  # a folder's name ends in one
        if path == within:
            continue
        folder, _, name = path.rpartition("/")
        if folder != within or name in {"", ".", ".."}:
            intake.refuse(member.name, "not in the results folder itself")
        elif intake.accepts(name, member.kind, member.size):
            intake.take(name, member.size, archive.data())
            continue
        skipped += member.size + HEADER_BYTES
        if skipped > skip_bytes:
            return False
    return True


def _archive(client: "APIClient", container: str, path: str) -> "closing[_Body]":
    return closing(_Body(client, container, path))


class _Body(Source):
    """The archive of a path as it comes. Not through docker-py's `get_archive`: that takes the read deadline away."""

    def __init__(self, client: "APIClient", container: str, path: str) -> None:
        with calling("copying results out"):
            url = f"{client.base_url}/v{client.api_version}/containers/{container}/archive"
            self._until = time.monotonic() + ARCHIVE_CALLS * client.timeout
            self._response = client.get(url, params={"path": path}, headers=_PLAIN, stream=True, timeout=client.timeout)

    def read(self, amount: int, /) -> bytes:
        with calling("copying results out"):
            if time.monotonic() > self._until:
                raise TimeoutError(errno.ETIMEDOUT, "the whole archive took too long")
            return self._response.raw.read1(amount) or b""  # what is there: of an archive that drips too

    def close(self) -> None:
        self._response.close()
