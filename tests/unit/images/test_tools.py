import os
from pathlib import Path

import pytest

from orchestrator.images.failure import StageFailed
from orchestrator.images.tools import tools_for

SEEN = {"python": "3.11.2", "glibc": "2.36", "host_arch": "x86_64"}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_an_image_with_pytest_is_brought_nothing(site, commands):
    assert tools_for({**SEEN, "package pytest": "7.0"}, site, commands, print) is None


def test_only_what_is_missing_is_brought_and_fits_what_is_there(site, commands, wheels, wheel_maker):
    wheel_maker(wheels, "packaging", "25.0", files={"packaging/__init__.py": ""})
    brought = tools_for(SEEN, site, commands, print)
    beside = tools_for({**SEEN, "package packaging": "25.0"}, site, commands, print)

    assert brought.told == "brought beside the image: packaging 26.0, pytest 9.1.0"
    assert names(brought.folder) == {"packaging-26.0.dist-info", "pytest-9.1.0.dist-info"}
    assert beside.told == "brought beside the image: pytest 9.1.0"
    assert names(beside.folder) == {"pytest-9.1.0.dist-info"}
    assert beside.folder.stat().st_mode & 0o777 == 0o755  # the cell's user is nobody here


def test_whoever_a_cell_runs_as_can_read_what_is_brought(site, commands):
    before = os.umask(0o077)
    try:
        folder = tools_for(SEEN, site, commands, print).folder
    finally:
        os.umask(before)

    modes = {(path.is_dir(), path.stat().st_mode & 0o777) for path in (folder, *folder.rglob("*"))}
    assert modes == {(True, 0o755), (False, 0o644)}


def test_what_was_unpacked_is_used_again_and_nothing_half_is_left(site, commands):
    first = tools_for(SEEN, site, commands, print)
    (first.folder / "mark").touch()
    again = tools_for(SEEN, site, commands, print)

    assert again == first
    assert (again.folder / "mark").exists()
    assert names(site.cache / "tools") == {first.folder.name}


def test_what_is_no_wheel_is_told_and_leaves_nothing(site, commands, wheels):
    (wheels / "pytest-9.1.0-py3-none-any.whl").unlink()
    (wheels / "pytest-9.2.0-py3-none-any.whl").write_bytes(b"not a wheel")
    with pytest.raises(StageFailed, match="pytest"):
        tools_for({**SEEN, "package packaging": "26.0"}, site, commands, print)

    assert not (site.cache / "tools").exists() or names(site.cache / "tools") == set()
