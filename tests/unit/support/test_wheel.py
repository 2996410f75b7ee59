"""A wheel, read without installing it."""

import os
import struct
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator.errors import InputError
from orchestrator.support import wheel
from orchestrator.support.wheel import read


def test_a_wheel_says_what_it_is(make: SimpleNamespace, tmp_path: Path) -> None:
    found = read(make.torch_wheel(tmp_path))
    assert (found.name, found.version, found.local) == ("torch", "2.99.0", "cu141")
    assert found.pythons == ("3.13t",)
    assert found.platforms == ("manylinux_2_28_x86_64",)
    assert found.requires_python == ">=3.12.0"
    assert found.pins == {"triton": "4.2.1", "nvidia-nccl-cu14": "2.40.3"}
    assert found.said == {"cuda": "14.1"}


def test_code_is_counted_in_the_libraries_that_are_torchs_own(make: SimpleNamespace, tmp_path: Path) -> None:
    found = read(make.torch_wheel(tmp_path))
    assert found.code == {"sm_90": 8, "sm_150": 8, "ptx_150": 8, "sm_75": 1}
    assert (found.containers, found.compressed, found.glibc) == (9, 0, "2.28")


def test_every_library_of_another_package_is_read(make: SimpleNamespace, tmp_path: Path) -> None:
    files = {"kernels/_C.abi3.so": make.elf(make.fatbin(make.entry(2, 80)), glibc=("2.30",)), "kernels/x.txt": b"GLIBC"}
    path = make.wheel(
        tmp_path, "kernels-1.0-cp39-abi3-linux_x86_64.whl", "Name: Kernels\nVersion: 1.0+cu126.abi", files
    )
    found = read(path)
    assert (found.name, found.local, found.pythons) == ("kernels", "cu126.abi", (">=3.9",))
    assert (found.code, found.glibc, found.requires_python) == ({"sm_80": 1}, "2.30", "")


def test_names_of_packages_are_one_however_they_are_written(make: SimpleNamespace, tmp_path: Path) -> None:
    metadata = "Name: Torch_TensorRT\nVersion: 2.9.0\nRequires-Dist: Nvidia.NCCL_cu14 (==2.1)"
    found = read(make.wheel(tmp_path, "torch_tensorrt-2.9.0-py3-none-any.whl", metadata))
    assert (found.name, found.pins, found.pythons) == ("torch-tensorrt", {"nvidia-nccl-cu14": "2.1"}, ())


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ("Version: 1.0", "names no package and version"),
        ("Name: torch", "names no package and version"),
        ("Name: torch\nVersion: 1.0; rm -rf", "names no package and version"),
        ("Name: ../torch\nVersion: 1.0", "names no package and version"),
        ("Name: torch\nVersion: 1.0" + "\nX: y" * (1 << 20), "more than 4 MiB"),
    ],
)
def test_bad_metadata_is_told(make: SimpleNamespace, tmp_path: Path, metadata: str, says: str) -> None:
    path = make.wheel(tmp_path, "torch-1.0-py3-none-any.whl", metadata)
    with pytest.raises(InputError, match=says) as error:
        read(path)
    assert error.value.place == str(path)


def test_what_is_no_wheel_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.whl"
    for content in (b"", b"no zip", b"PK\3\4" + b"\0" * 40):
        path.write_bytes(content)
        with pytest.raises(InputError, match="no wheel that can be read"):
            read(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(InputError, match="no METADATA"):
        read(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a-1.dist-info/METADATA", "x")
        archive.writestr("b-1.dist-info/METADATA", "x")
    with pytest.raises(InputError, match="several METADATA"):
        read(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused(make: SimpleNamespace, tmp_path: Path) -> None:
    path = make.torch_wheel(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("torch/version.py", "cuda = '1.1'")
    with pytest.raises(InputError, match="two files in it have one name"):
        read(path)


def test_what_is_not_there_or_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "absent.whl")
    os.mkfifo(tmp_path / "pipe.whl")
    for path in (tmp_path, tmp_path / "pipe.whl"):
        with pytest.raises(InputError, match="no regular file"):
            read(path)


def test_a_bomb_is_not_unpacked(make: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel, "MAX_LIBRARY", 1 << 20)
    path = make.wheel(tmp_path, "a-1-py3-none-any.whl", "Name: a\nVersion: 1", {"a/_C.so": b"\0" * (2 << 20)})
    assert path.stat().st_size < 8192
    with pytest.raises(InputError, match="its libraries have more than"):
        read(path)
    monkeypatch.setattr(wheel, "MAX_MEMBERS", 2)
    with pytest.raises(InputError, match="it has 3 files"):
        read(path)


def test_a_directory_of_gigabytes_is_not_read(make: SimpleNamespace, tmp_path: Path) -> None:
    path = make.torch_wheel(tmp_path)
    data = bytearray(path.read_bytes())
    end = data.rindex(b"PK\5\6")
    with path.open("wb") as file:
        file.truncate(1 << 31)  # a hole: it takes no disk
        file.seek(1 << 31)
        file.write(data[end : end + 12] + struct.pack("<IIH", (1 << 31) - 1, 0, 0))
    with pytest.raises(InputError, match="its directory has more than 64 MiB"):
        read(path)


def test_a_method_that_asks_for_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a-1.dist-info/METADATA", "Name: a\nVersion: 1\n")
    with pytest.raises(InputError, match="compressed in a way that no wheel is"):
        read(path)


def test_damage_names_the_library(make: SimpleNamespace, tmp_path: Path) -> None:
    files = {"a/_C.so": make.fatbin(make.entry(2, 90))[:-4]}
    path = make.wheel(tmp_path, "a-1-py3-none-any.whl", "Name: a\nVersion: 1", files)
    with pytest.raises(InputError, match=r"`a/_C.so` in it: it is cut off") as error:
        read(path)
    assert error.value.place == str(path)
