"""One rank: what a backend may lack, and what is a failure."""

import json
import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch

REFUSING = """
import json, torch
from suites.loads import ranks
def refuse(*_):
    def call():
        raise RuntimeError("ProcessGroupGloo does not support this")
    return call, None, None
ranks._OPERATION = dict.fromkeys(ranks.OPERATIONS, refuse)
settings = {"backend": "gloo", "count": 4, "seed": 0}
answers = {name: ranks._answer(name, 0, 2, torch.device("cpu"), settings) for name in ranks.OPERATIONS}
settings["backend"] = "nccl"
answers["nccl"] = ranks._answer("all_to_all", 0, 2, torch.device("cuda"), settings)
print(json.dumps({name: next(iter(answer)) for name, answer in answers.items()}))
"""


def test_only_what_a_build_is_known_to_lack_is_lacking(
    snippet: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = snippet(REFUSING)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "all_reduce": "failed",
        "all_gather": "failed",
        "reduce_scatter": "lacks",
        "broadcast": "failed",
        "all_to_all": "lacks",
        "nccl": "failed",
    }
