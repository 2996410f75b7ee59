import io
import os
import tarfile
from pathlib import Path

from orchestrator.engines.compile_cache import CompileCache
from orchestrator.engines.docker.container import _folders, _write_cache, owning_groups


def test_inputs_belong_to_root_and_results_to_the_cell() -> None:
    with tarfile.open(fileobj=io.BytesIO(_folders({"cell.json": b"{}"}, "10001:7"))) as tar:
        found = {info.name: (info.uid, info.gid, oct(info.mode), info.isdir()) for info in tar}
    assert found == {
        "in": (0, 0, "0o755", True),
        "out": (10001, 7, "0o755", True),
        "in/cell.json": (0, 0, "0o444", False),
    }


def test_groups_of_device_nodes(tmp_path: Path) -> None:
    (tmp_path / "renderD128").write_text("")
    (tmp_path / "by-path").mkdir()
    group = (tmp_path / "renderD128").stat().st_gid
    devices = [{"PathOnHost": str(tmp_path)}, {"PathOnHost": str(tmp_path / "renderD128")}, {"PathOnHost": "/none"}]
    assert owning_groups({"HostConfig": {"Devices": devices}}) == ((str(group),) if group else ())
    if os.geteuid() == 0:
        os.chown(tmp_path / "renderD128", -1, 44)
        assert owning_groups({"HostConfig": {"Devices": devices}}) == ("44",)


def test_no_devices_no_groups() -> None:
    assert owning_groups({"HostConfig": {}}) == ()


def test_a_compile_cache_is_the_cells_own_copy(tmp_path: Path) -> None:
    (tmp_path / "inductor" / "ab").mkdir(parents=True)
    (tmp_path / "inductor" / "ab" / "k.so").write_bytes(b"1")
    archive = io.BytesIO()
    _write_cache(CompileCache(kept=tmp_path, taken=tmp_path, work=tmp_path), "10001:7", archive)
    with tarfile.open(fileobj=io.BytesIO(archive.getvalue())) as tar:
        found = {info.name: (info.uid, info.gid, oct(info.mode), info.isdir()) for info in tar}
    folder = (10001, 7, "0o755", True)
    assert found == {
        "cache": folder,
        "cache/inductor": folder,
        "cache/inductor/ab": folder,
        "cache/inductor/ab/k.so": (10001, 7, "0o644", False),
    }
