import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.engines.compile_cache import CompileCache, Taking, copy, files, take_folder
from orchestrator.engines.surroundings import variables
from orchestrator.engines.task import Task


def contents(folder: Path) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in files(folder)}


def test_a_copy_is_made_anew_and_follows_no_link(tmp_path: Path) -> None:
    kept, work = tmp_path / "kept", tmp_path / "work"
    (kept / "inductor" / "ab").mkdir(parents=True)
    (kept / "inductor" / "ab" / "k.so").write_bytes(b"1")
    (kept / "link").symlink_to("/etc/hostname")
    work.mkdir()
    (work / "of-a-dead-one").write_bytes(b"")
    copy(kept, work)
    assert contents(work) == {"inductor/ab/k.so": b"1"}
    copy(None, work)
    assert contents(work) == {}


def test_what_a_cell_left_is_taken_whole(tmp_path: Path) -> None:
    work, taken = tmp_path / "work", tmp_path / "taken"
    (work / "triton").mkdir(parents=True)
    taken.mkdir()
    (work / "triton" / "k.cubin").write_bytes(b"22")
    (work / "a.lock").write_bytes(b"")
    taking = Taking(taken)
    take_folder(work, taking)
    assert taking.whole
    assert contents(taken) == {"triton/k.cubin": b"22"}


@pytest.mark.parametrize("kind", ["link", "linked folder", "hard link", "FIFO", "large", "many"])
def test_one_file_that_should_not_be_there_spoils_all(tmp_path: Path, kind: str) -> None:
    work, taken = tmp_path / "work", tmp_path / "taken"
    work.mkdir()
    taken.mkdir()
    (work / "a").write_bytes(b"1")
    place = work / "b"
    if kind == "link":
        place.symlink_to("/etc/hostname")
    elif kind == "linked folder":
        place.symlink_to("/etc")
    elif kind == "hard link":
        os.link(work / "a", place)
    elif kind == "FIFO":
        os.mkfifo(place)
    elif kind == "large":
        place.write_bytes(b"x" * 100)
    else:
        for number in range(5):
            (work / f"n{number}").write_bytes(b"")
    taking = Taking(taken, most_bytes=50, most_files=4)
    take_folder(work, taking)
    assert not taking.whole


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "", "x" * 500])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    taking = Taking(tmp_path)
    assert not taking.accepts(name, "file", 1)
    assert not taking.whole


def test_a_file_of_another_size_or_a_name_twice_spoils_it(tmp_path: Path) -> None:
    for sizes in ((3,), (1,), (2, 2)):
        folder = tmp_path / str(sizes)
        folder.mkdir()
        taking = Taking(folder)
        for size in sizes:
            taking.take("a", size, [b"22"])
        assert not taking.whole


def test_compilers_are_told_where_it_is(make_task: Callable[..., Task], tmp_path: Path) -> None:
    without = variables(make_task(), scratch="/s", path="/p")
    assert without["TORCHINDUCTOR_CACHE_DIR"] == "/s/cache/inductor"
    told = variables(make_task(), scratch="/s", path="/p", cache="/results/cache")
    assert (told["TORCHINDUCTOR_CACHE_DIR"], told["TRITON_CACHE_DIR"], told["XDG_CACHE_HOME"]) == (
        "/results/cache/inductor",
        "/results/cache/triton",
        "/s/cache",
    )
    assert CompileCache(kept=None, taken=tmp_path, work=tmp_path).kept is None
