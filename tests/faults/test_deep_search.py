"""The search that the tests of secrets lean on."""

import io
import tarfile
import zipfile
from pathlib import Path

import duckdb
import pytest
from deep_search import files_with

PART = "81xWq7Lk"


def archive(form: str, name: str, content: bytes) -> bytes:
    """One file in an archive of that form."""
    packed = io.BytesIO()
    if form == "zip":
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as zipped:
            zipped.writestr(name, content)
    else:
        with tarfile.open(fileobj=packed, mode="w:gz" if form == "tgz" else "w") as tarred:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tarred.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def test_a_value_is_found_wherever_it_stands(tmp_path: Path) -> None:
    """In names, and packed in each way, one in another too."""
    value = PART.encode()
    (tmp_path / "plain").write_bytes(b"\0" + value)
    (tmp_path / f"named-{PART}").touch()
    (tmp_path / "zip").write_bytes(archive("zip", "a", value * 9))
    (tmp_path / "zip-name").write_bytes(archive("zip", PART, b""))
    (tmp_path / "save").write_bytes(archive("tar", "layer.tar", archive("tgz", "root/file", value * 9)))
    (tmp_path / "gz-name").write_bytes(archive("tgz", PART, b""))
    with duckdb.connect(":memory:") as database:
        for name, row in (("rows", f"repeat('{PART}', 9) AS a"), ("column", f"1 AS a{PART}")):
            database.execute(
                f"COPY (SELECT {row} FROM range(99)) TO '{tmp_path / name}' (FORMAT parquet, COMPRESSION zstd)"
            )
    (tmp_path / "clean").write_bytes(archive("tar", "a", archive("zip", "b", b"nothing")))
    found = {name.partition("!")[0] for name in files_with(PART.encode(), tmp_path)}
    assert found == {path.name for path in tmp_path.iterdir()} - {"clean"}
    (tmp_path / "unknown").write_bytes(b"\x28\xb5\x2f\xfd")
    with pytest.raises(AssertionError, match="unknown is packed in a way that is not searched"):
        files_with(PART.encode(), tmp_path)
