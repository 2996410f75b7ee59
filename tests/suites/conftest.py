"""What the tests of the suite share: an interpreter that has torch, and one bundle that a real run left."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Result = subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def torch_python() -> str:
    """The interpreter with torch: this one, else the one that TORCHMATRIX_TEST_PYTHON names."""
    for python in (sys.executable, os.environ.get("TORCHMATRIX_TEST_PYTHON", "")):
        if (
            python
            and subprocess.run([python, "-c", "import torch, pytest"], check=False, capture_output=True).returncode == 0
        ):
            return python
    pytest.skip("no torch here: name an interpreter that has torch and pytest in TORCHMATRIX_TEST_PYTHON")


@pytest.fixture(scope="session")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables that a process of the suite gets; what it leaves behind goes with pytest's own folders."""
    temporary = str(tmp_path_factory.mktemp("t"))  # short: the path of a socket in it has 107 bytes
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": temporary}


@pytest.fixture(scope="session")
def suite(
    torch_python: str, surroundings: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Result]:
    """Runs `python -m suites` with these options, from an empty folder."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")

    def run(*options: str, folder: Path = elsewhere, **variables: str) -> Result:
        environment = {**surroundings, **variables}
        command = [torch_python, "-m", "suites", *options]
        return subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=folder, env=environment, timeout=600
        )

    return run


@pytest.fixture(scope="session")
def snippet(torch_python: str, surroundings: dict[str, str]) -> Callable[..., Result]:
    """Runs a piece of Python where torch is."""

    def run(code: str, *arguments: str) -> Result:
        command = [torch_python, "-c", code, *arguments]
        return subprocess.run(command, check=False, capture_output=True, text=True, env=surroundings, timeout=600)

    return run


@pytest.fixture(scope="session")
def eager_bundle(suite: Callable[..., Result], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of one small eager run on the processor."""
    out = tmp_path_factory.mktemp("run") / "made" / "by-the-suite"
    done = suite("--device", "cpu", "--size", "64", "--steps", "2", "--out", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    return out
