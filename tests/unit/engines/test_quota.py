import os
import shutil
from pathlib import Path

import pytest

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


def test_folders_nested_deeper_than_a_path_can_say_hide_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(20):
        Path("x" * 250).mkdir()
        os.chdir("x" * 250)
    assert used(tmp_path, MUCH) > MUCH
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(tmp_path / ("x" * 250))
