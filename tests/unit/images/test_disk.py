import re
from pathlib import Path
from typing import NamedTuple

import pytest

from orchestrator.errors import ExitCode, InfrastructureError
from orchestrator.images import disk
from orchestrator.images.disk import Need, admit, free_bytes


class Disk(NamedTuple):
    f_bavail: int
    f_frsize: int


@pytest.fixture(autouse=True)
def _full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk with 1,000 bytes."""
    monkeypatch.setattr(disk.os, "statvfs", lambda _: Disk(10, 100))


def need(place: Path, wanted: int, what: str = "images") -> Need:
    return Need(place=place, bytes=wanted, what=what)


def test_what_fits_is_let_in(tmp_path: Path) -> None:
    admit([need(tmp_path, 400), need(tmp_path / "not/there/yet", 600, "wheels")])
    admit([])
    assert free_bytes(tmp_path / "not/there/yet") == 1000


def test_what_goes_to_one_disk_is_added_up_and_told(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError) as caught:
        admit([need(tmp_path / "runs", 400, "the results of 2 cells"), need(tmp_path, 0), need(tmp_path, 601)])
    assert caught.value.exit_code is ExitCode.INFRASTRUCTURE
    told = (
        f"{tmp_path}/runs: 1000 bytes are free, about 1001 are needed (400 for the results of 2 cells, 601 for images)"
    )
    assert re.match(re.escape(told), str(caught.value))


def test_disks_are_asked_one_by_one(tmp_path: Path) -> None:
    admit([need(tmp_path, 800), need(Path("/proc"), 800)])
