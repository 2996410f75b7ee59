import os
from pathlib import Path

import pytest

from orchestrator.images.cache_folder import whole_folder


def filled(folder: Path) -> None:
    with whole_folder(folder) as half:
        (half / "inner").mkdir()
        (half / "inner" / "file").write_text("x")


def test_all_of_it_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, synced, real = tmp_path / "tools" / "abc", [], os.fsync

    def fsync(descriptor: int) -> None:
        synced.append((str(Path(f"/proc/self/fd/{descriptor}").readlink()), folder.exists()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    filled(folder)
    half = folder.with_name(".half-abc")
    assert synced == [
        (str(half / "inner" / "file"), False),
        (str(half / "inner"), False),
        (str(half), False),
        (str(folder.parent), True),
    ]
    assert (folder / "inner" / "file").read_text() == "x"


def test_a_block_that_fails_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "abc"

    def fail() -> None:
        with whole_folder(folder) as half:
            (half / "file").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(folder.parent.iterdir()) == []


def test_what_a_killed_maker_left_goes_and_what_another_made_stays(tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "abc"
    pid = os.fork()
    if pid == 0:
        with whole_folder(folder) as half:
            (half / "half").touch()
            os.kill(os.getpid(), 9)
    os.waitpid(pid, 0)
    assert [path.name for path in folder.parent.iterdir()] == [".half-abc"]
    filled(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["abc"]
    (folder / "mark").touch()
    filled(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["inner", "mark"]
