"""What a file must be before its content is looked at; every refusal is one line and nothing hangs."""

import os
import tempfile
from pathlib import Path

import pytest

from orchestrator.errors import InputErrors
from orchestrator.matrix.source import MAX_BYTES, decode, name_of, read


def refusal(path: Path) -> str:
    with pytest.raises(InputErrors) as caught:
        read(path)
    assert len(caught.value.problems) == 1
    return str(caught.value).removeprefix(str(path))


def test_a_missing_file(tmp_path: Path) -> None:
    fact, hint = refusal(tmp_path / "no").splitlines()
    assert fact == ": there is no such file"
    assert hint == "hint: `torchmatrix init` writes one for this machine, --matrix names another file"


def test_a_directory(tmp_path: Path) -> None:
    assert refusal(tmp_path) == ": cannot be read: Is a directory"


def test_a_fifo_is_refused_without_waiting_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert refusal(tmp_path / "fifo") == ": is not a regular file"


def test_a_device() -> None:
    assert refusal(Path("/dev/zero")) == ": is not a regular file"


def test_a_symlink_loop(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert "symbolic link" in refusal(tmp_path / "loop")


def test_a_path_with_a_nul() -> None:
    with pytest.raises(InputErrors, match="cannot be read: embedded null byte"):
        read(Path("a\0b"))


def test_an_unreadable_file() -> None:
    """Root reads every file, so it is somebody else for a while, in a folder that everybody may enter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        path = Path(folder) / "closed"
        path.touch()
        path.parent.chmod(0o755)
        path.chmod(0o600 if os.geteuid() == 0 else 0)
        if os.geteuid() == 0:
            os.seteuid(65534)
        try:
            assert refusal(path) == ": cannot be read: Permission denied"
        finally:
            if os.getuid() == 0:
                os.seteuid(0)


def test_a_file_over_the_cap_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as stream:
        stream.truncate(100 << 30)
    assert refusal(path) == f": is larger than {MAX_BYTES >> 20} MiB"


def test_a_file_at_the_cap_is_read(tmp_path: Path) -> None:
    path = tmp_path / "full"
    path.write_bytes(b"#" * MAX_BYTES)
    assert len(read(path)) == MAX_BYTES


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("a: b".encode("utf-16"), "m:1:1: the file is UTF-16: save it as UTF-8"),
        ("a: b".encode("utf-16-be"), "m:1:1: character U+0000 has no place in a YAML file"),
        (b"a: b\nc: \xff", "m:2:4: byte 0xff is not UTF-8"),
        ("a: é".encode() + b"\xc3", "m:1:5: byte 0xc3 is not UTF-8"),
        (b"\xed\xa0\x80", "m:1:1: byte 0xed is not UTF-8"),
        (b"a: b\r\nc: \x00d", "m:2:4: character U+0000 has no place in a YAML file"),
        (b"a\rb\rc\x1b[31m", "m:3:2: character U+001B has no place in a YAML file"),
        ("a: \ufeffb".encode(), "m:1:4: character U+FEFF has no place in a YAML file"),
        (b"a: \x7f", "m:1:4: character U+007F has no place in a YAML file"),
        ("a: \ufffe".encode(), "m:1:4: character U+FFFE has no place in a YAML file"),
    ],
)
def test_what_is_not_text(data: bytes, told: str) -> None:
    with pytest.raises(InputErrors) as caught:
        decode(data, "m")
    assert str(caught.value) == told


@pytest.mark.parametrize("content", ["", "a: b\n", "é \U0001f600 \u20ac \ufdcf \ufe0f \uff21", "a\tb\r\nc\x85"])
def test_what_is_text(content: str) -> None:
    assert decode(content.encode(), "m") == content
    assert decode(b"\xef\xbb\xbf" + content.encode(), "m") == content


def test_the_name_of_a_file_is_one_line() -> None:
    assert name_of(Path("a\nb\x1b[31m.yaml")) == "a b.yaml"
