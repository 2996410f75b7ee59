import hashlib
import os

import pytest

from orchestrator.images.failure import Stage, StageFailed
from orchestrator.images.packages import find_packages
from orchestrator.vocabulary import Cause


def test_packages_are_found_by_axis_and_version_with_their_hashes(site, tmp_path):
    folder = tmp_path / "packages/level_zero/1.24.2"
    folder.mkdir(parents=True)
    for name in ("b.deb", "a.deb", "README", "..deb.deb"):
        (folder / name).write_text(name)
    found = find_packages({"torch": "2.13.0", "level_zero": "1.24.2"}, site)

    assert [package.identity for package in found] == [
        ["level_zero", name, hashlib.sha256(name.encode()).hexdigest()] for name in ("a.deb", "b.deb")
    ]


def test_no_axis_no_packages(site):
    assert find_packages({"torch": "2.13.0"}, site) == ()


def test_missing_packages_say_where_they_belong(site, tmp_path):
    with pytest.raises(StageFailed) as caught:
        find_packages({"cuda_compat": "560.35.05"}, site)

    assert caught.value.stage is Stage.BASE
    assert caught.value.why is Cause.MISSING_PACKAGE
    assert caught.value.fact == f"no packages of cuda_compat 560.35.05 in {tmp_path}/packages/cuda_compat/560.35.05"


def test_what_is_no_file_is_no_package(site, tmp_path):
    folder = tmp_path / "packages/level_zero/1.24.2"
    (folder / "folder.deb").mkdir(parents=True)
    os.mkfifo(folder / "pipe.deb")
    with pytest.raises(StageFailed, match="no packages of level_zero"):
        find_packages({"level_zero": "1.24.2"}, site)
