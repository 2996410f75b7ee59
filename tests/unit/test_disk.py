"""Files that are there whole or not at all, and what their writers leave when they are killed."""

import ctypes
import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import disk

WRITER = """
import sys, time
from pathlib import Path
from orchestrator import disk
with disk.replacing(Path(sys.argv[1])) as half:
    half.write_text("half")
    print(half.name, flush=True)
    time.sleep(60)
"""


def writer(path: Path) -> tuple["subprocess.Popen[str]", Path]:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, path.with_name(process.stdout.readline().strip())


@given(old=st.binary(max_size=200), new=st.binary(max_size=200))
def test_a_file_is_replaced_whole(tmp_path_factory: pytest.TempPathFactory, old: bytes, new: bytes) -> None:
    path = tmp_path_factory.mktemp("whole") / "file"
    disk.write(path, old)
    disk.write(path, new, 0o600)
    assert path.read_bytes() == new
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_all_of_it_is_on_the_disk_then_asked_about_then_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, told, fsync = tmp_path / "f", [], os.fsync
    path.write_text("old")

    def synced(descriptor: int) -> None:
        told.append(("synced", Path(f"/proc/self/fd/{descriptor}").readlink().name[:8], path.read_text()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", synced)
    with disk.replacing(path, last=lambda: told.append(("asked", "", path.read_text()))) as half:
        half.write_text("new")
    assert told == [("synced", ".f.half-", "old"), ("asked", "", "old"), ("synced", tmp_path.name[:8], "new")]


def test_what_is_asked_last_can_still_refuse(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")

    def refuse() -> None:
        raise ValueError("changed")

    with pytest.raises(ValueError, match="changed"), disk.replacing(path, last=refuse) as half:
        half.write_text("new")
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]


def test_what_a_killed_writer_left_goes_and_who_lives_keeps_his(tmp_path: Path) -> None:
    path = tmp_path / "f"
    dead, left = writer(path)
    dead.send_signal(signal.SIGKILL)
    dead.communicate()
    alive, kept = writer(path)
    disk.remove_halves(tmp_path, "another".__eq__)
    assert left.exists()
    disk.remove_halves(tmp_path, path.name.__eq__)
    assert [each.name for each in tmp_path.iterdir()] == [kept.name]
    alive.kill()
    alive.communicate()


def test_nothing_that_somebody_else_may_have_made_goes(tmp_path: Path) -> None:
    for name in (".f-original", ".f.half-short", ".f.half-LONGLONG", "f.half-a1b2c3d4", ".f.half-a1b2c3d4.bak"):
        (tmp_path / name).touch()
    (tmp_path / ".f.half-00000000").symlink_to("f.half-a1b2c3d4")
    (tmp_path / ".f.half-00000001").mkdir()
    os.mkfifo(tmp_path / ".f.half-00000002")
    before = sorted(tmp_path.iterdir())
    disk.remove_halves(tmp_path, "f".__eq__)
    assert sorted(tmp_path.iterdir()) == before


def test_two_that_write_while_others_remove_never_lose_a_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    over = threading.Event()

    def sweep() -> None:
        while not over.is_set():
            disk.remove_halves(tmp_path, path.name.__eq__)

    sweepers = [threading.Thread(target=sweep) for _ in range(2)]
    for sweeper in sweepers:
        sweeper.start()
    try:
        for number in range(300):
            disk.write(path, b"%d" % number)
            assert path.read_bytes() == b"%d" % number
    finally:
        over.set()
        for sweeper in sweepers:
            sweeper.join()
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_system_without_locks_is_written_and_not_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    left = tmp_path / ".f.half-a1b2c3d4"
    left.touch()
    disk.write(tmp_path / "f", b"x")
    disk.remove_halves(tmp_path, "f".__eq__)
    assert sorted(tmp_path.iterdir()) == [left, tmp_path / "f"]


class NoRename:
    """A C library without that call, or a file system that does not know its flag."""

    def __init__(self, number: int) -> None:
        if number:
            self.renameat2 = lambda *_: ctypes.set_errno(number) or -1


@pytest.mark.parametrize("number", [None, 0, errno.EINVAL, errno.ENOSYS])
def test_a_new_file_takes_the_place_of_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int | None
) -> None:
    if number is not None:
        monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: NoRename(number))
    path, other = tmp_path / "f", tmp_path / "g"
    with disk.replacing(path, new=True) as half:
        half.write_text("ours")
    with pytest.raises(FileExistsError), disk.replacing(other, new=True):
        other.symlink_to("nowhere")  # somebody else, meanwhile
    assert path.read_text() == "ours"
    assert (path.stat().st_mode & 0o777, path.stat().st_nlink) == (0o644, 1)
    assert other.is_symlink()
    assert sorted(tmp_path.iterdir()) == [path, other]


def test_a_new_file_needs_no_second_name_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")  # as FAT says

    monkeypatch.setattr(os, "link", no_links)
    with disk.replacing(tmp_path / "f", new=True) as half:
        half.write_text("ours")
    assert [each.read_text() for each in tmp_path.iterdir()] == ["ours"]


def test_a_folder_is_on_the_disk_with_all_that_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "f").touch()
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(Path(f"/proc/self/fd/{fd}").readlink().name))
    disk.sync_below(tmp_path / "a")
    assert synced == ["f", "b", "a"]


def test_what_is_bounded_is_a_regular_file_and_no_longer_than_that(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert disk.read_bounded(tmp_path / "file", 5) == b"12345"
    with pytest.raises(OSError, match="File too large"):
        disk.read_bounded(tmp_path / "file", 4)
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", ""):
        with pytest.raises(disk.NotRegular):
            disk.read_bounded(tmp_path / name, 5)
