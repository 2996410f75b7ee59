"""One rank: what a backend may lack, and what is a failure."""

import json
import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

HEAD = """
import json, torch
from suites.devices import adapter
from suites.loads import exchanges, group as group_of, ranks
from suites.loads.exchanges import Exchange, Piece
class Store:
    def set(self, _, told):
        self.last = told
    def get(self, _):
        return self.last
cpu, nothing = torch.device("cpu"), (lambda: None)
group_of.dist.barrier = nothing
group = group_of.Group(Store(), 0, 2, adapter("cpu"), cpu)
settings = {"backend": "gloo", "allowed": 0.0, "steps": 3, "profile": "smoke", "sizes": [], "seed": 1, "room": 1e9}
"""
REFUSING = """
def refuse(*_):
    def call():
        raise RuntimeError("no support for this in Gloo process group")
    return Exchange(nothing, {"tensor": call, "list": call}, None, ())
ranks.EXCHANGES = dict.fromkeys(ranks.OPERATIONS, refuse)
def answer(name, backend):
    return next(iter(ranks._answer(name, group, [], 4, cpu, {**settings, "backend": backend})))
answers = {name: answer(name, "gloo") for name in ranks.OPERATIONS}
print(json.dumps({**answers, "nccl": answer("all_to_all", "nccl")}))
"""


def test_only_what_a_build_is_known_to_lack_is_lacking(snippet: Snippet) -> None:
    done = snippet(HEAD + REFUSING)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "all_reduce": "failed",
        "all_gather": "failed",
        "reduce_scatter": "lacks",
        "broadcast": "failed",
        "all_to_all": "lacks",
        "nccl": "failed",
    }


def test_the_list_form_is_timed_where_there_is_no_other_and_the_answer_says_so(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
held, exact, called = torch.zeros(4), torch.ones(4), []
def refuse():
    raise RuntimeError("ProcessGroup gloo does not support _reduce_scatter_base")
def give():
    called.append("list")
    held.copy_(exact)
def exchange(*_):
    return Exchange(nothing, {{"tensor": refuse, "list": give}}, held, (Piece(exact.double(), 0, 4),))
ranks.EXCHANGES = {{"reduce_scatter": exchange}}
answer = ranks._answer("reduce_scatter", group, [], 4, cpu, settings)
assert answer.pop("timed")["samples"] >= 3 and answer == {{"form": "list", "error": 0.0, "senders": []}}, answer
assert "failed" in ranks._answer("reduce_scatter", group, [], 4, cpu, {{**settings, "backend": "nccl"}})
""")
    assert done.returncode == 0, done.stderr


def test_nothing_but_the_exchange_is_timed(snippet: Snippet) -> None:
    # Every operator that torch runs in the call is noted.
    done = snippet(f"""{HEAD}
from torch.utils._python_dispatch import TorchDispatchMode
noted = []
class Noted(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        noted.append(str(function))
        return function(*arguments, **(named or {{}}))
for operation in ranks.OPERATIONS:
    for name in ("all_reduce", "broadcast", "all_to_all_single", "all_gather", "reduce_scatter",
                 *exchanges.ALL_GATHER, *exchanges.REDUCE_SCATTER):
        setattr(ranks.dist, name, lambda *_: noted.append("exchange"))
    patterns = [exchanges.pattern(peer, 8, 1) for peer in range(2)]
    exchange = exchanges.EXCHANGES[operation](0, patterns, 8, cpu)
    for call in exchange.calls.values():
        noted.clear()
        with Noted():
            call()
        assert noted == ["exchange"], (operation, noted)
""")
    assert done.returncode == 0, done.stderr


def test_a_sum_does_not_grow_however_often_it_is_timed(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
ranks.dist.all_reduce = lambda work: work.mul_(2)
patterns = [exchanges.pattern(0, 8, 1)] * 2
ranks.EXCHANGES = {{"all_reduce": exchanges.EXCHANGES["all_reduce"]}}
answer = ranks._answer("all_reduce", group, patterns, 8, cpu, {{**settings, "steps": 300}})
assert answer["error"] == 0.0 and answer["timed"]["samples"] >= 300, answer
""")
    assert done.returncode == 0, done.stderr


def test_an_exchange_that_gives_nothing_when_it_is_timed_is_wrong(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
calls = []
def gather(there, mine):
    calls.append(1)
    if len(calls) == 1:
        there.copy_(torch.cat(patterns))
for name in exchanges.ALL_GATHER:
    setattr(ranks.dist, name, gather)
patterns = [exchanges.pattern(peer, 8, 1)[:4] for peer in range(2)]
ranks.EXCHANGES = {{"all_gather": exchanges.EXCHANGES["all_gather"]}}
answer = ranks._answer("all_gather", group, patterns, 8, cpu, settings)
assert answer["error"] == 1e30 and answer["senders"] == [0, 1], answer
""")
    assert done.returncode == 0, done.stderr


def test_what_is_wrong_is_far_and_laid_to_its_sender(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
exact = torch.arange(1.0, 7.0)
def far(got, by_sender=True):
    pieces = tuple(Piece(one.double(), 0, 2) for one in exact.chunk(3))
    exchange = Exchange(nothing, {{}}, got, pieces, by_sender)
    return exchanges.distance(exchange), exchanges.wrong_senders(exchange, 1e-6)
assert far(exact) == (0.0, [])
wrong = exact.clone(); wrong[2] += 1
assert far(wrong)[0] > 0.05 and far(wrong)[1] == [1] and far(wrong, False)[1] == []
lost = exact.clone(); lost[5] = float("nan")
assert far(lost) == (1e30, [2])
""")
    assert done.returncode == 0, done.stderr


def test_a_result_longer_than_its_pattern_is_checked_to_its_end(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
whole = torch.arange(1.0, 8.0).repeat(4)
piece = Piece(torch.arange(1.0, 8.0).double(), 9, 17)
def far(got):
    return exchanges.distance(Exchange(nothing, {{}}, got, (piece,)))
assert far(whole[9:26]) == 0.0
for at in (0, 4, 5, 16):
    wrong = whole[9:26].clone(); wrong[at] += 1
    assert far(wrong) > 0.01, at
exchanges.PERIOD = 7
filled = torch.empty(17)
exchanges._fill(filled, exchanges.pattern(0, 17, 1))
assert torch.equal(filled[7:14], filled[:7]) and torch.equal(filled[14:], filled[:3])
""")
    assert done.returncode == 0, done.stderr


def test_a_rank_is_timed_often_enough_that_other_work_does_not_make_it_slow(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
group_of.timing.unsteady = lambda *_: ""
for steps, taken in ((1, 10), (20, 20)):
    own = next(ranks._answers(group, cpu, {{**settings, "steps": steps}}))
    assert own["operation"] == "own work" and len(own["samples"]) == taken
    assert own["warmup"] > 0 and set(own["conditions"]) == set(group_of.timing.UNREAD)
group_of.timing.unsteady = lambda *_: "so it is"
own = next(ranks._answers(group, cpu, settings))
assert len(own["samples"]) == 10 * group_of.timing.ROUNDS, "again while one of them is unsteady, and no longer"
""")
    assert done.returncode == 0, done.stderr


def test_the_ranks_stop_at_the_size_that_there_is_no_time_for(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
ranks._own, ranks._answer = (lambda *_: {{}}), (lambda *_: {{"error": 0.0}})
sizes = [1 << 10, 1 << 12, 1 << 14, 1 << 16]
def tried(room):
    # each size takes four times as long as the one before: 1, 4, 16, 64 s
    ticks = iter([0.0, 0.0, 1.0, 5.0, 21.0])
    group.clock = lambda: next(ticks)
    answers = list(ranks._answers(group, cpu, {{**settings, "sizes": sizes, "room": room}}))
    return [one["bytes"] for one in answers if one["operation"] == "all_reduce"], answers[-1]
assert tried(100)[0] == sizes
bytes_of, last = tried(50)
assert bytes_of == sizes[:3], bytes_of
assert last == {{"operation": "stop", "bytes": 1 << 16, "why": "21 of 50 s are up, the size before took 16"}}, last
""")
    assert done.returncode == 0, done.stderr


def test_a_ranks_own_work_is_large_enough_to_be_computing(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
ranks.own_work = lambda place, edge: edge
def sized(seconds_of):
    group.each = lambda edge, number: [[seconds_of(edge)] * number, [1.0] * number]
    return ranks._own(group, cpu, settings)["edge"]
assert sized(lambda edge: 1e-3 * (edge / 256) ** 3) == 512, "the fastest decides, not the slow rank"
assert sized(lambda edge: 1e-5 * (edge / 256) ** 3) == 2048
assert sized(lambda edge: 1.0) == 256
assert sized(lambda edge: 1e-9) == ranks.LARGEST, "and no larger than fits anywhere"
""")
    assert done.returncode == 0, done.stderr


def test_only_a_large_exchange_has_the_deep_profiles_time_to_warm_up(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
ranks._own = lambda *_: {{}}
ranks._answer = lambda *given: {{"profile": given[-1]["profile"]}}
def profiles(profile):
    asked = {{**settings, "sizes": [1 << 10, 1 << 20], "profile": profile}}
    return [one["profile"] for one in ranks._answers(group, cpu, asked) if one["operation"] == "all_reduce"]
assert profiles("deep") == ["standard", "deep"]
assert profiles("smoke") == ["smoke", "smoke"]
""")
    assert done.returncode == 0, done.stderr
