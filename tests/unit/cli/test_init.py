import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import ExitCode
from orchestrator.matrix.document import read

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def _no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site that has no wheel at all: what vendors say decides alone."""
    (tmp_path / "none").mkdir()
    (tmp_path / "site.yaml").write_text(
        f"indexes: {{default: '{tmp_path.as_uri()}/none'}}\nextra_indexes: []\nfind_links: []\ncache: {tmp_path}/c\n"
    )
    monkeypatch.setenv("TORCHMATRIX_SITE", str(tmp_path / "site.yaml"))
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)


def test_what_is_written_is_planned_and_has_something_to_run(torchmatrix: Run, tmp_path: Path) -> None:
    done = torchmatrix("init", "sub/first.yaml", "--json")
    assert done.returncode == ExitCode.GOOD, done.stderr
    assert "cpu-eager" in json.loads(done.stdout)["rows"]
    assert "note: the rows are chosen by what vendors say alone" in done.stderr
    planned = torchmatrix("plan", "--matrix", "sub/first.yaml", "--tier", "all", "--json")
    assert planned.returncode == ExitCode.GOOD, planned.stderr
    assert any(cell["placement"]["placed"] for cell in json.loads(planned.stdout)["cells"])
    assert (tmp_path / "sub" / "first.yaml").read_text().startswith("# What production runs")


ON_ANOTHER_MACHINE = """
import sys
from pathlib import Path
from orchestrator.cli import main
from orchestrator.running import hosts
answers = sys.argv.pop() == "docker"
seen = hosts.World(root=Path("root"), probe_docker=lambda _: (answers, "Docker 27 at a socket"), find_uv=lambda: "uv")
hosts.real_world = lambda: seen
main()
"""
SIGHTS = {
    "etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\n',
    "proc/meminfo": "MemTotal:  67108864 kB\n",
    "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sat Aug 19\n",
    "proc/driver/nvidia/gpus/0000:1b:00.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\n",
    "proc/driver/nvidia/gpus/0000:29:00.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\n",
}


@pytest.mark.parametrize("engine", ["docker", "process"])
def test_what_is_found_on_the_machine_is_told_in_the_file_and_is_what_its_rows_are_for(
    tmp_path: Path, engine: str
) -> None:
    """A machine with two GPUs, Python 3.12 beside ours, and no compiler."""
    for name, content in SIGHTS.items():
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(content)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.12").write_bytes(b"\x7fELF")
    done = subprocess.run(
        [sys.executable, "-c", ON_ANOTHER_MACHINE, "init", "first.yaml", f"--engine={engine}", "--json", engine],
        cwd=tmp_path,
        env={**os.environ, "PATH": str(tmp_path / "bin")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == ExitCode.GOOD, done.stderr
    found = json.loads(done.stdout)["found"]
    assert "ubuntu24.04 on x86_64" in found[0]
    assert "64 GiB of memory, 2 x H100, driver 580.65.06" in found[0]
    assert found[1].startswith(f"engine: {engine} (")
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    pythons = sorted({"3.12", own}, key=lambda version: int(version[2:]), reverse=True)
    assert found[2:] == ([f"Python: {', '.join(pythons)}"] if engine == "process" else [])
    written = (tmp_path / "first.yaml").read_text()
    assert all(f"#   {line}" in written for line in found)
    matrix = read(written, "first.yaml", tmp_path)
    assert [runner.axes for runner in matrix.runners] == [{"driver": "580", "gpu": "H100", "gpus": "2"}]
    rows = {row.name: row.axes for row in matrix.production}
    assert (rows["h100-eager"]["gpu"], rows["h100-eager"]["driver"]) == ("H100", "580")
    assert {row["python"] for row in rows.values()} <= ({*pythons} if engine == "process" else {"3.11"})
    assert ("cpu-inductor" in rows) == (engine == "docker")  # a container brings its compiler


def test_no_file_is_written_over(torchmatrix: Run, tmp_path: Path) -> None:
    before = (tmp_path / "matrix.yaml").read_text()
    done = torchmatrix("init")
    assert done.returncode == ExitCode.BAD_INPUT
    assert "matrix.yaml: there is a file already" in done.stderr
    assert (tmp_path / "matrix.yaml").read_text() == before
    (tmp_path / "link.yaml").symlink_to("/nowhere/at/all")
    assert torchmatrix("init", "link.yaml").returncode == ExitCode.BAD_INPUT


def test_a_file_that_somebody_made_meanwhile_stays(tmp_path: Path) -> None:
    making = """
from pathlib import Path
from orchestrator.cli import main
from orchestrator.matrix import starter
real = starter.starter
def meanwhile(*arguments):
    Path("new.yaml").write_text("theirs")
    return real(*arguments)
starter.starter = meanwhile
main()
"""
    command = [sys.executable, "-c", making, "init", "new.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == ExitCode.BAD_INPUT, done.stderr
    assert "new.yaml: there is a file already" in done.stderr
    assert (tmp_path / "new.yaml").read_text() == "theirs"
    assert not list(tmp_path.glob(".new.yaml*"))
    done = subprocess.run([*command, "--force"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == ExitCode.GOOD, done.stderr
    assert (tmp_path / "new.yaml").read_text() != "theirs"


def test_a_folder_that_takes_nothing_is_told(torchmatrix: Run) -> None:
    done = torchmatrix("init", "/proc/nowhere/matrix.yaml")
    assert done.returncode == ExitCode.INFRASTRUCTURE
    assert "/proc/nowhere" in done.stderr


def test_an_index_that_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    impatient = """
from orchestrator.cli import init, main
init._PATIENCE_S = 2.0
main()
"""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        (tmp_path / "site.yaml").write_text(f"indexes: {{default: 'http://127.0.0.1:{port}'}}\ncache: {tmp_path}/c\n")
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", impatient, "init", "new.yaml"],
            cwd=tmp_path,
            env={**os.environ, "NO_PROXY": "127.0.0.1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == ExitCode.GOOD, done.stderr
    assert "note: the indexes of this site did not tell all within 2 s: torchmatrix site --check" in done.stderr
    assert "not in the indexes" not in done.stderr
    assert "wrote new.yaml" in done.stderr
    assert time.monotonic() - begun < 40
