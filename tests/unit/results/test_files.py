"""Plain files under a cap, nothing else; and files that are replaced whole or not at all."""

import contextlib
import os
import socket
import threading
from pathlib import Path

import pytest

from orchestrator.errors import InfrastructureError, InputError
from orchestrator.results.files import Refused, check_name, read_plain, remove_halves, replacing, scratch


def test_a_plain_file_is_read_up_to_its_cap(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"12345")

    assert read_plain(tmp_path / "f", 5) == b"12345"
    with pytest.raises(Refused, match="has 5 bytes, the cap is 4"):
        read_plain(tmp_path / "f", 4)


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_bytes(b"123456")
    monkeypatch.setattr("orchestrator.results.files.open_plain", lambda path, cap: path.open("rb"))

    with pytest.raises(Refused, match="has more than 5 bytes"):
        read_plain(tmp_path / "f", 5)


def test_a_missing_file_is_not_refused_but_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "f", 5)


def symlink(path: Path) -> None:
    path.symlink_to("/etc/hostname")


def dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def fifo(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def hard_link(path: Path) -> None:
    (path.parent / "other").write_text("x")
    path.hardlink_to(path.parent / "other")


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 << 30)


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (symlink, "cannot be opened as a plain file"),
        (dangling, "cannot be opened as a plain file"),
        (fifo, "is not a plain file"),
        (folder, "is not a plain file"),
        (hard_link, "is a hard link"),
        (sparse, "has 10737418240 bytes, the cap is 1000"),
        (unix_socket, "cannot be opened as a plain file"),
    ],
)
def test_what_is_no_plain_file_is_refused_without_a_read(tmp_path: Path, made: object, reason: str) -> None:
    path = tmp_path / "junit.xml"
    made(path)  # type: ignore[operator]

    with pytest.raises(Refused, match=reason):
        read_plain(path, 1000)


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no devices here")  # noqa: PTH110
def test_a_device_is_refused() -> None:
    with pytest.raises(Refused, match="is not a plain file"):
        read_plain(Path("/dev/null"), 1000)


def test_a_refusal_leaves_no_descriptor_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208

    for _ in range(5):
        with pytest.raises(Refused):
            read_plain(tmp_path / "f", 1)

    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_replacing_shows_the_new_file_only_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")

    with replacing(path) as half:
        half.write_text("new")
        assert path.read_text() == "old"

    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o644


def test_the_new_file_has_its_rights_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    named = Path.replace

    def replace(half: Path, path: Path) -> Path:
        seen.append(half.stat().st_mode & 0o777)
        return named(half, path)

    monkeypatch.setattr(Path, "replace", replace)
    with replacing(tmp_path / "f", mode=0o640):
        pass
    assert seen == [0o640]


def test_a_new_file_takes_the_place_of_none_and_that_is_told(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with pytest.raises(InputError, match="there is a file already"), replacing(path, new=True):
        path.write_text("theirs")  # somebody else, meanwhile
    assert [each.read_text() for each in tmp_path.iterdir()] == ["theirs"]


def test_a_failed_block_keeps_the_old_file_and_no_half(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")

    with contextlib.suppress(ValueError), replacing(path) as half:
        half.write_text("new")
        raise ValueError

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_told_with_path_and_free_bytes(tmp_path: Path) -> None:
    path = tmp_path / "f"

    with (
        pytest.raises(InfrastructureError, match=r"f: cannot be written: No space left .*\(\d+ bytes are free there\)"),
        replacing(path),
    ):
        raise OSError(28, "No space left on device")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("opened", [replacing, scratch])
def test_a_missing_folder_is_told(tmp_path: Path, opened: object) -> None:
    with (
        pytest.raises(InfrastructureError, match="cannot be written: No such file or directory"),
        opened(tmp_path / "no" / "f"),  # type: ignore[operator]
    ):
        pytest.fail("the block must not begin")


def test_two_writers_never_make_a_mixed_file(tmp_path: Path) -> None:
    path = tmp_path / "f"

    def write(letter: str) -> None:
        for _ in range(20):
            with replacing(path) as half:
                half.write_text(letter * 1000)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert path.read_text() in {"a" * 1000, "b" * 1000}
    assert list(tmp_path.iterdir()) == [path]


def test_scratch_is_gone_afterwards(tmp_path: Path) -> None:
    with scratch(tmp_path) as aside:
        (aside / "rows").write_text("x")

    assert list(tmp_path.iterdir()) == []


def test_a_folder_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    check_name(tmp_path / "ünïcode")
    with pytest.raises(InputError, match="not in UTF-8"):
        check_name(tmp_path / "\udcff")


def test_what_a_killed_writer_left_goes_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".torchmatrix-merge-a1_b2c3d").mkdir()
    (tmp_path / ".torchmatrix-merge-a1_b2c3d" / "rows").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / ".scratch-a1b2c3d4").mkdir()  # of anybody
    (tmp_path / ".torchmatrix-merge-linked00").symlink_to(tmp_path / "outside")
    others = [
        ".junit.xml.half-short",
        ".other.xml.half-a1b2c3d4",
        ".junit.xml-original",
        "junit.xml",
        "scratch-a1b2c3d4",
    ]
    for name in (".junit.xml.half-a1b2c3d4", *others):
        (tmp_path / name).touch()
    remove_halves(tmp_path, ("junit.xml",))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*others, "outside", ".scratch-a1b2c3d4", ".torchmatrix-merge-linked00"]
    )
    remove_halves(tmp_path / "none", ())
