"""A file system in memory, of a size that a test chooses; it needs the right to mount."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def mount(*options: str) -> None:
    subprocess.run(["mount", *options], check=True, capture_output=True)


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """The disk at `place`; the test is skipped where nothing may be mounted."""
    place.mkdir()
    try:
        mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place))
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no right to mount a file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)
