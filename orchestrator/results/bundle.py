"""A bundle: the folder that one attempt at a cell left, read as evidence from a witness who may lie.

Nothing in it raises and nothing in it is followed: each file is a plain one of a known name under its cap, or it is not
read. What cannot be believed is a problem, what is missing or ends too early is a gap (a crash explains a gap, it does
not explain a problem), what only needs saying is a note.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from orchestrator import formats, text
from orchestrator.formats import CellFile, EnvironmentFile, MetricRow, StructureFile
from orchestrator.model import Case
from orchestrator.results import junit, metrics, progress
from orchestrator.results.files import MIB, Refused, open_plain, read_plain
from orchestrator.results.progress import Progress

MAX_JSON = 4 * MIB
MAX_AXES = 100
_CAPS: Mapping[str, int] = {
    formats.CELL: MAX_JSON,
    formats.JUNIT: junit.MAX_BYTES,
    formats.METRICS: metrics.MAX_BYTES,
    formats.ENVIRONMENT: MAX_JSON,
    formats.STRUCTURE: MAX_JSON,
    formats.PROGRESS: progress.MAX_BYTES,
}
_AXIS_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_CHECKSUM = re.compile(r"([0-9a-f]{64}) [ *](.+)")
_T = TypeVar("_T")


class Bundle(Struct, frozen=True, kw_only=True):
    """What an attempt left behind, as far as it can be read.

    `cases` are those of the JUnit file, or those that progress saw end where a crash left no such file.
    """

    cell: CellFile | None = None
    environment: EnvironmentFile | None = None
    cases: tuple[Case, ...] = ()
    metrics: tuple[MetricRow, ...] = ()
    structure: StructureFile | None = None
    progress: Progress = Progress()
    notes: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def read_bundle(folder: Path) -> Bundle:
    """The bundle in a folder; bad bytes, missing and hostile files are told in the value, never raised."""
    reader = _Reader(folder)
    cell = reader.json(formats.CELL, CellFile)
    environment = reader.json(formats.ENVIRONMENT, EnvironmentFile)
    structure = reader.json(formats.STRUCTURE, StructureFile)
    report = reader.junit()
    tests = reader.progress()
    rows = reader.metrics(cell.id if cell is not None else "")
    reader.checksums()
    return Bundle(
        cell=cell,
        environment=_observed(environment, reader) if environment is not None else None,
        cases=tests.cases if report.cut and not report.cases else report.cases,
        metrics=rows,
        structure=structure,
        progress=tests,
        notes=tuple(reader.notes),
        gaps=tuple(reader.gaps),
        problems=tuple(reader.problems),
    )


def _observed(environment: EnvironmentFile, reader: "_Reader") -> EnvironmentFile:
    """The environment with its axes gated: names in the form of axis names, values of one printable line."""
    axes: dict[str, str] = {}
    for name, value in environment.axes.items():
        if _AXIS_NAME.fullmatch(name) and len(axes) < MAX_AXES:
            axes[name] = text.one_line(value, 200)
    if left_out := len(environment.axes) - len(axes):
        reader.notes.append(f"{formats.ENVIRONMENT}: {text.counting(left_out, 'axis was', 'axes were')} left out")
    return msgspec.structs.replace(environment, axes=axes)


class _Reader:
    """Reads the files of one folder and keeps what was wrong with them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.notes: list[str] = []
        self.gaps: list[str] = []
        self.problems: list[str] = []

    def _bytes(self, name: str) -> bytes | None:
        try:
            return read_plain(self._folder / name, _CAPS[name])
        except FileNotFoundError:
            self.gaps.append(f"{name} is missing")
        except (Refused, OSError) as refusal:
            self.problems.append(f"{name} {refusal}")
        return None

    def json(self, name: str, kind: type[_T]) -> _T | None:
        """A JSON file as its type."""
        data = self._bytes(name)
        if data is None:
            return None
        try:
            # As text, whole: what stands under a key that nobody reads is UTF-8 too, or the file is damaged.
            return msgspec.json.decode(data.decode(), type=kind, strict=True)
        except msgspec.ValidationError as error:
            self.problems.append(f"{name} is not as its schema says: {text.one_line(str(error))}")
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            # A file that ends in the middle is what a killed process leaves; any other bad byte is not.
            is_half_a_letter = isinstance(error, UnicodeDecodeError) and error.reason == "unexpected end of data"
            if is_half_a_letter or (isinstance(error, msgspec.DecodeError) and "truncated" in str(error)):
                self.gaps.append(f"{name} ends too early")
            else:
                self.problems.append(f"{name} is not JSON: {text.one_line(str(error))}")
        return None

    def junit(self) -> junit.Report:
        """The JUnit file."""
        report = junit.read_cases(self._folder / formats.JUNIT)
        if report.problem:
            self.problems.append(f"{formats.JUNIT}: {report.problem}")
        if report.cut:
            self.gaps.append(f"{formats.JUNIT} is missing or ends too early")
        self.notes.extend(f"{formats.JUNIT}: {note}" for note in report.notes)
        return report

    def progress(self) -> Progress:
        """The progress file."""
        data = self._bytes(formats.PROGRESS)
        if data is None:
            return Progress()
        found = progress.read_progress(data)
        self.notes.extend(f"{formats.PROGRESS}: {note}" for note in found.notes)
        return found

    def metrics(self, cell: str) -> tuple[MetricRow, ...]:
        """The metrics file."""
        data = self._bytes(formats.METRICS)
        if data is None:
            return ()
        found = metrics.read_metrics(data, cell)
        if found.problem:
            self.problems.append(f"{formats.METRICS}: {found.problem}")
        self.notes.extend(f"{formats.METRICS}: {note}" for note in found.notes)
        return found.rows

    def checksums(self) -> None:
        """Each file against its sum. The list is written last, so without all of it the bundle is not whole."""
        try:
            lines = read_plain(self._folder / formats.CHECKSUMS, MIB).decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            self.gaps.append(f"{formats.CHECKSUMS} is missing")
            return
        except (Refused, OSError) as refusal:
            self.problems.append(f"{formats.CHECKSUMS} {refusal}")
            return
        listed: dict[str, set[str]] = {}
        for line in lines[:1000]:
            match = _CHECKSUM.fullmatch(line)
            if match is None or match[2] not in _CAPS:
                self.notes.append(f"{formats.CHECKSUMS} lists `{text.one_line(line, 120)}`, which is no bundle file")
            else:
                listed.setdefault(match[2], set()).add(match[1])
        for name in sorted(_CAPS):
            self._check(name, listed.get(name, set()))

    def _check(self, name: str, wanted: set[str]) -> None:
        try:
            with open_plain(self._folder / name, _CAPS[name]) as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            return  # told already as missing
        except (Refused, OSError):
            return  # told already as refused
        if not wanted:
            self.gaps.append(f"{formats.CHECKSUMS} does not list {name}")
        elif wanted != {found}:
            self.problems.append(f"{name} does not match {formats.CHECKSUMS}")
