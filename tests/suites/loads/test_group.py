"""The ranks as one device: two of them, each in a thread, that share a store and a barrier."""

import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

HEAD = """
import threading, time
from types import SimpleNamespace
import torch
from suites.loads import group as group_of
from suites.timing import UNREAD
class Store(dict):
    def set(self, name, told):
        self[name] = told
    def get(self, name):
        while name not in self:
            time.sleep(0.001)
        return self[name]
noted = []
def device(times, throttle=None, counts=()):
    given, counted = iter(times), iter(counts)
    def samples(call, number):
        call()
        return [next(given) for _ in range(number)]
    conditions = lambda index: {**UNREAD, "throttle": throttle, "throttled": next(counted, None)}
    return SimpleNamespace(STATISTIC="median", timer=lambda: "told", samples=samples, conditions=conditions)
def both(first, second, act):
    store, barrier, found = Store(), threading.Barrier(2, timeout=60), {}
    group_of.dist.barrier = lambda: (noted.append("barrier"), barrier.wait())
    def run(rank, device):
        found[rank] = act(group_of.Group(store, rank, 2, device, torch.device("cpu")))
    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in enumerate((first, second))]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    return found[0], found[1]
"""


def test_a_sample_is_the_slowest_ranks_and_both_have_the_same_time(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
from itertools import cycle, repeat
act = lambda group: group.timed(lambda: None, 4, "smoke")
one, other = both(device(cycle([1e-3, 9e-3])), device(repeat(5e-3)), act)
assert one == other, (one, other)
assert one.spread["minimum"] == 5e-3 and one.seconds is None, one
assert one.why == "the middle half of its samples is 57% wide" and one.samples == 12, one
one, other = both(device(repeat(4e-3)), device(repeat(5e-3)), act)
assert one == other and (one.seconds, one.samples, one.why) == (5e-3, 4, ""), one
""")
    assert done.returncode == 0, done.stderr


def test_one_rank_that_throttles_spoils_the_figure_of_all(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
from itertools import repeat
cool, hot = device(repeat(1e-3), []), device(repeat(1e-3), ["hardware thermal slowdown"])
one, other = both(cool, hot, lambda group: group.timed(lambda: None, 4, "smoke"))
assert one == other and one.why == "the device throttled: hardware thermal slowdown", one
""")
    assert done.returncode == 0, done.stderr


def test_what_a_device_counted_before_is_no_throttling_and_what_it_counts_meanwhile_is(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
from itertools import count, repeat
act = lambda group: group.timed(lambda: None, 4, "smoke")
never, once = repeat({{"a": 0}}), repeat({{"a": 7, "b": 1}})
one, other = both(device(repeat(1e-3), counts=never), device(repeat(1e-3), counts=once), act)
assert one == other and (one.why, one.seconds) == ("", 1e-3), one
never, more = repeat({{"a": 9}}), ({{"a": number}} for number in count(1))
one, other = both(device(repeat(1e-3), counts=never), device(repeat(1e-3), counts=more), act)
assert one == other and one.why == "the device throttled: a", one
""")
    assert done.returncode == 0, done.stderr


def test_ranks_prepare_before_they_meet_and_only_for_the_exchange(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
from itertools import repeat
def act(group):
    if group.rank:
        group.timed(lambda: None, 1, "smoke", lambda: None)
        return group.each(lambda: None, 1)
    group.timed(lambda: noted.append("call"), 1, "smoke", lambda: noted.append("prepare"))
    noted.append("end")
    return group.each(lambda: None, 1)
both(device(repeat(1e-3)), device(repeat(1e-3)), act)
own = [word for word in noted[: noted.index("end")] if word != "barrier"]
assert own == ["prepare", "call"] * (len(own) // 2) and own, noted
assert "prepare" not in noted[noted.index("end"):], noted
assert noted[0] == "prepare" or noted[1] == "prepare", "nobody times before it has prepared"
""")
    assert done.returncode == 0, done.stderr


def test_the_clock_is_the_same_on_each_rank(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
one, other = both(device([]), device([]), lambda group: [group.clock() for _ in range(3)])
assert one == other and one == sorted(one)
""")
    assert done.returncode == 0, done.stderr
