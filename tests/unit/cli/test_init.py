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
