import os
import shutil
from pathlib import Path

import pytest
from small_disk import small_disk

from orchestrator.engines.quota import check, used
from orchestrator.errors import InfrastructureError

MUCH = 1 << 30


def test_what_is_allocated_counts_and_not_what_is_said(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "full").write_bytes(b"x" * 100_000)
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(10 << 30)
    (tmp_path / "link").symlink_to("/")
    assert 100_000 < used(tmp_path, MUCH) < 200_000


def test_empty_files_count_too(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / str(number)).touch()
    assert used(tmp_path, MUCH) == 10 * 4096
    assert used(tmp_path, 3 * 4096) == 4 * 4096  # no further


def test_too_much_is_told_with_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"x" * (3 << 20))
    check(tmp_path)
    monkeypatch.setattr("orchestrator.engines.quota.RESULTS_BYTES", 2 << 20)
    with pytest.raises(InfrastructureError, match="more than 2 MiB into its results folder"):
        check(tmp_path)


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    check(tmp_path / "none")
    (tmp_path / "file").touch()
    check(tmp_path / "file")


@pytest.mark.parametrize(("deep", "much"), [(60, False), (70, True)])
def test_folders_nested_deeper_than_anybody_needs_hide_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deep: int, much: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(deep):
        Path("x" * 250).mkdir()
        os.chdir("x" * 250)
    assert (used(tmp_path, MUCH) > MUCH) is much
    assert much or used(tmp_path, MUCH) == deep * 4096
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(tmp_path / ("x" * 250))


def test_a_file_with_many_names_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "0").write_bytes(b"x" * (1 << 20))
    alone = used(tmp_path, MUCH)
    for number in range(1, 10):
        (tmp_path / str(number)).hardlink_to(tmp_path / "0")
    assert used(tmp_path, MUCH) == alone + 9 * 4096


def test_a_folder_that_is_swapped_for_a_link_while_we_look_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside, results = tmp_path / "outside", tmp_path / "results"
    (results / "inner").mkdir(parents=True)
    outside.mkdir()
    (outside / "large").write_bytes(b"x" * (1 << 20))
    opened = os.open

    def swapped(name: str, *given: object, **more: object) -> int:
        if name == "inner":  # as a cell may: after it was seen, before it is looked into
            (results / "inner").rmdir()
            (results / "inner").symlink_to(outside)
        return opened(name, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", swapped)
    assert used(results, MUCH) == 4096
    assert (results / "inner").is_symlink()


def test_a_results_folder_that_is_a_link_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "large").write_bytes(b"x" * (1 << 20))
    (tmp_path / "results").symlink_to(tmp_path / "outside")
    assert used(tmp_path / "results", MUCH) == 0


def test_a_disk_that_is_nearly_full_ends_the_cell(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64m") as disk:
        check(disk)
        (disk / "file").write_bytes(b"x" * (63 << 20))
        check(disk)
        (disk / "more").write_bytes(b"x" * ((1 << 20) - 8192))
        with pytest.raises(InfrastructureError, match=f"{disk}: No space left on device: 0 MiB are free"):
            check(disk)
