"""The loads as instruments: a device that reports healthy and computes wrongly is caught, and by the right load."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from suites import bundle

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

RUN = """
import sys
import torch
{fault}
from suites import command
sys.exit(command.main(["--device", "cpu", "--size", "64", "--steps", "1", "--out", sys.argv[1], *sys.argv[2:]]))
"""


def failures(snippet: Snippet, folder: Path, fault: str, *loads: str) -> dict[str, str]:
    """Name -> message of each case that failed, with a fault in torch; the loads are those of these globs."""
    chosen = [word for load in ("environment.*", *loads) for word in ("--load", load)]
    done = snippet(RUN.format(fault=fault), str(folder), *chosen)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    found = ET.fromstring((folder / bundle.JUNIT).read_bytes()).iter("testcase")
    return {
        str(case.get("name")).rpartition("::")[2]: str(case[0].get("message"))
        for case in found
        if len(case) and case[0].tag == "failure"
    }


def test_nothing_fails_where_nothing_is_wrong(snippet: Snippet, tmp_path: Path) -> None:
    assert failures(snippet, tmp_path, "", "matmul.*", "elementwise.*") == {}


def test_a_device_that_reports_healthy_and_computes_wrongly(snippet: Snippet, tmp_path: Path) -> None:
    # The health check multiplies whole numbers, which stay exact.
    fault = """
right = torch.matmul
def wrong(left, other):
    whole = bool((left == left.round()).all())
    return right(left, other) * (1 if whole or left.dtype == torch.float64 else 1.0005)
torch.matmul = wrong
"""
    found = failures(snippet, tmp_path, fault, "matmul.*")

    named = {"test_square[fp32]", "test_skinny[fp32]", "test_batched[fp32]", "test_gradients[fp32]"}
    assert set(found) == named
    assert all(message.startswith("numerics: error against fp64 is 5.00e-04") for message in found.values())


def test_a_product_that_is_wrong_in_one_precision_only(snippet: Snippet, tmp_path: Path) -> None:
    fault = """
right = torch.matmul
torch.matmul = lambda left, other: right(left, other) * (1.1 if left.dtype == torch.bfloat16 else 1)
"""
    found = failures(snippet, tmp_path, fault, "matmul.*")

    assert set(found) == {"test_square[bf16]"}
    assert "(bf16," in found["test_square[bf16]"]


def test_a_softmax_that_is_wrong_in_half_precision_only(snippet: Snippet, tmp_path: Path) -> None:
    fault = """
right = torch.softmax
torch.softmax = lambda x, dim: right(x, dim) * (1.1 if x.dtype in (torch.bfloat16, torch.float16) else 1)
"""
    found = failures(snippet, tmp_path, fault, "elementwise.softmax", "elementwise.layer_norm")

    assert set(found) == {"test_softmax[bf16]", "test_softmax[fp16]"}


def test_attention_that_is_wrong_for_some_lengths_in_half_precision_only(snippet: Snippet, tmp_path: Path) -> None:
    fault = """
from torch.nn import functional
right = functional.scaled_dot_product_attention
def wrong(query, key, value, **more):
    uneven = key.shape[-2] % 2 and query.dtype == torch.bfloat16
    return right(query, key, value, **more) * (1.1 if uneven else 1)
functional.scaled_dot_product_attention = wrong
"""
    found = failures(snippet, tmp_path, fault, "attention.lengths", "attention.sdpa")

    assert set(found) == {f"test_lengths[{lengths}-bf16]" for lengths in ("1-333", "100-77", "129-65", "65-129")}
    assert all(message.startswith("numerics: ") for message in found.values())


@pytest.mark.parametrize(
    ("fault", "case"),
    [
        # The short cuts that a fast mode takes, each beside the range that shows it.
        ("e = torch.exp; torch.tanh = lambda x: (e(2 * x) - 1) / (e(2 * x) + 1)", "tanh.small"),
        ("e = torch.exp; torch.tanh = lambda x: (e(2 * x) - 1) / (e(2 * x) + 1)", "tanh.large"),
        ("s = torch.sin; torch.sin = lambda x: s(x - torch.round(x / 6.2831855) * 6.2831855)", "sin.far"),
        ("e = torch.exp; torch.exp = lambda x: e(x.clamp(max=88.0))", "exp.near_overflow"),
        ("i = torch.log; torch.log = lambda x: i(x + 1e-38)", "log.tiny"),
        ("e = torch.erf; torch.erf = lambda x: 1 - (1 - e(x))", "erf.near_zero"),
    ],
)
def test_a_short_cut_is_found_where_it_shows(snippet: Snippet, tmp_path: Path, fault: str, case: str) -> None:
    # In fp64, where the reference is computed, a short cut is as good as the function itself: only fp32 has it here.
    name, _, wrong = fault.partition("; torch.")
    function, _, how = wrong.partition(" = ")
    only = f"{name}; right = torch.{function}; short = {how}\n"
    only += f"torch.{function} = lambda x: short(x) if x.dtype == torch.float32 else right(x)"

    found = failures(snippet, tmp_path, only, "elementwise.*")

    assert f"test_function[{case}]" in found
    assert all(name.startswith(f"test_function[{function}.") for name in found)
    assert found[f"test_function[{case}]"].startswith("numerics: ")


def test_erf_near_zero_is_known_to_be_wrong_where_torch_approximates_it(snippet: Snippet) -> None:
    done = snippet("""
import platform
from types import SimpleNamespace
import torch
from suites.loads.test_elementwise import _approximates_erf as approximates
def on(place, backend):
    return SimpleNamespace(device=SimpleNamespace(place=lambda: place), backend=backend)
platform.machine = lambda: "x86_64"
assert approximates(on("cpu", "inductor"))
assert not approximates(on("cuda", "inductor"))
for mkl, version, expected in ((True, "2.6.0", False), (False, "2.6.0", True), (False, "1.13.0", False)):
    torch.backends.mkl.is_available, torch.__version__ = (lambda: mkl), type(torch.__version__)(version)
    assert approximates(on("cpu", "eager")) is expected, version
platform.machine = lambda: "aarch64"
assert not approximates(on("cpu", "inductor"))
""")
    assert done.returncode == 0, done.stderr


def test_what_takes_seconds_to_build_is_asked_for_all_operators_by_the_deep_profile_only(snippet: Snippet) -> None:
    done = snippet("""
from types import SimpleNamespace
import pytest
from suites import backends
from suites.loads import test_compile as load
from suites.operator_table import TABLE
backends.ready = lambda backend: None
asked = []
load.covered = lambda bench, operators: asked.append(len(operators)) or []
few = sum(one.first for one in TABLE)
for backend, expected in (
    ("eager", [len(TABLE)] * 3),
    ("openvino", [few, len(TABLE), len(TABLE)]),
    ("inductor", ["skipped", few, len(TABLE)]),
):
    asked.clear()
    for profile in ("smoke", "standard", "deep"):
        try:
            load.test_operators(SimpleNamespace(backend=backend, cell=SimpleNamespace(profile=profile)))
        except pytest.skip.Exception:
            asked.append("skipped")
    assert asked == expected, (backend, asked)
""")
    assert done.returncode == 0, done.stderr
