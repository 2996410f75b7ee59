"""The program that runs inside images, run here with a torch that is not one."""

import json
import subprocess
import sys
import types
from pathlib import Path

import pytest

from orchestrator.images import contents


def torch(**version) -> types.SimpleNamespace:
    return types.SimpleNamespace(
        version=types.SimpleNamespace(**{"cuda": None, "hip": None, **version}),
        __version__=version.pop("name", "2.13.0"),
    )


@pytest.mark.parametrize(
    ("version", "build"),
    [
        ({}, "cpu"),
        ({"cuda": "13.0"}, "cu130"),
        ({"hip": "7.1.25424-abc"}, "rocm7.1"),
        ({"hip": "7.1.25424-abc", "cuda": "13.0"}, "rocm7.1"),
        ({"xpu": "20250301"}, "xpu"),
        ({"name": "2.6.0+xpu"}, "xpu"),
    ],
)
def test_the_build_is_what_torch_was_compiled_against(version, build):
    assert contents.build(torch(**version)) == build


@pytest.mark.parametrize(
    ("core", "told"),
    [
        ({}, ""),
        ({"_C": types.SimpleNamespace()}, ""),
        ({"_C": types.SimpleNamespace(_cuda_getArchFlags=lambda: None)}, ""),
        ({"_C": types.SimpleNamespace(_cuda_getArchFlags=lambda: "sm_90 compute_90")}, "sm_90 compute_90"),
    ],
)
def test_what_it_was_compiled_for_is_known_without_a_gpu(core, told):
    assert contents.architectures(types.SimpleNamespace(**core)) == told


def run(folder: Path, *packages: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", Path(contents.__file__).read_text(), *packages],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(folder)},
        timeout=60,
    )


def test_it_tells_axes_and_packages_behind_a_mark(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/version.py").write_text("cuda = '12.6'\nhip = None\n")
    (tmp_path / "torch/__init__.py").write_text(
        "from torch import version\n__version__ = '2.13.0+cu126'\nprint('hi')\n"
    )
    done = run(tmp_path, "pytest", "no-such-package")
    found = json.loads(done.stdout.splitlines()[-1].removeprefix(contents.MARK))

    assert done.returncode == 0
    assert (found["torch"], found["torch_build"], found["torch_from"]) == ("2.13.0+cu126", "cu126", "wheel")
    assert found["python"] == sys.version.split()[0]
    assert found["package pytest"] == pytest.__version__
    assert "package no-such-package" not in found


def test_without_torch_it_fails_and_says_nothing_behind_the_mark(tmp_path):
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\")\n")
    done = run(tmp_path)

    assert done.returncode != 0
    assert contents.MARK not in done.stdout
    assert "No module named 'torch'" in done.stderr


def test_a_library_that_crashes_when_python_ends_does_not_matter(tmp_path):
    (tmp_path / "torch.py").write_text(
        "import atexit, os, types\natexit.register(os.abort)\n__version__ = '1'\n"
        "version = types.SimpleNamespace(cuda=None, hip=None)\n"
    )
    assert run(tmp_path).returncode == 0
