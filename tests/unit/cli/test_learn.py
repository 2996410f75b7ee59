"""`facts learn`: a wheel or an image becomes facts."""

import json
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from orchestrator.cli import learn as verb
from orchestrator.errors import ExitCode, InfrastructureError, InputError
from orchestrator.images import prepare
from orchestrator.images.failure import BuildFailure, Stage
from orchestrator.model import Image
from orchestrator.vocabulary import Cause

Run = Callable[..., subprocess.CompletedProcess[str]]
WHEEL = "torch-2.99.0-cp313-cp313-manylinux_2_28_x86_64.whl"


@pytest.fixture(autouse=True)
def wheel(tmp_path: Path) -> None:
    metadata = "Name: torch\nVersion: 2.99.0+cu141\nRequires-Python: >=3.12\nRequires-Dist: triton==4.2.1\n"
    with zipfile.ZipFile(tmp_path / WHEEL, "w") as archive:
        archive.writestr("torch-2.99.0.dist-info/METADATA", metadata)


def test_a_wheel_is_shown_beside_what_was_believed_and_as_rows(torchmatrix: Run) -> None:
    done = torchmatrix("facts", "learn", WHEEL)
    assert (done.returncode, done.stderr) == (0, "")
    head, table, *yaml = done.stdout.split("\n\n")
    assert head.startswith(f"learned of {WHEEL}: ")
    assert [line.split()[:3] for line in table.splitlines() if line.startswith("new")][-1] == ["new", "triton", "4.2"]
    assert f"text: 'metadata: {WHEEL}'" in "\n".join(yaml)


def test_what_was_learned_is_believed_when_it_is_laid_over(torchmatrix: Run, tmp_path: Path) -> None:
    ask = ("check", "torch=2.99.0", "torch_build=cu141", "python=3.13")
    assert torchmatrix(*ask).returncode == ExitCode.NOTHING_SELECTED
    done = torchmatrix("facts", "learn", WHEEL, "--out", "own.yaml")
    assert done.stdout.endswith("facts    own.yaml\n")
    assert torchmatrix(*ask, "--facts", "own.yaml").returncode == 0
    assert torchmatrix("facts", "learn", WHEEL, "--facts", "own.yaml").stdout.startswith(
        f"learned of {WHEEL}: 5 same\n"
    )
    assert [path.name for path in tmp_path.glob("*own*")] == ["own.yaml"]


def test_json_holds_the_differences_and_the_rows(torchmatrix: Run) -> None:
    told = json.loads(torchmatrix("facts", "learn", WHEEL, "--json").stdout)
    assert told["of"] == WHEEL
    assert {one["axis"]: one["learned"] for one in told["learned"]}["torch_build"] == "cu141"
    assert {rule["name"] for rule in told["facts"]["rules"]} == {
        "index-mapping",
        "python-wheel",
        "glibc",
        "companion-pin",
    }


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("absent.whl", "absent.whl: No such file"),
        ("matrix.yaml", "it is no wheel that can be read"),
        ("--privileged", "--privileged"),
        ("Not An Image", "neither a wheel that is there nor the name of an image"),
    ],
)
def test_what_cannot_be_read_is_told(torchmatrix: Run, what: str, says: str) -> None:
    done = torchmatrix("facts", "learn", what)
    assert (done.returncode, done.stdout) == (ExitCode.BAD_INPUT, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_name_that_an_engine_would_take_for_an_option_is_refused() -> None:
    with pytest.raises(InputError):
        verb._contents("-v")


def test_an_image_is_asked_what_it_contains(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {"torch": "2.99.0+cu141", "torch_build": "cu141"}

    def prepared(wanted: Mapping[str, Mapping[str, str]], *_: object, **__: object) -> Mapping[str, Image]:
        return {
            key: Image(id=key, name=axes["image"], ref="x", axes=axes, observed=seen) for key, axes in wanted.items()
        }

    monkeypatch.setattr(prepare, "prepare_images", prepared)
    assert verb._contents("registry.example/a/pytorch@sha256:" + "0" * 64) == seen


def test_an_image_that_cannot_be_asked_is_the_engines_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    failure = BuildFailure(id="learn", stage=Stage.OBSERVE, reason="observe: no torch", log_tail="", cause=Cause.BUILD)
    monkeypatch.setattr(prepare, "prepare_images", lambda *_, **__: {"learn": failure})
    with pytest.raises(InfrastructureError, match="no torch"):
        verb._contents("pytorch:latest")
