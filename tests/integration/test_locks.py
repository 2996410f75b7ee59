"""The project's own locks, and a lock that no longer holds, in a real run."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from orchestrator import schemas
from orchestrator.axes import image_id
from orchestrator.images.lock import Lock
from orchestrator.images.locks import LockedBase, LockedWheel, held_in, lock_file, place_of_lock, read_lock, write_lock
from orchestrator.images.recipe import checked
from orchestrator.images.resolve import Wheel
from orchestrator.matrix.document import load

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "images" / "locks"
COMMAND = [sys.executable, "-c", "from orchestrator.cli import main; main()"]
MATRIX = """\
version: 1
axes: {{torch: [2.13.0], torch_build: [cpu], python: ["{python}"]}}
production:
  - {{name: only, torch: 2.13.0, torch_build: cpu, python: "{python}"}}
"""


def torchmatrix(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
        timeout=300,
        env={**os.environ, **environ},
    )


def axes_of(row: str) -> dict[str, str]:
    (found,) = [one for one in load(ROOT / "matrix.yaml").production if one.name == row]
    return checked(found.axes)


def wheels_of(row: str) -> dict[str, LockedWheel]:
    lock = read_lock(LOCKS, image_id(axes_of(row)))
    assert lock, f"{row} has no lock"
    return {wheel.name: wheel for wheel in (*lock.wheels.torch, *lock.wheels.companions, *lock.wheels.tools)}


def test_the_locks_of_the_project_fit_its_matrix() -> None:
    done = torchmatrix("lock", "--check", "--offline", cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("other", ["cpu-openvino", "cpu-openvino-next"])
def test_two_openvino_rows_differ_in_openvino_alone(other: str) -> None:
    one, two = wheels_of("cpu-openvino-lts"), wheels_of(other)
    assert {name for name in one | two if one.get(name) != two.get(name)} == {"openvino"}


def test_the_rows_without_openvino_have_the_same_numpy_and_the_same_torch() -> None:
    plain, beside = wheels_of("cpu-eager"), wheels_of("cpu-openvino")
    assert plain.items() <= beside.items()
    bases = {read_lock(LOCKS, image_id(axes_of(row))).base for row in ("cpu-eager", "cpu-openvino", "cpu-openvino-lts")}
    assert len(bases) == 1


def test_no_lock_holds_a_place_of_this_machine_or_an_address() -> None:
    held = held_in(LOCKS)
    assert held.unreadable == {}
    assert len(held.locks) >= 7
    for path in LOCKS.glob("*.lock.toml"):
        content = path.read_text()
        jsonschema.validate(tomllib.loads(content), schemas.read("lock-file"))
        assert "://" not in content, path
        assert str(Path.home()) not in content, path


def test_a_row_that_is_locked_anew_on_the_real_index_takes_what_its_neighbours_have(tmp_path: Path) -> None:
    """Its own newest numpy would be another one: OpenVINO of the neighbour holds it back, and no rule parts the two."""
    shutil.copy(ROOT / "matrix.yaml", tmp_path)
    shutil.copytree(LOCKS, tmp_path / "images" / "locks")
    again = place_of_lock(tmp_path / "images" / "locks", image_id(axes_of("cpu-openvino")))
    before = again.read_text()
    again.unlink()
    done = torchmatrix("lock", "--select", "cpu-openvino", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert again.read_text() == before


def test_a_wheel_that_no_index_has_any_more_is_an_error_of_its_cell_with_the_cause(tmp_path: Path) -> None:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / "matrix.yaml").write_text(MATRIX.format(python=python))
    (tmp_path / "index").mkdir()
    axes = checked({"torch": "2.13.0", "torch_build": "cpu", "python": python})
    gone, numpy, pytest_ = (
        Wheel(name=name, version=version, file=f"{name}-{version}-py3-none-any.whl", sha256=digit * 64, url="")
        for name, version, digit in (("torch", "2.13.0+cpu", "0"), ("numpy", "2.4.6", "1"), ("pytest", "9.1.0", "2"))
    )
    held = Lock(torch=(gone,), companions=(numpy,), tools=(pytest_,))
    base = LockedBase(name="debian12", digest=f"sha256:{'a' * 64}")
    write_lock(tmp_path / "images" / "locks", lock_file(image_id(axes), axes, base, held))
    done = torchmatrix(
        *("run", "--here", "--engine", "process"),
        cwd=tmp_path,
        PIP_CONFIG_FILE=os.devnull,
        PIP_FIND_LINKS="",
        TORCHMATRIX_INDEXES=f"default={(tmp_path / 'index').as_uri()}",
        TORCHMATRIX_CACHE=str(tmp_path / "cache"),
    )
    assert done.returncode == 4, done.stdout + done.stderr
    (summary,) = (tmp_path / "runs").glob("*/summary.json")
    (cell,) = json.loads(summary.read_text())["cells"]
    assert (cell["status"], cell["cause"]) == ("error", "lock stale")
    assert (
        "torch 2.13.0+cpu is locked, and this site has no torch-2.13.0+cpu-py3-none-any.whl any more" in cell["reason"]
    )
    assert "`torchmatrix lock --upgrade`" in cell["reason"]
