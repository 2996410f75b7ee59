"""The cases that there are: short names, selection, and one that is lost."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import suites
from suites import cases
from suites.request import PROFILES

HERE = Path(suites.__file__).parent
THERE = {
    "loads/test_matmul.py::test_square[fp32]": ("smoke", "smoke"),
    "loads/test_matmul.py::test_square[bf16]": ("smoke", "standard"),
    "loads/test_model.py::test_training": ("deep", "deep"),
}
SQUARE, BF16, TRAINING = THERE


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (SQUARE, "matmul.square[fp32]"),
        (TRAINING, "model.training"),
        ("loads/test_x.py", "loads/test_x.py"),
        ("loads/test_x.py::test_a_test_[test_]", "x.a_test_[test_]"),
    ],
)
def test_short_names(name: str, short: str) -> None:
    assert cases.short(name) == short


@pytest.mark.parametrize(
    ("globs", "fitting"),
    [
        ((), [SQUARE, BF16, TRAINING]),
        (("matmul",), [SQUARE, BF16]),
        (("matmul.square",), [SQUARE, BF16]),
        (("matmul.square[[]bf16]",), [BF16]),
        (("matmul.square[bf16]",), [BF16]),
        (("*training",), [TRAINING]),
        (("model", "matmul.square[fp32]"), [SQUARE, TRAINING]),
        (("mat",), []),
    ],
)
def test_loads_are_chosen_by_file_by_name_or_by_the_whole_name(globs: tuple[str, ...], fitting: list[str]) -> None:
    assert [name for name in THERE if cases.fits(name, globs)] == fitting


def test_a_larger_profile_has_more_and_a_compiler_less() -> None:
    assert cases.chosen(THERE, "smoke", False, ()) == [SQUARE, BF16]
    assert cases.chosen(THERE, "smoke", True, ()) == [SQUARE]
    assert cases.chosen(THERE, "deep", True, ("model",)) == [TRAINING]


def test_the_listing_says_from_which_profile_on() -> None:
    assert cases.listing(THERE, "standard", ()).splitlines() == [
        "case                 runs from  compiled from",
        "matmul.square[fp32]  smoke      smoke",
        "matmul.square[bf16]  smoke      standard",
    ]


def test_what_is_lost_and_what_a_file_explains() -> None:
    expected = list(THERE)

    assert cases.lost(expected, expected) == []
    assert cases.lost(expected, [SQUARE, "session"]) == [BF16, TRAINING]
    assert cases.lost(expected, ["loads/test_matmul.py", TRAINING]) == []


def test_what_is_written_down_names_profiles() -> None:
    there = cases.read(HERE)

    assert there
    assert {least for pair in there.values() for least in pair} <= set(PROFILES)
    assert all(PROFILES.index(itself) <= PROFILES.index(compiled) for itself, compiled in there.values())
    assert cases.read(HERE / "loads") is None


@pytest.mark.torch
def test_what_is_written_down_is_what_there_is(snippet: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = snippet(f"""
import sys
sys.path.insert(0, {str(HERE.parent / "tests")!r})
import generate_cases
found = generate_cases.written(generate_cases.collected())
sys.exit(found != (generate_cases.SUITE / "cases.json").read_text() and "write it anew: make cases")
""")
    assert done.returncode == 0, done.stderr


def test_each_form_of_product_has_each_precision() -> None:
    there = cases.read(HERE)
    assert there is not None
    for form in ("square", "skinny", "batched"):
        names = {f"test_{form}[{precision}]" for precision in ("fp32", "tf32", "bf16", "fp16")} | {f"test_{form}_fp8"}
        assert {f"loads/test_matmul.py::{name}" for name in names} <= set(there)


def test_half_precision_meets_uneven_lengths_and_grouped_heads_and_each_kernel_goes_backward() -> None:
    there = cases.read(HERE)
    assert there is not None
    smoke = {name.partition("::test_")[2] for name, least in there.items() if least[0] == "smoke"}
    assert {"lengths[1-333-bf16]", "causal_lengths[129-bf16]", "grouped[2-bf16]"} <= smoke
    for kernel in ("math-fp32", "flash-bf16", "flash-fp16", "efficient-fp32", "cudnn-bf16"):
        assert {f"kernel_gradients[{kernel}-{mask}]" for mask in ("full", "causal")} <= smoke
    assert {f"kernel_lengths[{kernel}-65-129]" for kernel in ("flash", "efficient", "cudnn")} <= smoke
