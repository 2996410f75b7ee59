import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.engines.deleted_files import family, family_in, held_open

SIZE = 1 << 20


def held(folder: Path, *processes: int) -> list[int]:
    found = held_open(processes or (os.getpid(),), folder.stat().st_dev, f"{folder}/")
    return [each.st_blocks * 512 for each in found]


def test_a_file_that_was_removed_while_it_is_open_is_found(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.write(b"x" * SIZE)
        file.flush()
        assert held(tmp_path) == []  # it has a name
        (tmp_path / "file").unlink()
        assert held(tmp_path) == [SIZE]
    assert held(tmp_path) == []


def test_a_file_that_never_had_a_name_is_found(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_TMPFILE | os.O_RDWR)
    try:
        os.posix_fallocate(descriptor, 0, SIZE)
        assert held(tmp_path) == [SIZE]
    finally:
        os.close(descriptor)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees what is mapped")
def test_a_file_that_is_only_mapped_is_found(tmp_path: Path) -> None:
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    with (tmp_path / "file").open("w+b") as file:
        file.write(b"x" * SIZE)
        file.flush()
        # Not Python's own, which holds the file open too.
        mapped = libc.mmap(None, ctypes.c_size_t(SIZE), 1, 1, file.fileno(), ctypes.c_long(0))
    (tmp_path / "file").unlink()
    assert held(tmp_path) == [SIZE]
    libc.munmap(ctypes.c_void_p(mapped), ctypes.c_size_t(SIZE))
    assert held(tmp_path) == []


def test_what_lies_elsewhere_is_not_counted(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    with (tmp_path / "file").open("wb") as file:
        file.write(b"x" * SIZE)
        (tmp_path / "file").unlink()
        assert held(tmp_path / "results") == []
        assert list(held_open((os.getpid(),), 0, "/")) == []  # on another device


@contextmanager
def parent_of_a_child() -> Iterator[tuple[int, int]]:
    code = "import subprocess, sys; c = subprocess.Popen(['sleep', '60']); print(c.pid, flush=True); c.wait()"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        try:
            yield parent.pid, child
        finally:
            os.kill(child, 9)


def test_a_family_is_a_process_and_all_that_came_of_it(tmp_path: Path) -> None:
    with parent_of_a_child() as (parent, child):
        assert family(parent) == (parent, child)
        assert family_in(parent, str(tmp_path), tmp_path) == (parent, child)
        assert family_in(parent, "/", tmp_path) == ()  # a process that has another folder there: not ours
        assert family_in(0, str(tmp_path), tmp_path) == ()
    assert family(parent) == ()
    assert family_in(parent, str(tmp_path), tmp_path) == ()
    assert held(tmp_path, parent) == []
