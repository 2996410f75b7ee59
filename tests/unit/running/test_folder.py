import os
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from orchestrator.errors import InfrastructureError
from orchestrator.running import folder


def test_a_run_id_is_utc_and_sorts_by_time() -> None:
    early = datetime(2026, 11, 29, 23, 59, 59, tzinfo=timezone(timedelta(hours=-2)))
    assert folder.run_id(early, "3fa9") == "20261130T015959Z-3fa9"
    later = [datetime(2026, 9, 30, tzinfo=UTC), datetime(2026, 10, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)]
    ids = [folder.run_id(moment, "0000") for moment in later]
    assert sorted(ids) == ids


def test_runs_of_one_second_get_folders_of_their_own(tmp_path: Path) -> None:
    folder.make(tmp_path / "deep" / "runs")
    runs = [folder.create(tmp_path / "deep" / "runs") for _ in range(20)]
    assert len(set(runs)) == 20
    assert all(re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{4}", run.name) for run in runs)


def test_no_run_is_begun_after_the_last_of_days(tmp_path: Path) -> None:
    (tmp_path / "99991231T235959Z-aaaa").mkdir()
    assert folder.create(tmp_path).name.startswith("99991231T000001Z-")


def test_a_taken_id_is_not_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tails = iter(["aaaa", "aaaa", "bbbb"])
    monkeypatch.setattr("secrets.token_hex", lambda _: next(tails))
    monkeypatch.setattr(folder, "run_id", lambda _, tail: tail)
    assert folder.create(tmp_path).name == "aaaa"
    assert folder.create(tmp_path).name == "bbbb"


def test_no_free_id_is_an_error_and_no_endless_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "run_id", lambda *_: "same")
    folder.create(tmp_path)
    with pytest.raises(InfrastructureError, match="no free run id"):
        folder.create(tmp_path)


def test_a_file_in_the_place_of_the_runs_is_told(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(InfrastructureError) as refused:
        folder.make(tmp_path / "runs")
    assert refused.value.place == str(tmp_path / "runs")


@pytest.mark.parametrize("cell", ["../x", "/abs", "..", "", "a/b", "con", "-x", "x."])
def test_only_a_plain_file_name_names_a_cells_folder(tmp_path: Path, cell: str) -> None:
    with pytest.raises(InfrastructureError, match="cannot name a folder"):
        folder.attempt_folder(tmp_path, cell, 1)


def test_attempts_are_listed_by_number(tmp_path: Path) -> None:
    for name in ("attempt-10", "attempt-2", "attempt-0", "attempt-x", "attempt-02", "notes"):
        (tmp_path / "cells" / "c" / name).mkdir(parents=True)
    assert [number for number, _ in folder.attempt_folders(tmp_path, "c")] == [2, 10]
    assert folder.attempt_folders(tmp_path, "never-run") == ()


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "plan.json"
    folder.write(file, b"old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InfrastructureError, match=r"plan.json: No space left on device, \d+ bytes free"):
        folder.write(file, b"new and longer")
    assert file.read_bytes() == b"old"


def test_admission_names_the_folder_and_the_free_bytes(tmp_path: Path) -> None:
    folder.admit(tmp_path, least=1)
    with pytest.raises(InfrastructureError, match=rf"{tmp_path}: \d+ bytes are free, a run needs {1 << 62}"):
        folder.admit(tmp_path, least=1 << 62)
