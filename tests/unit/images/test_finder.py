"""The program that runs inside ready images, run here among interpreters that are scripts."""

import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.images import finder


def python(place: Path, *, torch: bool) -> Path:
    """An interpreter that says whether it has torch, and its own name where it is asked for anything else."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(
        f'#!/bin/sh\ncase "$2" in *find_spec*) exit {0 if torch else 1} ;; esac\necho "became $0 with $*"\n'
    )
    place.chmod(0o755)
    return place


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A Python that runs and has no torch: a venv with nothing in it."""
    place = tmp_path / "bare/bin/python3"
    place.parent.mkdir(parents=True)
    real = Path(sys.executable).resolve()
    place.symlink_to(real)
    (tmp_path / "bare/pyvenv.cfg").write_text(f"home = {real.parent}\ninclude-system-site-packages = false\n")
    return place


def run(begun_with: Path, environ: dict[str, str]) -> str:
    done = subprocess.run(
        [begun_with, "-c", Path(finder.__file__).read_text(), "print('the script ran')", "package"],
        capture_output=True,
        text=True,
        check=True,
        env=environ,
        timeout=60,
    )
    return done.stdout.strip()


def test_the_one_with_torch_is_become_with_the_script_and_its_arguments(bare, tmp_path):
    other, full = python(tmp_path / "a/python3", torch=False), python(tmp_path / "env/bin/python3", torch=True)

    assert (
        run(bare, {"PATH": f"{other.parent}:{full.parent}"}) == f"became {full} with -c print('the script ran') package"
    )
    assert run(bare, {"PATH": str(other.parent), "VIRTUAL_ENV": str(tmp_path / "env")}).startswith(f"became {full}")
    assert run(bare, {"PATH": "", "CONDA_PREFIX": str(tmp_path / "env")}).startswith(f"became {full}")


def test_those_that_are_named_come_before_those_on_the_path(tmp_path):
    named, on_path = python(tmp_path / "env/bin/python3", torch=True), python(tmp_path / "p/python3", torch=True)
    found = finder.candidates({"VIRTUAL_ENV": str(tmp_path / "env"), "PATH": str(on_path.parent)})

    assert found[0] == sys.executable
    assert found.index(str(named)) < found.index(str(on_path))
    assert len(found) == len(set(found)) <= 40


def test_what_hangs_or_is_no_program_has_no_torch(tmp_path, monkeypatch):
    monkeypatch.setattr(finder, "_DEADLINE_S", 0.2)
    hangs = python(tmp_path / "hangs", torch=True)
    hangs.write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)

    assert not finder.has_torch(str(hangs))
    assert not finder.has_torch(str(tmp_path / "text"))
    assert not finder.has_torch(str(tmp_path / "none"))


def test_one_that_has_torch_itself_stays_what_it_is(bare, tmp_path):
    (tmp_path / "torch.py").write_text("")
    full = python(tmp_path / "env/bin/python3", torch=True)

    assert run(bare, {"PATH": str(full.parent), "PYTHONPATH": str(tmp_path)}) == "the script ran"
