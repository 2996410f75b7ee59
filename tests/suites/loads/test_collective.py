"""The collective load: a rank that is slow, wrong or missing is found, and named by its number."""

import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

HEAD = """
import pathlib, tempfile
from types import SimpleNamespace
import pytest
from suites.bench import Bench
from suites.bundle import METRICS, Bundle
from suites.cell import Cell
from suites.devices import adapter
from suites.loads import processes
from suites.loads import test_collective as load
"""
RUN = """
bundle = Bundle(pathlib.Path(tempfile.mkdtemp()))
cell = Cell(id="c", axes={}, device="cpu", profile="smoke", seed=1)
bench = Bench(cell=cell, device=adapter("cpu"), bundle=bundle, size=32, steps=3, ranks=1)
load._ranks = lambda bench: RANKS
settings = {"ranks": RANKS, "device": "cpu", "backend": "gloo", "sizes": [1024], "steps": 3, "seed": 1}
processes.PROGRAM = ("-c", FAULT + "; import json, sys; ranks.main(json.loads(sys.argv[1]))")
folder = pathlib.Path(tempfile.mkdtemp())
found = processes.answers({**settings, "allowed": load.ALLOWED}, RANKS, folder, 60.0)
found[load.DEVICES] = [bench.device.conditions()]
def told(test, *arguments):
    try:
        test(bench, found, *arguments)
    except BaseException as outcome:
        return str(outcome)
    return ""
"""
IMPORT = "import sys, time, torch; from suites.loads import ranks, exchanges"
ONE = "('\"rank\": 1,' in sys.argv[1])"


def held(snippet: Snippet, ranks: int, fault: str, checks: str) -> None:
    done = snippet(f"{HEAD}RANKS = {ranks}\nFAULT = {f'{IMPORT}{fault}'!r}\n{RUN}{checks}")
    assert done.returncode == 0, done.stdout + done.stderr


def test_ranks_that_are_well(snippet: Snippet) -> None:
    checks = """
assert found[""] == [], found
assert [told(load.test_operation, name) for name in ("all_reduce", "all_gather", "broadcast")] == [""] * 3
load.test_pairs(bench, found)
text = (bundle.folder / METRICS).read_text()
assert text.count('"pair_gbps"') == 6 and '"rank 2 -> 0"' in text and '"1020 bytes on 3 ranks"' in text, text
"""
    held(snippet, 3, "", checks)


def test_a_rank_that_is_slow(snippet: Snippet) -> None:
    fault = f"; own = ranks.own_work; ranks.own_work = lambda place: (lambda: time.sleep(0.2)) if {ONE} else own(place)"
    checks = """
line = told(load.test_straggler)
assert line.startswith("collective: rank 1 takes ") and "times as long as the median rank" in line, line
"""
    held(snippet, 3, fault, checks)


def test_a_rank_that_sends_what_is_wrong(snippet: Snippet) -> None:
    fault = (
        "; gather = exchanges.dist.all_gather; "
        f"exchanges.dist.all_gather = lambda there, mine: gather(there, mine * (1.01 if {ONE} else 1))"
    )
    checks = """
line = told(load.test_operation, "all_gather")
assert "on ranks 0, 1, in what rank 1 sent, 1e-06 is allowed" in line, line
assert line.startswith("collective: all_gather of 1024 bytes: error against fp64 is "), line
assert told(load.test_operation, "all_reduce") == ""
"""
    held(snippet, 2, fault, checks)


def test_a_rank_that_computes_what_is_wrong(snippet: Snippet) -> None:
    fault = (
        "; reduce = exchanges.dist.all_reduce; "
        f"exchanges.dist.all_reduce = lambda work: (reduce(work), work.mul_(1.01 if {ONE} else 1))"
    )
    checks = """
line = told(load.test_operation, "all_reduce")
assert " on rank 1, 1e-06 is allowed" in line, line
"""
    held(snippet, 2, fault, checks)


def test_a_rank_that_is_missing(snippet: Snippet) -> None:
    fault = (
        "; gone = lambda: (print('NCCL WARN gone', flush=True), ranks.os._exit(3))"
        "; first = exchanges.dist.all_gather; "
        f"exchanges.dist.all_gather = lambda *_: gone() if {ONE} else first(*_)"
    )
    checks = """
line = told(load.test_operation, "all_gather")
assert line.startswith("collective: all_gather") and ": no answer of rank" in line, line
assert "rank 1 ended with code 3: NCCL WARN gone" in line, line
assert told(load.test_operation, "all_reduce") == "", "what was answered before is kept"
try:
    load.test_ranks_end(found)
except AssertionError as ended:
    assert "rank 1 ended" in str(ended)
else:
    raise SystemExit("nobody missed it")
"""
    held(snippet, 2, fault, checks)


def test_a_slow_link_is_named(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
rates = {{"rank 0 -> 1": 20.0, "rank 0 -> 2": 21.0, "rank 1 -> 2": 4.0}}
assert load.slow_pairs(rates) == ["rank 1 -> 2 has 4 of 20 GB/s"]
assert load.slow_pairs(dict.fromkeys("abc", 5.0)) == []
""")
    assert done.returncode == 0, done.stderr


def test_sizes_go_up_to_what_memory_allows(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
assert load.sizes("smoke", "cuda", 16 << 30, 2) == [1 << 10, 1 << 20]
assert load.sizes("standard", "cuda", 80 << 30, 8)[-1] == 64 << 20
assert load.sizes("standard", "cuda", 1 << 40, 2)[-1] == 256 << 20
assert load.sizes("deep", "cuda", 1 << 50, 2)[-1] == 1 << 30
assert load.sizes("standard", "cpu", 1 << 40, 3)[-1] == 64 << 20
assert load.sizes("deep", "cpu", 1 << 50, 3)[-1] == 1 << 30
assert load.sizes("deep", "cuda", 1, 2) == [1 << 10]
""")
    assert done.returncode == 0, done.stderr


def test_one_device_is_not_applicable(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
bench = SimpleNamespace(ranks=1, device=SimpleNamespace(place=lambda: "cuda"))
made = getattr(load.answers, "__wrapped__", None) or load.answers.__pytest_wrapped__.obj
try:
    made(bench, None)
except pytest.skip.Exception as skipped:
    assert str(skipped) == "not applicable: a collective needs 2 devices, this cell takes 1", skipped
else:
    raise SystemExit("not skipped")
""")
    assert done.returncode == 0, done.stderr


def test_each_device_that_takes_part_tells_its_throttling(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
from suites.timing import UNREAD
read = []
def conditions(index):
    read.append(index)
    return {{**UNREAD, "throttled": {{"hardware power brake": 5 + index * len(read)}}}}
device = SimpleNamespace(
    place=lambda: "cuda", COLLECTIVE="nccl", STATISTIC="median", memory=lambda: 1 << 34, conditions=conditions
)
cell = SimpleNamespace(profile="smoke", seed=0)
bench = SimpleNamespace(ranks=2, device=device, cell=cell, steps=1, figures={{}}, case="c", row=lambda *_, **__: None)
load.processes.answers = lambda *_: {{"": [], "own work": [{{"rank": rank, "samples": [1.0]}} for rank in (0, 1)]}}
made = getattr(load.answers, "__wrapped__", None) or load.answers.__pytest_wrapped__.obj
found = made(bench, SimpleNamespace(mktemp=lambda _: None))
assert read == [0, 1, 0, 1], read
assert [one["throttle"] for one in found[load.DEVICES]] == [[], ["hardware power brake"]], found
load.test_straggler(bench, found)
assert bench.figures["c"] == ["the device of rank 1 throttled meanwhile: hardware power brake"], bench.figures
device.COLLECTIVE = "none"
try:
    made(bench, None)
except pytest.skip.Exception as skipped:
    assert str(skipped) == "not applicable: torch.distributed has no backend for cuda", skipped
else:
    raise SystemExit("not skipped")
""")
    assert done.returncode == 0, done.stderr
