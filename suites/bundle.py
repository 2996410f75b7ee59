"""The bundle: the files that a run leaves. Each is whole at every moment, so a crash keeps what was there before it."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import math
import os
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Sequence

from suites.context import lacking
from suites.junit import Case, document

if TYPE_CHECKING:
    from pathlib import Path

CELL = "cell.json"
JUNIT = "junit.xml"
METRICS = "metrics.jsonl"
ENVIRONMENT = "environment.json"
STRUCTURE = "structure.json"
PROGRESS = "progress.jsonl"
CHECKSUMS = "SHA256SUMS"
FILES = (CELL, JUNIT, METRICS, ENVIRONMENT, STRUCTURE, PROGRESS)

ROW = (
    "cell",
    "metric",
    "value",
    "unit",
    "direction",
    "load",
    "model",
    "model_version",
    "shapes",
    "precision",
    "device",
    "warmup",
    "samples",
    "statistic",
    "timer",
    "seed",
    "scope",
    "method",
    "formula",
    "spread",
    "conditions",
    "valid",
    "why",
)
"""The keys of a metric row: all of them, in this order."""


class Bundle:
    """The folder of one run."""

    def __init__(self, folder: Path) -> None:
        """Make the folder, and empty it of an earlier bundle. OSError when it cannot be written or another run does."""
        folder.mkdir(parents=True, exist_ok=True)
        self._held = _hold(folder)
        for name in (CHECKSUMS, *FILES, *(f".{name}.part" for name in (CHECKSUMS, *FILES))):
            if (folder / name).is_symlink() or (folder / name).exists():
                (folder / name).unlink()
        self.folder = folder
        for name in (METRICS, PROGRESS):
            (folder / name).touch()

    def put(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a JSON file as a whole."""
        self._replace(name, (json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n").encode())

    def progress(self, **line: Any) -> None:
        """Append a line to the progress file, on the disk before this returns."""
        self._append(PROGRESS, line)

    def metric(self, row: Dict[str, Any]) -> None:
        """Append a metric row; ValueError when a key is missing, or a valid value is no finite number.

        LookupError when it does not tell what a row of its metric must tell.
        """
        if tuple(row) != ROW:
            raise ValueError(f"a metric row has the keys {', '.join(ROW)}")
        value = row["value"]
        if value is None and not (row["why"] and not row["valid"]):
            raise ValueError(f"metric {row['metric']} of {row['load']} has no value, and nothing says why")
        if value is not None and not math.isfinite(value):
            raise ValueError(f"metric {row['metric']} of {row['load']} is {value}")
        lacks = lacking(row)
        if lacks:
            raise LookupError(f"metric {row['metric']} of {row['load']} lacks its {' and '.join(lacks)}")
        self._append(METRICS, row)

    def cases(self, cell: str, cases: Sequence[Case]) -> None:
        """Write the JUnit file."""
        self._replace(JUNIT, document(cell, cases))

    def seal(self, code: int, tests: int, expected: Optional[int] = None) -> None:
        """Write the final line, then the checksums: after this the bundle is complete.

        `expected` is how many tests there are by what is written down, where that is known.
        """
        known = {} if expected is None else {"expected": expected}
        self.progress(event="final", exit=code, tests=tests, **known)
        lines = [f"{_sha256(self.folder / name)}  {name}\n" for name in FILES if (self.folder / name).exists()]
        self._replace(CHECKSUMS, "".join(lines).encode())

    def _replace(self, name: str, content: bytes) -> None:
        part = self.folder / f".{name}.part"
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.folder / name)

    def _append(self, name: str, line: Mapping[str, Any]) -> None:
        with (self.folder / name).open("ab") as file:
            file.write((json.dumps(line, allow_nan=False) + "\n").encode())


def _hold(folder: Path) -> int:
    """Keep every other run off the folder for as long as this process lives, however it ends: their rows would mix."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise BlockingIOError(errno.EAGAIN, "another run writes its bundle here", str(folder)) from None
    except OSError:
        pass  # a file system that has no locks
    return descriptor


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()
