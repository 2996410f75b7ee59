"""Fingerprints: equal bits and only they have equal digests, and what is not finite is told and breaks nothing."""

import json
import subprocess
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from orchestrator.formats import Fingerprint

pytestmark = pytest.mark.torch

CODE = """
import json
import torch
from suites.fingerprint import fingerprints
from suites.work import Labels
labels = Labels("l", "8", "fp32", "m", "1")
base = torch.arange(100, dtype=torch.float32)
last = base.clone()
last[50] = torch.nextafter(last[50], torch.tensor(1e9))
outputs = {
    "base": base,
    "again": base.clone(),
    "strided": torch.stack([base, base], 1)[:, 0],
    "last bit": last,
    "zero": torch.zeros(3),
    "minus zero": -torch.zeros(3),
    "nan": torch.tensor([1.0, float("nan"), float("inf")]),
    "empty": torch.ones(0, 4),
    "huge": torch.full((4,), 1.7e308, dtype=torch.float64),
    "bf16": torch.ones(2, 2, dtype=torch.bfloat16),
}
print(json.dumps(dict(zip(outputs, fingerprints(labels, list(outputs.values())))), allow_nan=False))
"""


@pytest.fixture(scope="module")
def told(snippet: Callable[..., subprocess.CompletedProcess[str]]) -> dict[str, Any]:
    done = snippet(CODE)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_each_is_as_the_format_says(told: dict[str, Any]) -> None:
    read = {name: msgspec.convert(one, Fingerprint) for name, one in told.items()}
    assert [one.output for one in read.values()] == list(range(len(read)))
    assert read["bf16"].dtype == "bfloat16"
    assert read["empty"].shape == (0, 4)


def test_equal_bits_and_only_they_are_equal(told: dict[str, Any]) -> None:
    digest = {name: one["sha256"] for name, one in told.items()}
    assert digest["base"] == digest["again"] == digest["strided"]
    assert digest["last bit"] != digest["base"]
    assert digest["zero"] != digest["minus zero"]


def test_the_sample_lies_at_even_distances(told: dict[str, Any]) -> None:
    assert told["base"]["sample"] == [float(at * 100 // 32) for at in range(32)]
    assert told["base"]["sample"][16] == 50.0
    assert told["last bit"]["sample"][16] == 50.000003814697266


def test_what_is_not_finite_is_counted_and_left_out(told: dict[str, Any]) -> None:
    one = told["nan"]
    assert (one["nonfinite"], one["largest"], one["mean"], one["norm"]) == (2, 1.0, 1.0, 1.0)
    assert one["sample"] == [1.0, None, None]
    assert told["empty"]["sample"] == []
    assert told["huge"]["norm"] > 1e308
