import io
import tarfile
from pathlib import Path

import pytest

from orchestrator.engines.compile_cache import Taking
from orchestrator.engines.docker.collect import take_cache, take_members
from orchestrator.engines.docker.tar import TarStream
from orchestrator.engines.intake import Intake


def stream(*members: tuple[str, bytes, bytes]) -> TarStream:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, kind, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/hostname"
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return TarStream(io.BytesIO(made.getvalue()))


FOLDER = ("out", tarfile.DIRTYPE, b"")


def test_files_of_a_bundle_are_taken_from_the_folder(tmp_path: Path) -> None:
    intake = Intake(tmp_path)
    members = (FOLDER, ("out/junit.xml", tarfile.REGTYPE, b"<x/>"), ("out/extra", tarfile.REGTYPE, b"y"))
    assert take_members(stream(*members), intake, skip_bytes=10_000)
    assert intake.files == ("junit.xml",)
    assert intake.refused == ("extra: not a file of a bundle",)


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    intake = Intake(out)
    names = (
        "out/../junit.xml",
        "../junit.xml",
        "/junit.xml",
        "junit.xml",
        "out/a/junit.xml",
        "out/..",
        "out/.",
        "out//",
    )
    assert take_members(stream(*((name, tarfile.REGTYPE, b"evil") for name in names)), intake, skip_bytes=100_000)
    assert intake.files == ()
    assert list(tmp_path.rglob("*")) == [out]


def test_links_and_devices_are_refused(tmp_path: Path) -> None:
    intake = Intake(tmp_path)
    kinds = {"junit.xml": tarfile.SYMTYPE, "cell.json": tarfile.LNKTYPE, "metrics.jsonl": tarfile.FIFOTYPE}
    kinds |= {"structure.json": tarfile.CHRTYPE, "environment.json": tarfile.DIRTYPE}
    assert take_members(
        stream(*((f"out/{name}", kind, b"") for name, kind in kinds.items())), intake, skip_bytes=10_000
    )
    assert intake.files == ()
    assert {line.split(":")[0] for line in intake.refused} == set(kinds)
    assert list(tmp_path.iterdir()) == []


def test_passing_over_too_much_ends_the_stream(tmp_path: Path) -> None:
    intake = Intake(tmp_path)
    members = (("out/core", tarfile.REGTYPE, b"x" * 5000), ("out/junit.xml", tarfile.REGTYPE, b"<x/>"))
    assert not take_members(stream(*members), intake, skip_bytes=4000)
    assert intake.files == ()


def test_a_single_file_lies_in_no_folder(tmp_path: Path) -> None:
    intake = Intake(tmp_path)
    assert take_members(stream(("junit.xml", tarfile.REGTYPE, b"<x/>")), intake, skip_bytes=0, within="")
    assert intake.files == ("junit.xml",)


def test_ten_thousand_files_beside_the_bundle_are_passed_over_and_counted(tmp_path: Path) -> None:
    intake = Intake(tmp_path)
    extra = ((f"out/x{number}", tarfile.REGTYPE, b"") for number in range(10_000))
    members = (FOLDER, *extra, ("out/../../evil", tarfile.REGTYPE, b"x"), ("out/junit.xml", tarfile.REGTYPE, b"<x/>"))
    assert take_members(stream(*members), intake, skip_bytes=64 << 20)
    assert intake.files == ("junit.xml",)
    assert [file.name for file in tmp_path.iterdir()] == ["junit.xml"]
    assert len(intake.refused) == 21
    assert intake.refused[-1] == "and 9981 more files"


def test_a_compile_cache_is_taken_whole(tmp_path: Path) -> None:
    taking = Taking(tmp_path)
    folders = (("cache/", tarfile.DIRTYPE, b""), ("cache/inductor/", tarfile.DIRTYPE, b""))
    take_cache(stream(*folders, ("cache/inductor/k.so", tarfile.REGTYPE, b"1")), taking)
    assert taking.whole
    assert (tmp_path / "inductor" / "k.so").read_bytes() == b"1"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cache/l", tarfile.SYMTYPE),
        ("cache/h", tarfile.LNKTYPE),
        ("cache/f", tarfile.FIFOTYPE),
        ("cache/../x", tarfile.REGTYPE),
        ("other/x", tarfile.REGTYPE),
        ("x", tarfile.REGTYPE),
    ],
)
def test_a_compile_cache_with_anything_else_in_it_is_not(tmp_path: Path, name: str, kind: bytes) -> None:
    out = tmp_path / "out"
    out.mkdir()
    taking = Taking(out)
    take_cache(stream(("cache/a", tarfile.REGTYPE, b"1"), (name, kind, b"")), taking)
    assert not taking.whole
    assert set(tmp_path.rglob("*")) == {out, out / "a"}
