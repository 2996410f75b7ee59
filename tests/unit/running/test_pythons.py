import shutil
import sys
from pathlib import Path

import pytest

from orchestrator.running import pythons

US = f"{sys.version_info[0]}.{sys.version_info[1]}"


def program(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF")


def script(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_our_own_version_is_always_there(tmp_path: Path) -> None:
    assert pythons.installed({}) == (US,)
    assert pythons.installed({"PATH": f"{tmp_path / 'nowhere'}::"}) == (US,)


def test_what_is_on_the_path_and_what_uv_manages_newest_first(tmp_path: Path) -> None:
    program(tmp_path / "bin/python3.9")
    program(tmp_path / "bin/python3.99")
    for other in ("python3", "python3.9-config", "python2.7", "python3.10.so"):
        program(tmp_path / "bin" / other)
    program(tmp_path / "data/uv/python/cpython-3.98.1-linux-x86_64-gnu/bin/python3.98")
    found = pythons.installed({"PATH": str(tmp_path / "bin"), "XDG_DATA_HOME": str(tmp_path / "data")})
    assert found == ("3.99", "3.98", US, "3.9")
    moved = pythons.installed({"UV_PYTHON_INSTALL_DIR": str(tmp_path / "data/uv/python")})
    assert moved == ("3.98", US)


def test_a_stand_in_counts_only_where_it_leads_to_an_interpreter(tmp_path: Path) -> None:
    script(tmp_path / "python3.97", "echo Python 3.97.2")
    script(tmp_path / "python3.96", "echo 'pyenv: python3.96: command not found' >&2; exit 127")
    script(tmp_path / "python3.95", "echo Python 3.94.0")
    script(tmp_path / "python3.93", "echo Python 3.93.0")
    (tmp_path / "python3.93").chmod(0o644)
    assert pythons.installed({"PATH": str(tmp_path)}) == ("3.97", US)


def test_a_stand_in_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "python3.97", f"exec {shutil.which('sleep')} 60")
    monkeypatch.setattr(pythons, "DEADLINE_S", 0.1)
    assert pythons.installed({"PATH": str(tmp_path)}) == (US,)


def test_a_stand_in_is_not_asked_for_what_a_real_program_gives(tmp_path: Path) -> None:
    script(tmp_path / "shims/python3.97", f"touch {tmp_path}/asked; echo Python 3.97.2")
    program(tmp_path / "bin/python3.97")
    assert pythons.installed({"PATH": f"{tmp_path}/shims:{tmp_path}/bin"}) == ("3.97", US)
    assert not (tmp_path / "asked").exists()


def test_only_a_stand_in_that_matters_is_asked(tmp_path: Path) -> None:
    script(tmp_path / "python3.97", f"touch {tmp_path}/asked; echo Python 3.97.2")
    script(tmp_path / "python3.96", "echo Python 3.96.1")
    program(tmp_path / "python3.95")
    assert pythons.installed({"PATH": str(tmp_path)}, {"3.96"}) == ("3.96", "3.95", US)
    assert not (tmp_path / "asked").exists()
