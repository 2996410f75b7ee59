"""What a mirror is asked: the date of a suite, the versions that it has."""

import lzma

import pytest

from orchestrator.images.mirror import date_of, offered

PACKAGES = b"""\
Package: adduser
Version: 3.134
Description: add
 more

Package: python3
Version: 3.11.2-1+b1

Package: python3
Version: 3.11.2-2
"""


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "mirror/dists/bookworm"
    (folder / "main/binary-amd64").mkdir(parents=True)
    (folder / "Release").write_text("Origin: Debian\nDate: Sat, 11 Jul 2026 23:16:37 -0300\nSHA256:\n x\n")
    (folder / "main/binary-amd64/Packages.xz").write_bytes(lzma.compress(PACKAGES))
    return folder


@pytest.fixture
def mirrored(tmp_path, suite, with_site):
    return with_site(apt_mirror=(tmp_path / "mirror").as_uri() + "/")


def test_a_suite_has_a_date_and_its_packages_versions(mirrored):
    assert date_of("bookworm", mirrored) == "2026-07-12"
    assert offered("bookworm", "amd64", mirrored) == {
        "adduser": frozenset({"3.134"}),
        "python3": frozenset({"3.11.2-1+b1", "3.11.2-2"}),
    }


@pytest.mark.parametrize("content", ["", "Date: yesterday\n", "Date:\n"])
def test_a_date_that_is_not_said_is_none(mirrored, suite, content):
    (suite / "Release").write_text(content)

    assert date_of("bookworm", mirrored) == ""
    assert date_of("trixie", mirrored) == ""


def test_a_list_that_cannot_be_read_is_trouble(mirrored, suite):
    (suite / "main/binary-amd64/Packages.xz").write_bytes(b"<html>")

    with pytest.raises(OSError, match="cannot be read"):
        offered("bookworm", "amd64", mirrored)
    with pytest.raises(OSError):
        offered("trixie", "amd64", mirrored)


def test_half_a_list_is_trouble_and_no_lack_of_packages(mirrored, suite):
    listed = suite / "main/binary-amd64/Packages.xz"
    listed.write_bytes(listed.read_bytes()[:-20])

    with pytest.raises(OSError, match="not whole"):
        offered("bookworm", "amd64", mirrored)
