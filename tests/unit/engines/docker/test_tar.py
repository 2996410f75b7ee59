import io
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.engines.docker.tar import Malformed, Member, TarStream


def archive(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as tar:
        for info, content in members:
            info.size = len(content) if info.isreg() else 0
            tar.addfile(info, io.BytesIO(content))
    return made.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def read(data: bytes) -> list[tuple[Member, bytes]]:
    stream = TarStream(io.BytesIO(data))
    return [(member, b"".join(stream.data())) for member in stream]


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@given(
    st.dictionaries(
        st.text("abcé/.", min_size=1, max_size=60).filter(lambda n: n.strip("/")), st.binary(max_size=1100), max_size=5
    )
)
def test_files_come_out_as_they_went_in(form: int, files: dict[str, bytes]) -> None:
    data = archive(*((entry(name.strip("/")), content) for name, content in files.items()), form=form)
    assert [(member.name, content) for member, content in read(data)] == [
        (name.strip("/"), content) for name, content in files.items()
    ]


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_long_name(form: int) -> None:
    name = "out/" + "n" * 200
    [(member, content)] = read(archive((entry(name), b"x"), form=form))
    assert (member.name, content) == (name, b"x")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (tarfile.SYMTYPE, "symbolic link"),
        (tarfile.LNKTYPE, "hard link"),
        (tarfile.DIRTYPE, "folder"),
        (tarfile.FIFOTYPE, "FIFO"),
        (tarfile.CHRTYPE, "device"),
        (tarfile.BLKTYPE, "device"),
    ],
)
def test_what_is_no_file_is_told(kind: bytes, said: str) -> None:
    found = read(archive((entry("a", kind, "/etc/passwd"), b""), (entry("b"), b"after")))
    assert [(member.kind, content) for member, content in found] == [(said, b""), ("file", b"after")]


def test_data_that_is_not_read_is_skipped() -> None:
    stream = TarStream(io.BytesIO(archive((entry("a"), b"x" * 5000), (entry("b"), b"y"))))
    assert [member.name for member in stream] == ["a", "b"]


def test_a_size_beyond_octal() -> None:
    info = entry("big")
    info.size = 10 << 30
    header = info.tobuf(tarfile.GNU_FORMAT)
    assert next(iter(TarStream(io.BytesIO(header)))).size == 10 << 30


def test_an_extended_header_may_not_be_large() -> None:
    info = entry("x", tarfile.XHDTYPE)
    info.size = 1 << 30
    with pytest.raises(Malformed, match="extended header of 1073741824 bytes"):
        list(TarStream(io.BytesIO(info.tobuf(tarfile.USTAR_FORMAT) + bytes(1024))))


@pytest.mark.parametrize("cut", [0, 100, 511, 512, 600, 1100])
def test_an_archive_that_breaks_off(cut: int) -> None:
    with pytest.raises(Malformed, match="ends in the middle"):
        read(archive((entry("a"), b"x" * 1000))[:cut])


def test_a_flipped_byte_in_a_header() -> None:
    data = bytearray(archive((entry("a"), b"x")))
    data[0] ^= 1
    with pytest.raises(Malformed, match="does not add up"):
        read(bytes(data))


@settings(max_examples=300)
@given(st.data())
def test_nonsense_is_malformed_and_nothing_else(data: st.DataObject) -> None:
    whole = bytearray(archive((entry("out/" + "é" * 120), b"x" * 600), (entry("b"), b"y"), form=tarfile.PAX_FORMAT))
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=6)):
        whole[place] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        for start in range(0, len(whole), 512):  # let a changed header pass its own check
            block = whole[start : start + 512]
            whole[start + 148 : start + 156] = b"%06o\0 " % (sum(block[:148]) + sum(block[156:]) + 256)
    try:
        found = read(bytes(whole))
    except Malformed:
        return
    assert sum(len(content) for _, content in found) <= len(whole)
