"""journal.jsonl: a line on the disk before and after each step, so that a killed run tells where it was.

Lines are only ever appended, each with a check sum of its own. A process that dies while it writes leaves half a line
at the end, without the end of a line: the reader leaves it out, and the next writer cuts it off first. Anything else
that is not as it was written is damage, and never taken for the journal of a shorter run.
"""

import os
import re
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from orchestrator import disk, text
from orchestrator.errors import InfrastructureError
from orchestrator.running import fault, folder
from orchestrator.vocabulary import Step

SCHEMA_VERSION = 1
MAX_BYTES = 256 << 20

State = Literal["begin", "end", "failed"]


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line. `seq` counts from 1 without a gap; `cell` is empty for a step of the whole run."""

    schema_version: int
    seq: int
    time: str
    step: Step
    state: State
    cell: str = ""
    attempt: int = 0
    detail: str = ""


class Journal:
    """The open journal of a run, from `opened`. Safe to write from several threads."""

    def __init__(self, descriptor: int, path: Path, lines: tuple[Line, ...], whole: int, asked: str) -> None:
        self.before = lines
        self._whole = whole  # bytes that are lines: half a line may follow, which goes before anything is written
        self._descriptor = descriptor
        self._path = path
        self._seq = len(lines)
        self._fault = fault.Fault(asked)
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
                schema_version=SCHEMA_VERSION,
                seq=self._seq + 1,
                time=datetime.now(UTC).isoformat(timespec="milliseconds"),
                cell=cell,
                attempt=attempt,
                step=step,
                state=state,
                detail=detail,
            )
            written = _written(line)
            kind = self._fault.at(step, state)
            if kind == "short":
                written = written[: len(written) // 2]
            _write_whole(self._descriptor, self._whole, written)
            self._seq += 1
            self._whole += len(written)
        fault.strike(kind)


@contextmanager
def opened(run: Path, environ: Mapping[str, str] = os.environ) -> Iterator[Journal]:
    """The run's journal for writing, for who holds the run's lock; it is as it was until the first step."""
    path = run / folder.JOURNAL
    before, whole = _read(run)
    with folder.told(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        with folder.told(path):
            disk.sync(run)
        yield Journal(descriptor, path, before, whole, environ.get(fault.VARIABLE, ""))
    finally:
        os.close(descriptor)


def read(run: Path) -> tuple[Line, ...]:
    """The whole lines of the run's journal; none when it has none. Takes no lock.

    A plan is written after the journal's first line: one without the other is damage, not a run that was not begun.
    """
    return _read(run)[0]


def _read(run: Path) -> tuple[tuple[Line, ...], int]:
    path = run / folder.JOURNAL
    with folder.told(path):
        lines, whole = parse(disk.read_bounded(path, MAX_BYTES), str(path)) if path.exists() else ((), 0)
        if not lines and (run / folder.PLAN).exists():
            raise _damage("the journal of this run is gone", str(path))
    return lines, whole


def parse(data: bytes, place: str) -> tuple[tuple[Line, ...], int]:
    """The whole lines and how many bytes they take; damage anywhere but in half a line is an InfrastructureError."""
    lines: list[Line] = []
    whole = 0
    for raw in re.findall(rb"[^\n]*\n|[^\n]+", data):
        if not raw.endswith(b"\n"):
            break
        line = _line(raw, place)
        if line is None or line.seq != len(lines) + 1:
            raise _damage(f"line {len(lines) + 1} of the journal is damaged", place)
        lines.append(line)
        whole += len(raw)
    return tuple(lines), whole


def _damage(fact: str, place: str) -> InfrastructureError:
    return InfrastructureError(
        fact,
        place=place,
        cause="it is not as it was written",
        hint="the attempts that are there can still be read with `torchmatrix merge`",
    )


def _written(line: Line) -> bytes:
    """The line as it stands in the file: its check sum is over all that comes before it."""
    said = msgspec.json.encode(line)
    return b'%s,"sum":"%08x"}\n' % (said[:-1], zlib.crc32(said))


def _line(raw: bytes, place: str) -> Line | None:
    """The line, or None when it is not as it was written; InfrastructureError when a newer release wrote it."""
    said = _SUMMED.fullmatch(raw)
    if said is not None and int(said["sum"], 16) != zlib.crc32(said["line"] + b"}"):
        return None
    try:
        version = _VERSION.decode(raw).schema_version
        if version > SCHEMA_VERSION:
            raise InfrastructureError(
                f"the journal has schema version {version}, this torchmatrix reads {SCHEMA_VERSION}",
                place=place,
                cause="a newer torchmatrix wrote it",
                hint="go on with that one",
            )
        return None if said is None else _DECODER.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


class _Version(Struct, frozen=True):
    schema_version: int


_SUMMED = re.compile(rb'(?P<line>.*),"sum":"(?P<sum>[0-9a-f]{8})"\}\n', re.DOTALL)
_VERSION = msgspec.json.Decoder(_Version)
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


def _write_whole(descriptor: int, at: int, data: bytes) -> None:
    """The whole line on the disk, after `at` bytes; or, when the disk takes only a part of it, none of it, and OSError.

    Half a line that is there goes first.
    """
    if os.fstat(descriptor).st_size > at:
        os.ftruncate(descriptor, at)
    try:
        left = data
        while left:
            left = left[os.write(descriptor, left) :]
        fault.room_for(fault.JOURNAL)
        os.fdatasync(descriptor)
    except OSError:
        os.ftruncate(descriptor, at)
        raise
