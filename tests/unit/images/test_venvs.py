"""Venvs from the index of tiny wheels, made by the real uv."""

import subprocess
import sys

import pytest

from orchestrator.axes import image_id
from orchestrator.images.failure import BuildFailure, StageFailed
from orchestrator.images.prepare import prepare_venvs
from orchestrator.images.venvs import find_python
from orchestrator.vocabulary import Cause

PYTHON = ".".join(map(str, sys.version_info[:2]))


@pytest.fixture
def here(cpu):
    return {**cpu, "python": PYTHON}


def prepare(site, *axes):
    said: list[str] = []
    return list(prepare_venvs({image_id(each): each for each in axes}, site, say=said.append).values()), said


def test_a_venv_holds_the_locked_wheels_and_is_made_once(here, site):
    (image,), said = prepare(site, here)
    (again,), said_again = prepare(site, here)

    assert image == again
    assert any("making" in line for line in said)
    assert said_again == []
    assert image.observed["torch"] == "2.13.0+cpu"
    assert image.observed["numpy"] == "2.4.6"
    printed = subprocess.check_output([image.ref, "-c", "import torch; print(torch.__version__)"], text=True)
    assert printed == "2.13.0+cpu\n"


def test_a_half_made_venv_is_made_anew(here, site):
    (image,), _ = prepare(site, here)
    (folder,) = (path for path in (site.cache / "venvs").iterdir() if path.is_dir())
    (folder / "torchmatrix.done").unlink()
    (folder / "bin" / "python").unlink()
    (again,), said = prepare(site, here)

    assert again == image
    assert any("making" in line for line in said)
    assert (folder / "bin" / "python").exists()


def test_what_a_venv_cannot_be_is_a_failure_and_the_others_are_made(here, trixie, site):
    (distribution, image), _ = prepare(site, trixie, here)

    assert isinstance(distribution, BuildFailure)
    assert (distribution.stage, distribution.cause) == ("base", Cause.MISSING_PACKAGE)
    assert image.observed["torch_build"] == "cpu"


def test_a_wheel_that_does_not_unpack_is_a_build_failure(here, site, wheels, commands):
    (_,), _ = prepare(site, here)
    for wheel in (site.cache / "wheels").rglob("sympy-*.whl"):
        wheel.write_bytes(b"not a wheel")
    (failed,), _ = prepare(site, {**here, "openvino": "2025.4.1"})

    assert failed.stage == "build"
    assert "sympy" in failed.log_tail


def test_a_python_that_is_not_here_says_how_to_have_it(site, commands):
    with pytest.raises(StageFailed, match=r"this machine has no Python 3\.99") as caught:
        find_python("3.99", site, commands)

    assert "uv python install 3.99" in caught.value.hint


@pytest.mark.parametrize("name", ["a b", "'", '"', "';id;'", "$(touch owned)", "ü"])
def test_a_cache_may_have_any_name(here, with_site, tmp_path, name):
    (image,), _ = prepare(with_site(cache=tmp_path / name), here)

    assert image.ref.startswith(str(tmp_path / name))
    assert image.observed["torch"] == "2.13.0+cpu"
    assert not (tmp_path / "owned").exists()
