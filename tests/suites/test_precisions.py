"""Precisions: each has a rule, and what this torch lacks is said."""

import json
import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch

CODE = """
import json, torch
from suites import precisions
told = {
    name: [str(precisions.dtype(name)), precisions.tolerance(name, "highest"), precisions.MULTIPLIER[one.rule]]
    for name, one in precisions.PRECISIONS.items() if not precisions.lacking(name)
}
precisions.PRECISIONS["none"] = precisions.Precision("float3", "fp32", 1)
told["lacking"] = precisions.lacking("none").replace(torch.__version__, "X")
told["fp32 at medium"] = precisions.tolerance("fp32", "medium")
print(json.dumps(told))
"""


def test_table(snippet: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = snippet(CODE)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    told.pop("fp8", None)
    assert told == {
        "fp64": ["torch.float64", 1e-10, 2.0],
        **{name: ["torch.float32", 1e-4, 2.0] for name in ("fp32", "fp32-ieee", "fp32-high", "fp32-medium")},
        "tf32": ["torch.float32", 1e-2, 2.0],
        "fp16": ["torch.float16", 1e-2, 3.0],
        "bf16": ["torch.bfloat16", 5e-2, 3.0],
        "lacking": "this build lacks it: torch X has no float3",
        "fp32 at medium": 1e-1,
    }


FORCES = """
from suites.precisions import in_force
assert in_force("fp32", "highest", True) == in_force("fp32", "highest", None) == "fp32-ieee"
assert in_force("fp32", "high", True) == "tf32"
assert in_force("fp32", "high", False) == "fp32-ieee", "a device without it has nothing less exact"
assert [in_force("fp32", switch, None) for switch in ("high", "medium")] == ["fp32-high", "fp32-medium"]
assert in_force("fp32", "medium", True) == "fp32-medium"
assert [in_force(one, "high", True) for one in ("bf16", "tf32", "fp8")] == ["bf16", "tf32", "fp8"]
"""


def test_the_label_of_products_is_what_was_in_force(snippet: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = snippet(FORCES)
    assert done.returncode == 0, done.stderr
