"""One rank: what a backend may lack, and what is a failure."""

import json
import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

REFUSING = """
import json, torch
from suites.loads import ranks
def refuse(*_):
    def call():
        raise RuntimeError("ProcessGroupGloo does not support this")
    return ranks.Exchange(call, None, None)
ranks.EXCHANGES = dict.fromkeys(ranks.OPERATIONS, refuse)
parts, cpu = [torch.ones(4)] * 2, torch.device("cpu")
answers = {name: ranks._answer(name, 0, parts, cpu, {"backend": "gloo"}) for name in ranks.OPERATIONS}
answers["nccl"] = ranks._answer("all_to_all", 0, parts, torch.device("cuda"), {"backend": "nccl"})
print(json.dumps({name: next(iter(answer)) for name, answer in answers.items()}))
"""


def test_only_what_a_build_is_known_to_lack_is_lacking(snippet: Snippet) -> None:
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


def test_what_is_wrong_is_far_and_laid_to_its_sender(snippet: Snippet) -> None:
    done = snippet("""
import torch
from suites.loads import ranks
exact = torch.arange(1.0, 7.0).double()
def far(got, by_sender=True):
    exchange = ranks.Exchange(None, lambda: got, exact, by_sender)
    return ranks.distance(exchange), ranks.wrong_senders(exchange, 3, 1e-6)
assert far(exact.float()) == (0.0, [])
wrong = exact.clone(); wrong[2] += 1
assert far(wrong)[0] > 0.05 and far(wrong)[1] == [1] and far(wrong, False)[1] == []
lost = exact.clone(); lost[5] = float("nan")
assert far(lost) == (1e30, [2])
""")
    assert done.returncode == 0, done.stderr


def test_a_rank_is_timed_often_enough_that_other_work_does_not_make_it_slow(snippet: Snippet) -> None:
    done = snippet("""
import torch
from suites.loads import ranks
ranks.dist.barrier = lambda: None
for steps, taken in ((1, 10), (20, 20)):
    own = next(ranks._answers(0, 2, torch.device("cpu"), {"steps": steps}))
    assert own["operation"] == "own work" and len(own["samples"]) == taken
""")
    assert done.returncode == 0, done.stderr
