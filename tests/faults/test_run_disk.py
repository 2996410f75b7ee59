"""The disk of the runs is full or read-only: told with path and bytes, nothing that was there is lost."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from crash_matrix import commit, committed, reported, sample
from planned_run import check, ended, only_run, plan_file, started, statuses
from small_disk import mount, small_disk
from tiny_command import command


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system in memory, of a size that a test changes."""
    with small_disk(tmp_path / "disk", "64m") as place:
        yield place


def resize(disk: Path, size: str) -> None:
    mount("-o", f"remount,size={size}", str(disk))


PAGES = tuple(range(1, 28))  # of 4 KiB: from a disk that takes no journal to one that takes the whole run


def test_the_sizes_come_to_all() -> None:
    assert {size for number in range(100) for size in sample(PAGES, str(number), 4)} == set(PAGES)


@pytest.mark.slow
@pytest.mark.parametrize("pages", sorted({1, 3, *sample(PAGES, commit(), 4)}))
def test_a_run_on_a_disk_that_fills_ends_with_4_and_goes_on_when_there_is_room(disk: Path, pages: int) -> None:
    resize(disk, f"{pages * 4}k")
    process = started("run", disk, "pass", "fail", TMPDIR=str(disk.parent))
    _, said = process.communicate(timeout=60)
    assert process.returncode == 4 or (process.returncode == 0 and pages > 15), said
    assert process.returncode == 0 or str(disk) in said
    assert process.returncode == 0 or re.search(r"\d+ bytes (are )?free", said), said
    run = only_run(disk)
    planned = (run / "plan.json").exists()
    told, before = reported(said), committed(run)
    assert planned == (pages > 2)
    assert len(before) >= len(told)
    resize(disk, "64m")
    ended(started("resume", run), 0 if planned else 2)
    if planned:
        assert statuses(run) == ["passed", "failed"]
        assert {path: path.read_bytes() for path in before} == before
        cells = json.loads((run / "summary.json").read_bytes())["cells"]
        assert told.items() <= {cell["id"]: cell["status"] for cell in cells}.items()
        check(run)


def test_the_command_begins_nothing_on_a_disk_without_room_for_a_run(disk: Path, tmp_path: Path) -> None:
    asked = ("run", "--engine", "here", "--plan", plan_file(tmp_path, "pass"), "--runs", disk)
    _, said = ended(command(*asked, TMPDIR=str(tmp_path)), 4)
    assert re.search(rf"{disk}: \d+ bytes are free, about \d+ are needed", said), said
    assert list(disk.iterdir()) == []


@pytest.mark.parametrize(("pages", "done"), [(5, 0), (13, 1), (20, 2)])  # in the first cell, the second, the merge
def test_the_command_on_a_disk_that_fills_ends_with_4_and_its_resume_does_the_rest(
    disk: Path, tmp_path: Path, pages: int, done: int
) -> None:
    asked = ("run", "--engine", "here", "--plan", plan_file(tmp_path, "pass", "fail"), "--runs", disk)
    resize(disk, f"{pages * 4}k")
    _, said = ended(command(*asked, NO_ADMISSION="1", TMPDIR=str(tmp_path)), 4)
    assert str(disk) in said
    assert re.search(r"\d+ bytes (are )?free", said), said
    run = only_run(disk)
    told, before = reported(said), committed(run)
    assert len(told) == done
    assert len(before) >= done
    resize(disk, "64m")
    ended(command("run", "--resume", run, NO_ADMISSION="1"), 1)
    assert statuses(run) == ["passed", "failed"]
    assert {path: path.read_bytes() for path in before} == before
    cells = json.loads((run / "summary.json").read_bytes())["cells"]
    assert told.items() <= {cell["id"]: cell["status"] for cell in cells}.items()
    assert (run / "report.html").exists()
    check(run)


def test_a_disk_that_has_too_little_room_is_told_before_any_cell(disk: Path) -> None:
    _, said = ended(started("run", disk, "pass", MIN_FREE=str(1 << 30)), 4)
    assert f"bytes are free, a run needs {1 << 30}" in said
    assert [path.name for path in only_run(disk).iterdir()] == ["lock"]


def test_a_disk_that_is_read_only_is_told_before_any_cell(disk: Path) -> None:
    ended(started("run", disk, "pass"), 0)
    run = only_run(disk)
    mount("-o", "remount,ro", str(disk))
    for arguments in (("run", disk, "pass"), ("resume", run)):
        _, said = ended(started(*arguments), 4)
        assert str(disk) in said
        assert os.strerror(30) in said  # EROFS
    assert statuses(run) == ["passed"]
    check(run)
