"""journal.jsonl: a line on the disk before and after each step, so that a killed run tells where it was.

Lines are only ever appended. A process that dies while it writes leaves half a line at the end; the reader leaves it
out, and the next writer cuts it off first.
"""

import os
import re
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from orchestrator import text
from orchestrator.errors import InfrastructureError
from orchestrator.running import folder, lock
from orchestrator.vocabulary import Step

FAULT = "TORCHMATRIX_FAULT"


State = Literal["begin", "end", "failed"]


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line. `seq` counts from 1 without a gap; `cell` is empty for a step of the whole run."""

    seq: int
    time: str
    step: Step
    state: State
    cell: str = ""
    attempt: int = 0
    detail: str = ""


class Journal:
    """The open journal of a run, from `opened`. Safe to write from several threads."""

    def __init__(self, descriptor: int, path: Path, lines: tuple[Line, ...], fault: str) -> None:
        self.before = lines
        self._descriptor = descriptor
        self._path = path
        self._seq = len(lines)
        self._fault = _Fault(fault)
        self._writing = threading.Lock()

    @contextmanager
    def step(self, step: Step, *, cell: str = "", attempt: int = 0, detail: str = "") -> Iterator[None]:
        """Writes the step's begin, then its end, or that it failed with the error in the detail.

        An interruption (anything that is not an Exception) leaves the step without an end, as a kill would.
        """
        self._append(step, "begin", cell, attempt, detail)
        try:
            yield
        except Exception as error:
            self._append(step, "failed", cell, attempt, text.one_line(str(error)))
            raise
        self._append(step, "end", cell, attempt, "")

    def _append(self, step: Step, state: State, cell: str, attempt: int, detail: str) -> None:
        with self._writing, folder.told(self._path):
            line = Line(
                seq=self._seq + 1,
                time=datetime.now(UTC).isoformat(timespec="milliseconds"),
                cell=cell,
                attempt=attempt,
                step=step,
                state=state,
                detail=detail,
            )
            _write_whole(self._descriptor, msgspec.json.encode(line) + b"\n")
            self._seq += 1
        self._fault.reached(step, state)


class _Fault:
    """The crash tests' hook: `commit:begin:2` kills this process once the second such line is on the disk."""

    def __init__(self, asked: str) -> None:
        self._point, _, count = asked.rpartition(":") if asked.count(":") > 1 else (asked, "", "1")
        self._left = int(count) if count.isdigit() else 1

    def reached(self, step: Step, state: str) -> None:
        if self._point == f"{step}:{state}":
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def opened(run: Path, environ: Mapping[str, str] = os.environ) -> Iterator[Journal]:
    """The run's journal for writing, with the run locked; half a line at its end is cut off first."""
    path = run / folder.JOURNAL
    with lock.held(run):
        with folder.told(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            with folder.told(path):
                data = path.read_bytes()
                lines, whole = parse(data, str(path))
                if whole < len(data):
                    os.ftruncate(descriptor, whole)
                folder.sync(run)
            yield Journal(descriptor, path, lines, environ.get(FAULT, ""))
        finally:
            os.close(descriptor)


def read(run: Path) -> tuple[Line, ...]:
    """The whole lines of the run's journal; none when it has none. Takes no lock."""
    path = run / folder.JOURNAL
    with folder.told(path):
        return parse(path.read_bytes(), str(path))[0] if path.exists() else ()


def parse(data: bytes, place: str) -> tuple[tuple[Line, ...], int]:
    """The whole lines and how many bytes they take; damage anywhere but at the very end is an InfrastructureError."""
    lines: list[Line] = []
    whole = 0
    for raw in re.findall(rb"[^\n]*\n|[^\n]+", data):
        line = _line(raw)
        if line is None or line.seq != len(lines) + 1:
            if whole + len(raw) == len(data):
                break
            raise InfrastructureError(
                f"line {len(lines) + 1} of the journal is damaged",
                place=place,
                hint="the attempts that are there can still be read with `torchmatrix merge`",
            )
        lines.append(line)
        whole += len(raw)
    return tuple(lines), whole


def _line(raw: bytes) -> Line | None:
    if not raw.endswith(b"\n"):
        return None
    try:
        return _DECODER.decode(raw)
    except msgspec.MsgspecError:
        return None


_DECODER = msgspec.json.Decoder(Line)


def unended(lines: Iterable[Line]) -> tuple[Line, ...]:
    """The begin of each step that no later line ended: what a dead writer was at."""
    begun: dict[tuple[str, int, Step], Line] = {}
    for line in lines:
        key = (line.cell, line.attempt, line.step)
        if line.state == "begin":
            begun[key] = line
        else:
            begun.pop(key, None)
    return tuple(begun.values())


def _write_whole(descriptor: int, data: bytes) -> None:
    """The whole line on the disk, or, when the disk takes only a part of it, none of it and an OSError."""
    before = os.fstat(descriptor).st_size
    try:
        left = data
        while left:
            left = left[os.write(descriptor, left) :]
        os.fdatasync(descriptor)
    except OSError:
        os.ftruncate(descriptor, before)
        raise
