"""A cell that runs in a process: what compilers leave reaches the next cell only from one that passed."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import pytest
from planned_run import HOST, TINY, planned

from orchestrator.engines.compile_cache import files
from orchestrator.engines.process.run import ProcessEngine
from orchestrator.model import Image
from orchestrator.running import cells, journal
from orchestrator.running.compile_store import CompileStore
from orchestrator.running.schedule import Turn

COUNTING = """
import os
from pathlib import Path
place = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
place.mkdir(parents=True, exist_ok=True)
seen = len(list(place.iterdir()))
(place / f"kernel-{seen}").write_text(str(place))
"""
USE = {"load": "l", "backend": "inductor", "graphs": 1, "graph_breaks": 0, "break_reasons": []}
USE |= {"taken": 1, "expected": 1, "unit": "graphs"}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], dict[str, str]]:
    """Runs a cell whose suite adds one file to its compile cache; returns what is kept afterwards."""
    monkeypatch.setattr(cells, "CPUINFO", tmp_path / "cpuinfo")
    (tmp_path / "cpuinfo").write_text("model name : M\n")
    package = tmp_path / "ours" / "suites"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    tiny = (TINY / "suites" / "__main__.py").read_text()
    (package / "__main__.py").write_text(COUNTING + tiny.replace('"backends": backends', f'"backends": [{USE}]'))
    engine, root = ProcessEngine(), tmp_path / "compile"

    said: list[str] = []

    def once(does: str, compiler: str) -> dict[str, str]:
        made = planned(does, 1)
        cell = msgspec.structs.replace(made, axes={**made.axes, "backend": "inductor"})
        monkeypatch.setattr("orchestrator.running.compile_key.toolchain", lambda *_: compiler)
        out = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
        out.mkdir()
        host = msgspec.structs.replace(HOST, engine="process")
        image = Image(id=cell.image, name="venv", ref=sys.executable, axes={}, observed={})
        with journal.opened(out, {}) as log:
            caches = CompileStore(root, said.append)
            setting = cells.Setting(
                out=out, engine=engine, host=host, suites=package.parent, journal=log, caches=caches
            )
            cells.run_cell(Turn(cell=cell, devices=()), partial(_same, image), setting, lambda: False, said.append)
        return {name: path.read_text() for name, path in files(root) if "kernel" in name}

    return once


def _same(image: Image) -> Image:
    return image


def test_the_next_cell_of_the_same_key_finds_it_at_the_same_path(run: Callable[[str, str], dict[str, str]]) -> None:
    assert len(run("pass", "g++ 12")) == 1
    found = run("pass", "g++ 12")
    assert sorted(name.rpartition("/")[2] for name in found) == ["kernel-0", "kernel-1"]
    assert len(set(found.values())) == 1, "some compilers write the path into what they make"


def test_another_compiler_version_begins_with_nothing(run: Callable[[str, str], dict[str, str]]) -> None:
    run("pass", "g++ 12")
    found = run("pass", "g++ 14")
    assert sorted(name.rpartition("/")[2] for name in found) == ["kernel-0", "kernel-0"]


@pytest.mark.parametrize("does", ["fail", "abort", "exit-0", "die-at-exit"])
def test_a_cell_that_did_not_pass_leaves_nothing(run: Callable[[str, str], dict[str, str]], does: str) -> None:
    assert run(does, "g++ 12") == {}
