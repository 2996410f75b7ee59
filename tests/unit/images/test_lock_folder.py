"""One writer of locks at a time, and nothing left of one that was killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from orchestrator.errors import InfrastructureError
from orchestrator.images.lock_folder import alone_in
from orchestrator.images.locks import held_in, parse, place_of_lock, read_lock, render, write_lock

HOLDER = """
import sys, time
from pathlib import Path
from orchestrator.images.lock_folder import alone_in
with alone_in(Path(sys.argv[1]), lambda line: print(line, flush=True)):
    print("held", flush=True)
    if len(sys.argv) > 2:
        time.sleep(60)
"""


WRITER = """
import os, pathlib, signal, sys
from orchestrator.images.lock_folder import alone_in
from orchestrator.images.locks import parse, write_lock
folder, place, count = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
owner, name = (os, place) if hasattr(os, place) else (pathlib.Path, place)
real = getattr(owner, name)
def dying(*arguments, **named):
    global count
    count -= 1
    if count < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **named)
with alone_in(folder, print):
    new = parse(sys.stdin.buffer.read())
    setattr(owner, name, dying)
    write_lock(folder, new)
"""


def holder(folder: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", HOLDER, str(folder), *more], stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_second_writer_says_that_it_waits_and_goes_on_when_the_first_was_killed(tmp_path):
    folder = tmp_path / "images" / "locks"
    with holder(folder, "for long") as first:
        assert said(first) == "held"
        with holder(folder) as second:
            assert said(second) == f"another `torchmatrix lock` writes {folder}: waiting for it"
            os.kill(first.pid, signal.SIGKILL)
            assert said(second) == "held"


def test_what_a_killed_writer_left_is_no_lock_and_goes_and_nothing_else_does(tmp_path, fitting):
    write_lock(tmp_path, fitting)
    left = tmp_path / f".{place_of_lock(tmp_path, fitting.image).name}.half-abcd_123"
    left.write_text("half")
    kept = [
        tmp_path / name
        for name in (".gitkeep", "README.md", ".x.lock.toml", "x.lock.toml.half-abcd_123", ".x.toml.half-abcd_123")
    ]
    for path in kept:
        path.write_text("")

    assert list(held_in(tmp_path).locks) == [fitting.image]
    with alone_in(tmp_path, print):
        assert not left.exists()
    assert all(path.exists() for path in kept)
    assert read_lock(tmp_path, fitting.image) == fitting


@pytest.mark.parametrize(("place", "after"), [("chmod", 0), ("fsync", 0), ("replace", 0), ("fsync", 1)])
def test_a_writer_that_is_killed_at_any_step_leaves_the_old_lock_or_the_new_one(tmp_path, fitting, place, after):
    write_lock(tmp_path, fitting)
    new = parse(render(replace(fitting, base=replace(fitting.base, date="2026-08-01"))).encode())
    done = subprocess.run(
        [sys.executable, "-c", WRITER, str(tmp_path), place, str(after)], input=render(new).encode(), check=False
    )
    assert done.returncode == -signal.SIGKILL
    is_named = (place, after) == ("fsync", 1)  # of the folder, when the file has its name already

    held = held_in(tmp_path)
    assert (held.locks, held.unreadable) == ({fitting.image: new if is_named else fitting}, {})
    assert len(list(tmp_path.iterdir())) == (1 if is_named else 2)
    assert place_of_lock(tmp_path, fitting.image).stat().st_mode & 0o777 == 0o644
    with alone_in(tmp_path, print):
        write_lock(tmp_path, new)
    assert [path.name for path in tmp_path.iterdir()] == [place_of_lock(tmp_path, fitting.image).name]
    assert read_lock(tmp_path, fitting.image) == new


def test_a_write_that_fails_leaves_what_was_there_and_nothing_beside_it(tmp_path, fitting, monkeypatch):
    write_lock(tmp_path, fitting)
    before = place_of_lock(tmp_path, fitting.image).read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_lock(tmp_path, replace(fitting, base=replace(fitting.base, date="2026-08-01")))
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [before]


def test_a_file_system_without_locks_is_written_all_the_same_and_not_swept(tmp_path, monkeypatch):
    def no_locks(_descriptor, _operation):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    other = tmp_path / ".x.lock.toml.half-abcd_123"  # another writer may be at it
    other.write_text("")
    with alone_in(tmp_path, print):
        assert other.exists()


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "images").write_text("no folder")
    with (
        pytest.raises(InfrastructureError, match="locks cannot be written: Not a directory"),
        alone_in(tmp_path / "images" / "locks", print),
    ):
        pass
