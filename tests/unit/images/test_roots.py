"""What a root's tar file tells of its packages."""

import io
import tarfile
from pathlib import Path

import pytest

from orchestrator.images.failure import StageFailed
from orchestrator.images.roots import installed, moved, read_root

STATUS = """\
Package: python3
Status: install ok installed
Version: 3.11.2-1+b1
Description: interactive language
 Version: 9 is no field of its own
 .

Package: gone
Status: deinstall ok config-files
Version: 1.0

Package: adduser
Status: install ok installed
Version: 3.134
"""


def root(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content.encode())
            tar.addfile(member, io.BytesIO(content.encode()))
    return path


def test_what_is_installed_is_told_with_its_version():
    assert installed(STATUS) == ("adduser=3.134", "python3=3.11.2-1+b1")


@pytest.mark.parametrize("prefix", ["", "./"])
def test_a_root_tells_its_release_and_packages(tmp_path, prefix):
    archive = root(
        tmp_path / "root.tar",
        {"bin/sh": "x", f"{prefix}etc/debian_version": "12.15\n", f"{prefix}var/lib/dpkg/status": STATUS},
    )
    found = read_root(archive)

    assert (found.release, found.packages) == ("12.15", ("adduser=3.134", "python3=3.11.2-1+b1"))


def test_what_is_no_root_is_a_failure_of_the_base(tmp_path):
    (tmp_path / "root.tar").write_text("no tar file")
    with pytest.raises(StageFailed, match="is no tar file"):
        read_root(tmp_path / "root.tar")
    with pytest.raises(StageFailed, match="no list of its packages"):
        read_root(root(tmp_path / "other.tar", {"etc/debian_version": "12"}))


def test_what_moved_is_told_by_name():
    assert moved(["a=1", "b=1", "c=1"], ["a=1", "b=2", "d=1:2"]) == ["b: 1 -> 2", "c: 1 -> none", "d: none -> 1:2"]
    assert moved(["a=1"], ["a=1"]) == []
