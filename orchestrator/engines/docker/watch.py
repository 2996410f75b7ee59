"""A running container watched until its end: its output drained, our deadline and our stop kept.

The end is seen as the end of the attach stream, so nothing is polled in between but a rare look at whether somebody
paused or removed the container. docker-py's `wait` is not used: its timeout is a read timeout that says nothing about
the container.
"""

import errno
import json
import os
import select
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from orchestrator import text
from orchestrator.engines import quota
from orchestrator.engines.deleted_files import family_in
from orchestrator.engines.docker.answers import asked
from orchestrator.engines.docker.calls import Conflict, Gone, calling
from orchestrator.engines.docker.frames import Frames
from orchestrator.engines.docker.output import Output
from orchestrator.engines.docker.profile import VOLUME
from orchestrator.engines.ending import Ending
from orchestrator.engines.log import LogKeeper
from orchestrator.engines.stop import Stop
from orchestrator.errors import InfrastructureError

if TYPE_CHECKING:
    from docker import APIClient

LOOK_S = 2.0
_FIRST_LOOK_S = 0.002  # after the stream's end the engine needs some milliseconds to note the exit
_LINE_BYTES = 1 << 20  # of one event: it holds the labels of the container
_KILLED = frozenset({128 + signal.SIGKILL, 128 + signal.SIGTERM})


class State(Struct, frozen=True, rename="pascal"):
    """What the engine knows of a container's state."""

    running: bool
    paused: bool
    exit_code: int
    oom_killed: bool = msgspec.field(name="OOMKilled")
    pid: int = 0


class _Event(Struct, frozen=True, rename="pascal"):
    action: str


class _Mount(Struct, frozen=True, rename="pascal"):
    destination: str
    source: str = ""  # of what lies on no disk


class _Looked(Struct, frozen=True, rename="pascal"):
    state: State
    mounts: tuple[_Mount, ...] | None = None


def look_at(client: "APIClient", container: str) -> tuple[State, Path | None]:
    """A container's state and where its volume lies on the engine's machine; Gone when it is not there."""
    found = asked("looking at the container", _Looked, lambda: client.inspect_container(container))
    volume = next((mount.source for mount in found.mounts or () if mount.destination == VOLUME), None)
    return found.state, None if volume is None else Path(volume)


def watch(client: "APIClient", container: str, output: Output, log: LogKeeper, ending: Ending, stop: Stop) -> State:
    """Feed the log until the container has ended, by itself or by us; its last state.

    InfrastructureError: it was paused or removed by somebody else, it wrote too much, it cannot be killed, or the
    engine is lost.
    """
    frames = Frames()
    look_s, next_look = LOOK_S, time.monotonic() + LOOK_S
    waiting: list[Output | Stop] = [output, stop]
    while True:
        left = min(ending.left_s(), max(0.0, next_look - time.monotonic()))
        readable, _, _ = select.select(waiting, (), (), left)
        if stop in readable:
            ending.cancel()
            waiting.remove(stop)
        if output in readable:
            piece = output.read()
            for payload in frames.payloads(piece):
                log.feed(payload)
            if not piece:
                waiting.remove(output)
                look_s, next_look = _FIRST_LOOK_S, time.monotonic()
        if (sent := ending.due()) is not None:
            _kill(client, container, int(sent))
        if time.monotonic() >= next_look:
            state = _look(client, container)
            if not state.running:
                if output in waiting:
                    _drain(output, frames, log)
                return state
            look_s = min(LOOK_S, look_s * 1.5) if output not in waiting else LOOK_S
            next_look = time.monotonic() + look_s


def killed_by_somebody(client: "APIClient", container: str, state: State) -> bool:
    """Whether a container that ended by SIGTERM or SIGKILL was sent it through the engine, by another than us.

    InfrastructureError when the engine does not say. It is asked for no end of time: an engine's clock may be another
    than ours, or have been set since. Its answer does not end by itself then, but the end of the container is in it.
    """
    if state.exit_code not in _KILLED or state.oom_killed:
        return False
    wanted = json.dumps({"container": [container], "event": ["kill", "die"]})
    with calling("asking what killed the container"):
        url = f"{client.base_url}/v{client.api_version}/events"
        asked_for = {"since": "0", "filters": wanted}
        with client.get(url, params=asked_for, timeout=client.timeout, stream=True) as answer:
            first = _first_line(answer.iter_content(1), client.timeout)
        return bool(first) and text.read_json(first, _Event).action == "kill"


def _first_line(stream: Iterable[bytes], within_s: float) -> bytes:
    """The first line of a stream of single bytes, empty when it ends without one; OSError when it is none."""
    give_up, line = time.monotonic() + within_s, bytearray()
    for byte in stream:
        if byte == b"\n":
            break
        line += byte
        if time.monotonic() > give_up:
            raise TimeoutError(errno.ETIMEDOUT, "its first line took too long")
        if len(line) > _LINE_BYTES:
            raise OSError(errno.EMSGSIZE, f"{os.strerror(errno.EMSGSIZE)}: a line over {_LINE_BYTES >> 10} KiB")
    return bytes(line)


def _look(client: "APIClient", container: str) -> State:
    try:
        state, volume = look_at(client, container)
    except Gone as error:
        raise InfrastructureError("the container was removed while the cell ran", cause="by somebody else") from error
    if state.paused:
        raise InfrastructureError("the container was paused while the cell ran", cause="by somebody else")
    if volume is not None and state.running:
        quota.check(volume, family_in(state.pid, VOLUME, volume))
    return state


def _kill(client: "APIClient", container: str, number: int) -> None:
    with suppress(Gone, Conflict), calling("stopping the container"):  # it ended meanwhile: the next look says so
        client.kill(container, number)


def _drain(output: Output, frames: Frames, log: LogKeeper, patience_s: float = 2.0) -> None:
    """Take what is still on its way after the container ended."""
    while select.select([output], (), (), patience_s)[0]:
        piece = output.read()
        if not piece:
            return
        for payload in frames.payloads(piece):
            log.feed(payload)
