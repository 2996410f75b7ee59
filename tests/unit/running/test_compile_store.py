import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.engines.compile_cache import files
from orchestrator.running.compile_key import key
from orchestrator.running.compile_store import CompileStore

GCC12, GCC14 = {"toolchain": "g++ 12.2.0"}, {"toolchain": "g++ 14.2.0"}


class Kept:
    """A store, and what it said."""

    def __init__(self, root: Path, most: int = 1 << 20) -> None:
        self.said: list[str] = []
        self.root = root
        self.store = CompileStore(root, self.said.append, most=most)

    def has(self, parts: dict[str, str]) -> dict[str, bytes]:
        with self.store.lent(parts) as lent:
            assert lent is not None
            kept = lent.cache.kept
            return {name: path.read_bytes() for name, path in files(kept)} if kept else {}

    def passed(self, parts: dict[str, str], **left: bytes) -> None:
        with self.store.lent(parts) as lent:
            assert lent is not None
            for name, content in left.items():
                (lent.cache.taken / name).write_bytes(content)
            lent.keep()


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "compile")


def test_what_a_cell_that_passed_left_is_there_for_the_next(kept: Kept) -> None:
    assert kept.has(GCC12) == {}
    kept.passed(GCC12, a=b"1")
    assert kept.has(GCC12) == {"a": b"1"}
    kept.passed(GCC12, a=b"1", b=b"2")
    assert kept.has(GCC12) == {"a": b"1", "b": b"2"}
    assert kept.said == []


def test_another_compiler_version_is_never_served(kept: Kept) -> None:
    kept.passed(GCC12, a=b"1")
    assert kept.has(GCC14) == {}
    kept.passed(GCC14, a=b"2")
    assert (kept.has(GCC12), kept.has(GCC14)) == ({"a": b"1"}, {"a": b"2"})


def test_a_folder_moved_under_another_key_is_dropped(kept: Kept) -> None:
    kept.passed(GCC12, a=b"1")
    (kept.root / key(GCC12)).rename(kept.root / key(GCC14))
    assert kept.has(GCC14) == {}
    assert kept.said == ["a compile cache is not as it was kept: dropped"]
    assert not (kept.root / key(GCC14)).exists()


def test_a_cell_that_did_not_pass_writes_nothing_back(kept: Kept) -> None:
    kept.passed(GCC12, a=b"1")
    with kept.store.lent(GCC12) as lent:
        assert lent is not None
        (lent.cache.taken / "a").write_bytes(b"wrong")
    assert kept.has(GCC12) == {"a": b"1"}
    assert sorted(path.name for path in kept.root.iterdir()) == [key(GCC12), f"{key(GCC12)}.lock"]


@pytest.mark.parametrize("how", ["changed", "added", "removed", "linked", "no manifest", "another manifest"])
def test_a_folder_that_is_not_as_it_was_kept_is_dropped(kept: Kept, how: str) -> None:
    kept.passed(GCC12, a=b"1", b=b"2")
    place = kept.root / key(GCC12)
    if how == "changed":
        (place / "files" / "a").write_bytes(b"9")
    elif how == "added":
        (place / "files" / "c").write_bytes(b"")
    elif how == "removed":
        (place / "files" / "a").unlink()
    elif how == "linked":
        (place / "files" / "l").symlink_to("/etc")
    elif how == "no manifest":
        (place / "manifest.json").unlink()
    else:
        (place / "manifest.json").write_text("{}")
    assert kept.has(GCC12) == {}
    assert kept.said == ["a compile cache is not as it was kept: dropped"]
    kept.passed(GCC12, a=b"3")
    assert kept.has(GCC12) == {"a": b"3"}


def test_one_attempt_at_a_time_has_it(kept: Kept) -> None:
    kept.passed(GCC12, a=b"1")
    with kept.store.lent(GCC12) as first, kept.store.lent(GCC12) as second, kept.store.lent(GCC14) as other:
        assert first is not None
        assert second is None
        assert other is not None


def test_what_a_dead_one_left_goes_at_the_next(kept: Kept) -> None:
    for end in (".new", ".work", ".coming", ".going"):
        (kept.root / f"{key(GCC12)}{end}").mkdir(parents=True)
        (kept.root / f"{key(GCC12)}{end}" / "half").write_bytes(b"")
    kept.passed(GCC12, a=b"1")
    assert kept.has(GCC12) == {"a": b"1"}
    assert sorted(path.name for path in kept.root.iterdir()) == [key(GCC12), f"{key(GCC12)}.lock"]


@pytest.mark.parametrize("spoil", [os.mkfifo, lambda file: file.write_text("[" * 100_000)])
def test_one_whose_manifest_cannot_be_read_is_made_anew(kept: Kept, spoil: Callable[[Path], object]) -> None:
    kept.passed(GCC12, a=b"1")
    (kept.root / key(GCC12) / "manifest.json").unlink()
    spoil(kept.root / key(GCC12) / "manifest.json")
    assert kept.has(GCC12) == {}
    kept.passed(GCC12, a=b"2")
    assert kept.has(GCC12) == {"a": b"2"}


def test_the_least_recently_used_go_when_all_take_too_much(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "compile", most=2500)
    parts = [{"toolchain": str(number)} for number in range(3)]
    for age, one in enumerate(parts[:2]):
        kept.passed(one, a=b"x" * 1000)
        os.utime(kept.root / key(one) / "manifest.json", (age, age))
    assert kept.has(parts[0])
    kept.passed(parts[2], a=b"x" * 1000)
    assert [bool(kept.has(one)) for one in parts] == [True, False, True]


def test_one_that_somebody_has_is_not_evicted(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "compile", most=10)
    kept.passed(GCC12, a=b"x" * 100)
    with kept.store.lent(GCC12) as lent:
        kept.passed(GCC14, a=b"x" * 100)
        assert lent is not None
        assert lent.cache.kept is not None
        assert (lent.cache.kept / "a").exists()


def test_without_a_place_a_cell_does_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = Kept(tmp_path / "file" / "compile")
    with kept.store.lent(GCC12) as lent:
        assert lent is None
    assert kept.said[0].startswith("no compile cache: ")


def test_what_left_nothing_is_not_kept(kept: Kept) -> None:
    kept.passed(GCC12)
    assert not (kept.root / key(GCC12)).exists()
