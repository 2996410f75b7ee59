import hashlib
from pathlib import Path

import pytest

from orchestrator.engines.intake import Intake, make_ready
from orchestrator.engines.log import LOG_FILE
from orchestrator.formats import ATTEMPT, BUNDLE_FILES, CELL, CHECKSUMS, JUNIT, METRICS
from orchestrator.masking import Masker


def test_a_file_of_a_bundle_is_taken(tmp_path: Path) -> None:
    intake = Intake(tmp_path)
    assert intake.accepts(JUNIT, "file", 6)
    intake.take(JUNIT, 6, iter([b"abc", b"def"]))
    assert (tmp_path / JUNIT).read_bytes() == b"abcdef"
    assert intake.files == (JUNIT,)
    assert intake.refused == ()


@pytest.mark.parametrize(
    ("name", "kind", "size", "why"),
    [
        (ATTEMPT, "file", 1, "not a file of a bundle"),
        (LOG_FILE, "file", 1, "not a file of a bundle"),
        ("../" + JUNIT, "file", 1, "not a file of a bundle"),
        ("/etc/passwd", "file", 1, "not a file of a bundle"),
        (JUNIT, "symbolic link", 0, "a symbolic link, not a regular file"),
        (JUNIT, "file", 11, "11 bytes, over the cap of 10"),
        (METRICS, "file", 10, "10 bytes, over what is left of the cap for all files"),
        (CELL, "file", 1, "there twice"),
    ],
)
def test_everything_else_is_refused_by_name(tmp_path: Path, name: str, kind: str, size: int, why: str) -> None:
    intake = Intake(tmp_path, file_bytes=10, total_bytes=15)
    intake.take(CELL, 6, iter([b"123456"]))
    assert not intake.accepts(name, kind, size)
    assert intake.refused == (f"{name}: {why}",)


@pytest.mark.parametrize("content", [b"", b"1234", b"123456"])
def test_a_file_of_another_size_than_it_said_leaves_nothing(tmp_path: Path, content: bytes) -> None:
    intake = Intake(tmp_path)
    intake.take(JUNIT, 5, iter([content]))
    assert intake.files == ()
    assert intake.refused == (f"{JUNIT}: its 5 bytes did not come out whole",)
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    def breaks():
        yield b"123"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        Intake(tmp_path).take(JUNIT, 5, breaks())
    assert list(tmp_path.iterdir()) == []


def test_a_link_that_lies_in_wait_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("safe")
    (tmp_path / JUNIT).symlink_to(tmp_path / "target")
    with pytest.raises(FileExistsError):
        Intake(tmp_path).take(JUNIT, 4, iter([b"evil"]))
    assert (tmp_path / "target").read_text() == "safe"


def test_of_foreign_files_the_first_are_named_and_all_counted(tmp_path: Path) -> None:
    intake = Intake(tmp_path)
    for number in range(10_000):
        intake.refuse(f"x{number}", "not a file of a bundle")
    intake.refuse(JUNIT, "a FIFO, not a regular file")
    assert len(intake.refused) == 22
    assert intake.refused[-2:] == (f"{JUNIT}: a FIFO, not a regular file", "and 9980 more files")


def test_names_are_made_printable(tmp_path: Path) -> None:
    intake = Intake(tmp_path)
    intake.refuse("a\n\x1b[31mb" + "c" * 200, "why")
    assert intake.refused[0].isprintable()
    assert len(intake.refused[0]) < 140


def test_make_ready_removes_what_an_earlier_try_left_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    make_ready(folder)
    for name in (*BUNDLE_FILES, ATTEMPT, LOG_FILE, "kept"):
        (folder / name).write_text("")
    make_ready(folder)
    assert [path.name for path in folder.iterdir()] == ["kept"]


def test_secrets_are_masked_and_checksums_that_were_right_stay_right(tmp_path: Path) -> None:
    files = {JUNIT: b"<a>hunter22-hunter22</a>", METRICS: b"{}", CELL: b"hunter22 unsigned"}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    digests[CELL] = "0" * 64
    files[CHECKSUMS] = "".join(f"{digest}  {name}\n" for name, digest in digests.items()).encode()
    intake = Intake(tmp_path, masker=Masker([b"hunter22"]))
    for name, content in files.items():
        intake.take(name, len(content), iter([content[:5], content[5:]]))  # cut within a value
    intake.settle()
    assert (tmp_path / JUNIT).read_bytes() == b"<a>[MASKED]-[MASKED]</a>"
    signed = dict(line.split("  ")[::-1] for line in (tmp_path / CHECKSUMS).read_text().splitlines())
    assert {name for name in signed if signed[name] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()} == {
        JUNIT,
        METRICS,
    }
    assert signed[CELL] == "0" * 64
