"""The folder of a run: its id, its files, and writes that are whole or not there at all."""

import errno
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from orchestrator import disk, text
from orchestrator.errors import InfrastructureError
from orchestrator.results.files import check_name
from orchestrator.running import fault

PLAN = "plan.json"
JOURNAL = "journal.jsonl"
CELLS = "cells"
MOUNTS = Path("/proc/self/mountinfo")
MIN_FREE = 1 << 30  # bytes: a cell's bundle is small, but an image build beside it is not

_NAME = re.compile(r"(\d{8}T\d{6}Z)-[0-9a-f]{4}", re.ASCII)
_SECOND = timedelta(seconds=1)
_LAST = datetime(9999, 12, 31, tzinfo=UTC)
_ATTEMPT = re.compile(r"attempt-([1-9]\d{0,5})")
_TRIES = 64
_MOUNT_WORDS = 6  # of /proc/self/mountinfo, before the dash
# Not 9p and virtiofs, which share a host's folder with its guests: of a small virtual machine they are the only disk.
_OF_THE_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "gpfs", "beegfs"})
_OF_THE_NETWORK |= {"glusterfs", "panfs", "pvfs2", "coda", "davfs"}
_OF_THE_NETWORK |= {
    f"fuse.{name}" for name in ("sshfs", "glusterfs", "ceph", "ceph-fuse", "s3fs", "gcsfuse", "rclone", "juicefs")
}


def run_id(start: datetime, tail: str) -> str:
    """`20261129T151200Z-3fa9`: sorts by start; the tail of hex digits keeps two runs of one second apart."""
    return f"{start.astimezone(UTC):%Y%m%dT%H%M%SZ}-{tail}"


def start_in(name: str) -> datetime | None:
    """The start that the name of a run tells; None when it is the name of no run."""
    matched = _NAME.fullmatch(name)
    try:
        return datetime.strptime(matched[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) if matched else None
    except ValueError:  # the 99th of a month
        return None


def named(asked: Path, runs: Path) -> Path:
    """The folder of the run that a person names: by its path, or by its id alone where it lies in `runs`."""
    return runs / asked if start_in(str(asked)) and not asked.exists() else asked


def make(runs: Path) -> None:
    """The folder of runs, made where it is missing."""
    check_name(runs)
    with told(runs):
        runs.mkdir(parents=True, exist_ok=True)


def create(runs: Path) -> Path:
    """A new, empty run folder under `runs`."""
    with told(runs):
        for _ in range(_TRIES):
            folder = runs / run_id(_next_start(runs), secrets.token_hex(2))
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
    raise InfrastructureError(f"no free run id was found in {_TRIES} tries", place=str(runs))


def _next_start(runs: Path) -> datetime:
    """Now; where the clock was set back since the newest run, after that one: no new run becomes an old one."""
    now = datetime.now(UTC)
    there = (start_in(name) for name in os.listdir(runs))  # noqa: PTH208 - names are what is read
    newest = max(filter(None, there), default=now)
    return now if newest <= now else min(newest, _LAST) + _SECOND


def attempt_folder(run: Path, cell: str, number: int) -> Path:
    """Where the bundle of one attempt lies; InfrastructureError when the cell's id is not a plain file name."""
    if not text.is_file_name(cell):
        raise InfrastructureError(f"`{text.one_line(cell)}` cannot name a folder", place=str(run))
    return run / CELLS / cell / f"attempt-{number}"


def attempt_folders(run: Path, cell: str) -> tuple[tuple[int, Path], ...]:
    """Each attempt of the cell that left a folder, by number; InfrastructureError where they cannot be listed."""
    place = attempt_folder(run, cell, 1).parent
    with told(place):
        try:
            names = os.listdir(place)  # noqa: PTH208 - names are what is matched
        except FileNotFoundError:
            return ()
    numbers = sorted(int(match[1]) for name in names if (match := _ATTEMPT.fullmatch(name)))
    return tuple((number, attempt_folder(run, cell, number)) for number in numbers)


def write(path: Path, data: bytes) -> None:
    """The file with these bytes, on the disk when this returns: after a crash it is old, or new, never half.

    What a kill left of it goes with the next try.
    """
    with told(path):
        disk.remove_halves(path.parent, path.name.__eq__)
        with disk.replacing(path) as half:
            half.write_bytes(data)
            fault.room_for(fault.FOLDER)


def admit(folder: Path, least: int) -> None:
    """InfrastructureError when the disk of the folder has less than `least` bytes free."""
    free = free_bytes(folder)
    if free < least:
        raise InfrastructureError(
            f"{free} bytes are free, a run needs {least}",
            place=str(folder),
            hint="make room, or give another folder with `--runs`",
        )


def admit_local(folder: Path) -> None:
    """InfrastructureError when the folder, made or not yet, lies on a file system of the network.

    Whether a lock there holds for every machine is up to the server: two writers of one run could not be ruled out.
    """
    with told(MOUNTS):
        mounts = MOUNTS.read_text(encoding="utf-8", errors="replace")
    if kind := network_of(os.path.realpath(folder), mounts):
        raise InfrastructureError(
            f"the folder is on {kind}, a file system of the network",
            place=str(folder),
            cause="what locks and what is on the disk when we are told so is up to its server",
            hint="give a folder on a local disk with `--runs`",
        )


def network_of(place: str, mounts: str) -> str:
    """The kind of file system of the network that a path without links is on, by the kernel's list; empty on others."""
    kind, longest = "", -1
    for line in mounts.splitlines():
        fields, _, rest = line.partition(" - ")
        words = fields.split()
        if len(words) < _MOUNT_WORDS or not rest:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), words[4]).rstrip("/")
        if (place == point or place.startswith(f"{point}/")) and len(point) >= longest:
            kind, longest = rest.split()[0], len(point)
    return kind if kind in _OF_THE_NETWORK else ""


def free_bytes(path: Path) -> int:
    """Bytes that an ordinary user may still write on the disk of the path."""
    with told(path):
        found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turns a failed write or read into an InfrastructureError with the path, and the free bytes of a full disk."""
    try:
        yield
    except OSError as error:
        fact = error.strerror or str(error)
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            fact += f", {_free_near(path)} bytes free"
        raise InfrastructureError(fact, place=str(error.filename or path)) from error


def _free_near(path: Path) -> int:
    there = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    found = os.statvfs(there)
    return found.f_bavail * found.f_frsize
