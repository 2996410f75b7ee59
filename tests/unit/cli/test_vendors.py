"""The files of facts that a matrix names."""

from pathlib import Path

import pytest

from orchestrator.cli import vendors
from orchestrator.cli.vendors import overlays_of
from orchestrator.errors import InputError


def test_files_are_found_beside_the_matrix_each_once(tmp_path: Path) -> None:
    for name in ("facts/b.yaml", "facts/a.yaml", "own.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = overlays_of(["own.yaml", "./facts/*.yaml", "facts/a.yaml", str(tmp_path / "facts/b*")], tmp_path)
    assert found == tuple(tmp_path / name for name in ("own.yaml", "facts/a.yaml", "facts/b.yaml"))


def test_a_glob_that_names_nothing_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file of facts is there"):
        overlays_of(["facts/*.yaml"], tmp_path)


def test_only_so_many_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vendors, "MAX_OVERLAYS", 2)
    for at in range(3):
        (tmp_path / f"{at}.yaml").touch()
    with pytest.raises(InputError, match="at most 2"):
        overlays_of(["*.yaml"], tmp_path)
