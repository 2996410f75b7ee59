"""Usage: what would be ignored, or cannot be, is told with both options and what to do."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from suites import usage
from suites.cell import requested
from suites.request import UsageError, parse

Snippet = Callable[..., subprocess.CompletedProcess[str]]

THERE = {
    "loads/test_matmul.py::test_square[fp32]": ("smoke", "smoke"),
    "loads/test_matmul.py::test_uneven": ("standard", "standard"),
    "loads/test_checkpoint.py::test_round_trip": ("smoke", "standard"),
    "loads/test_checkpoint.py::test_of_another_cell": ("smoke", "standard"),
}


def refusal(*options: str) -> str:
    """What is said of the checkpoints on a command line, or an empty text."""
    request = parse(options)
    try:
        usage.hold_checkpoints(THERE, requested(request), request)
    except UsageError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("glob", "profile", "compiled", "told"),
    [
        ("matmul", "smoke", True, None),
        ("matmul.uneven", "standard", False, None),
        (
            "matmul.uneven",
            "smoke",
            False,
            "--load matmul.uneven chooses nothing in profile smoke: add --profile standard",
        ),
        (
            "checkpoint",
            "smoke",
            True,
            "--load checkpoint chooses nothing in profile smoke through a compile backend: add --profile standard",
        ),
        ("x", "deep", False, "no load is named x: there are checkpoint, matmul; --list prints each case"),
        ("sqare", "deep", False, "no load is named sqare: there are checkpoint, matmul; --list prints each case"),
    ],
)
def test_each_load_chooses_something(glob: str, profile: str, compiled: bool, told: str | None) -> None:
    said = None
    try:
        usage.hold_loads(THERE, profile, compiled, ["matmul.square", glob])
    except UsageError as error:
        said = str(error)
    assert said == told


def test_a_load_that_is_misspelt_is_told_the_nearest() -> None:
    with pytest.raises(
        UsageError, match=r"matmul\.sqare \(did you mean matmul\.square\?\): there are checkpoint, matmul;"
    ):
        usage.hold_loads(THERE, "deep", False, ["matmul.sqare"])


def test_a_checkpoint_that_no_chosen_case_heeds(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.pt"
    theirs.write_bytes(b"")
    ours = str(tmp_path / "ours.pt")

    assert refusal("--checkpoint", str(theirs), "--save-checkpoint", ours) == ""
    assert refusal("--checkpoint", str(theirs), "--load", "matmul", "--load", "checkpoint") == ""
    assert (
        refusal("--checkpoint", str(theirs), "--load", "matmul", "--load", "checkpoint.round_trip")
        == "--checkpoint would be ignored, --load matmul --load checkpoint.round_trip leaves out"
        " checkpoint.of_another_cell: add --load checkpoint"
    )
    assert (
        refusal("--save-checkpoint", ours, "--load", "matmul")
        == "--save-checkpoint would be ignored, --load matmul leaves out checkpoint.round_trip: add --load checkpoint"
    )
    assert (
        refusal("--save-checkpoint", ours, "--compile") == "--save-checkpoint would be ignored, profile smoke through a"
        " compile backend has no checkpoint.round_trip: add --profile standard"
    )
    assert refusal("--save-checkpoint", ours, "--compile", "--profile", "standard") == ""
    assert not Path(ours).exists(), "what is looked at is not written"


def test_a_checkpoint_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")

    assert (
        refusal("--checkpoint", str(tmp_path / "none")) == f"--checkpoint {tmp_path / 'none'}: no file that can be read"
    )
    assert refusal("--checkpoint", str(tmp_path)) == f"--checkpoint {tmp_path}: no file that can be read"
    lost = tmp_path / "none" / "c.pt"
    assert refusal("--save-checkpoint", str(lost)) == f"--save-checkpoint {lost}: there is no folder {lost.parent}"
    assert refusal("--save-checkpoint", str(tmp_path)) == f"--save-checkpoint {tmp_path}: it is no file"
    assert refusal("--save-checkpoint", "/proc/c.pt").startswith(
        "--save-checkpoint /proc/c.pt: nothing can be written to"
    )
    assert "--save-checkpoint" in refusal("--save-checkpoint", str(file / "c.pt"))


def test_one_file_for_both_would_be_compared_with_itself(tmp_path: Path) -> None:
    file = tmp_path / "c.pt"
    file.write_bytes(b"")
    (tmp_path / "link.pt").symlink_to(file)

    told = refusal("--checkpoint", str(file), "--save-checkpoint", str(tmp_path / "link.pt"))

    assert told.startswith("--checkpoint and --save-checkpoint both name")


@pytest.mark.torch
def test_a_backend_that_is_misspelt_and_one_that_may_not_be_installed(snippet: Snippet) -> None:
    done = snippet("""
import torch
if not hasattr(torch, "compile"): raise SystemExit(77)
from suites import usage
from suites.request import UsageError
for name in (None, "eager", "inductor", "openvino", "torch_tensorrt", "cudagraphs", "ipex", "tensorrt", "tvm"):
    usage.hold_backend(name)
for name, near in (("inducter", "inductor"), ("opnvino", "openvino"), ("torch-tensorrt", "torch_tensorrt")):
    try:
        usage.hold_backend(name)
    except UsageError as error:
        assert f"--backend {name}: there is no such backend (did you mean {near}?): known are " in str(error), error
    else:
        raise SystemExit(f"{name} was taken")
""")
    if done.returncode == 77:
        pytest.skip("this torch has no torch.compile")
    assert done.returncode == 0, done.stderr


def test_without_a_torch_the_run_itself_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    monkeypatch.delitem(__import__("sys").modules, "suites.backends", raising=False)
    usage.hold_backend("inducter")
