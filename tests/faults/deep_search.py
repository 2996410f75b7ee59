"""Where a text stands in files, packed ones too: what is in an archive is searched as what lies beside it."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import duckdb

_STREAMS = {b"\x1f\x8b": gzip.decompress, b"\xfd7zXZ\0": lzma.decompress, b"BZh": bz2.decompress}
_UNREADABLE = (b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18")  # zstd and lz4, which Python does not unpack
_PARQUET = b"PAR1"
_TAR = b"ustar", 257  # and where it stands


def files_with(part: bytes, place: Path) -> list[str]:
    """Each file below a folder that has the bytes in its name or in it, and where in a packed one."""
    found = []
    for file in sorted(place.rglob("*")):
        name = str(file.relative_to(place))
        if part in file.name.encode(errors="surrogateescape"):
            found.append(name)
        if file.is_file() and not file.is_symlink():
            found += places(part, name, file.read_bytes())
    return found


def places(part: bytes, name: str, data: bytes) -> list[str]:
    """The names under which the bytes stand in this content; AssertionError for a form that cannot be looked into."""
    assert not data.startswith(_UNREADABLE), f"{name} is packed in a way that is not searched"
    found = [name] if part in data else []
    for inner, content in _unpacked(name, data):
        found += [inner] if part in inner.removeprefix(name).encode(errors="surrogateescape") else []
        found += places(part, inner, content)
    return found


def _unpacked(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    for magic, unpack in _STREAMS.items():
        if data.startswith(magic):
            yield f"{name}!", unpack(data)
    if data.startswith(b"PK\3\4"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield from ((f"{name}!{each}", archive.read(each)) for each in archive.namelist())
    if data[_TAR[1] :].startswith(_TAR[0]):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isreg() else None
                yield f"{name}!{member.name} {member.linkname}", file.read() if file else b""
    if data.startswith(_PARQUET):
        yield f"{name}!rows", _rows(data)


def _rows(table: bytes) -> bytes:
    """A Parquet file as text: what readers see of its rows, its columns and its own notes."""
    import tempfile

    with tempfile.NamedTemporaryFile() as file, duckdb.connect(":memory:") as database:
        file.write(table)
        file.flush()
        read = ("read_parquet", "parquet_metadata", "parquet_kv_metadata", "parquet_schema")
        return "\n".join(
            repr((database.description, rows))
            for rows in (database.execute(f"FROM {function}('{file.name}')").fetchall() for function in read)
        ).encode()
