"""The collective load: a rank that is slow, wrong or missing is found, and named by its number."""

import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

HEAD = """
import json, pathlib, tempfile
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
settings.update(profile="smoke", room=1e9)
processes.PROGRAM = ("-c", FAULT + "; import json, sys; ranks.main(json.loads(sys.argv[1]))")
folder = pathlib.Path(tempfile.mkdtemp())
found = processes.answers({**settings, "allowed": load.ALLOWED}, RANKS, folder, 60.0)
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
load.test_straggler(bench, found)
rows = [json.loads(line) for line in (bundle.folder / METRICS).read_text().splitlines()]
timed = [row for row in rows if row["metric"] != "error"]
assert {row["metric"] for row in timed} == {"latency", "algbw", "busbw", "pair_gbps", "straggler"}
for row in timed:
    assert row["samples"] >= 3 and row["warmup"] > 0 and row["timer"] == "perf_counter", row
    assert set(row["conditions"]) == {"clock_mhz", "temperature_c", "power_w", "throttle"}, row
    assert row["valid"] or row["why"].startswith("unmeasurable: "), row
    assert row["spread"]["minimum"] > 0, row
"""
    held(snippet, 3, "", checks)


TIMED = """
from suites.timing import UNREAD, Timed
import dataclasses
bundle = Bundle(pathlib.Path(tempfile.mkdtemp()))
cell = Cell(id="c", axes={}, device="cpu", profile="smoke", seed=1)
bench = Bench(cell=cell, device=adapter("cpu"), bundle=bundle, size=32, steps=3, ranks=1)
load._ranks = lambda bench: 2
def rows():
    lines = (bundle.folder / METRICS).read_text().splitlines()
    return {row["metric"]: row for row in map(json.loads, lines)}
"""


def test_an_exchange_that_cannot_be_measured_has_rows_that_say_so(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}{TIMED}
took = Timed(None, 31, 60, "min", "perf_counter", {{"minimum": 1e-3, "iqr": 0.0}}, UNREAD, "it throttled", [1e-3])
given = [{{"rank": rank, "bytes": 1000, "form": "list", "error": 0.0, "senders": [], "timed": dataclasses.asdict(took)}}
         for rank in range(2)]
load.test_operation(bench, {{"": [], "all_gather": given}}, "all_gather")
for name in ("latency", "algbw", "busbw"):
    row = rows()[name]
    assert (row["value"], row["valid"], row["why"]) == (None, False, "unmeasurable: it throttled"), row
    assert row["model"] == "all_gather of a list", row
assert rows()["latency"]["spread"]["minimum"] == 1.0
assert "timed with the copies of a list: this build takes no tensor" in bench.figures[""].notes, bench.figures
fast = dataclasses.replace(took, seconds=1e-6, why="", taken=[1e-6])
given[0]["form"], given[0]["timed"] = "tensor", dataclasses.asdict(fast)
load.test_operation(bench, {{"": [], "all_gather": given}}, "all_gather")
assert (rows()["algbw"]["value"], rows()["busbw"]["value"], rows()["busbw"]["model"]) == (1.0, 0.5, "all_gather")
""")
    assert done.returncode == 0, done.stderr


def test_a_straggler_is_judged_in_spite_of_noise_and_its_figure_is_none(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}{TIMED}
hot = {{**UNREAD, "throttle": ["hardware thermal slowdown"]}}
def straggler(samples, conditions=UNREAD):
    bench.figures.clear()
    given = [{{"rank": rank, "edge": 512, "samples": one, "warmup": 9, "conditions": conditions if rank else UNREAD}}
             for rank, one in enumerate(([1.0] * 10, samples))]
    try:
        load.test_straggler(bench, {{"": [], "own work": given}})
    except AssertionError as found:
        return str(found), rows()["straggler"]
    return ", ".join(bench.figures[""].told()), rows()["straggler"]
said, row = straggler([1.0] * 10)
assert row["shapes"] == "512x512 on 2 ranks"
assert (said, row["value"], row["spread"]["p50"], row["warmup"], row["valid"]) == ("", 1.0, 1.0, 9, True)
said, row = straggler([1.0, 1.02] * 5)
assert row["spread"]["minimum"] <= row["value"] <= row["spread"]["p99"], row
said, row = straggler([2.0] * 5 + [1.0] * 5)
assert said == "straggler unmeasurable: of rank 1 its two halves lie 100% apart" and row["value"] is None
said, row = straggler([4.0] * 10)
assert said == "collective: rank 1 takes 4.0 times as long as the median rank for the same work" and row["value"] == 4
assert (row["spread"]["minimum"], row["spread"]["p99"]) == (4, 4), "its own samples"
said, row = straggler([4.0] * 10, hot)
assert said.endswith("for the same work, it throttled: hardware thermal slowdown") and row["value"] is None, said
said, row = straggler([1.0] * 10, hot)
assert said == "straggler unmeasurable: rank 1 throttled: hardware thermal slowdown" and not row["valid"]
""")
    assert done.returncode == 0, done.stderr


def test_a_rank_that_is_slow(snippet: Snippet) -> None:
    fault = f"; own = ranks.own_work; ranks.own_work = lambda *of: (lambda: time.sleep(0.2)) if {ONE} else own(*of)"
    checks = """
line = told(load.test_straggler)
assert line.startswith("collective: rank 1 takes ") and "times as long as the median rank" in line, line
"""
    held(snippet, 3, fault, checks)


def test_a_rank_that_sends_what_is_wrong(snippet: Snippet) -> None:
    fault = (
        "; gather = exchanges._named(exchanges.ALL_GATHER); "
        f"exchanges._named = lambda names: lambda there, mine: gather(there, mine * (1.01 if {ONE} else 1))"
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
        "; first = exchanges._named(exchanges.ALL_GATHER); "
        f"exchanges._named = lambda names: lambda *_: gone() if {ONE} else first(*_)"
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


def test_a_rank_that_sends_slowly(snippet: Snippet) -> None:
    fault = (
        "; send = ranks.dist.send; "
        f"ranks.dist.send = lambda block, to: (time.sleep(0.2 if {ONE} else 0), send(block, to))"
    )
    checks = """
assert told(load.test_pairs) == ""
said = bench.figures[""].notes
assert any(one.startswith("slow rank: 1 sends ") for one in said), said
"""
    held(snippet, 3, fault, checks)


def test_a_link_that_changes_what_is_sent(snippet: Snippet) -> None:
    fault = (
        "; send = ranks.dist.send; "
        f"ranks.dist.send = lambda block, to: send(block * (1.01 if {ONE} and to == 2 else 1), to)"
    )
    checks = """
assert told(load.test_pairs) == "collective: what was sent came changed: rank 1 -> 2"
"""
    held(snippet, 3, fault, checks)


def test_a_slow_rank_or_link_is_named(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
import itertools
pairs = list(itertools.permutations(range(3), 2))
def rates(slow):
    return {{pair: 4.0 if slow(*pair) else 20.0 for pair in pairs}}
assert load.slow_ranks(rates(lambda sender, to: False), 3) == []
both = rates(lambda sender, to: 1 in (sender, to))
slowly = "4 GB/s at best, 20 between the others"
assert load.slow_ranks(both, 3) == [f"slow rank: 1 sends {{slowly}}", f"slow rank: 1 receives {{slowly}}"]
assert load.slow_ranks(rates(lambda sender, to: to == 2), 3) == [f"slow rank: 2 receives {{slowly}}"]
one = rates(lambda sender, to: (sender, to) == (1, 2))
assert load.slow_ranks(one, 3) == [], "it sends well to another: the link is slow"
assert load.slow_pairs(one) == ["slow link: rank 1 -> 2 has 4 of 20 GB/s"]
assert load.slow_pairs(rates(lambda sender, to: False)) == []
sends = rates(lambda sender, to: sender == 1)
del sends[1, 0]
assert load.slow_ranks(sends, 3) == [], "of the pair without a rate nobody knows"
assert load.slow_ranks({{}}, 3) == load.slow_pairs({{}}) == []
""")
    assert done.returncode == 0, done.stderr


def test_sizes_go_up_to_what_memory_allows(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
assert load.sizes("smoke", "cuda", 16 * GIB, 2) == ([KIB, MIB], None)
assert load.sizes("standard", "cuda", 80 * GIB, 8) == (list(load.SIZES["standard"]), None)
largest, stop = load.sizes("deep", "cuda", 80 * GIB, 8)
assert largest[-1] == 4 * GIB and largest[0] == KIB and len(largest) == 12, largest
assert stop == {{"bytes": 16 * GIB, "why": "a rank would hold 48 GiB, 50% of 80 GiB free may be held"}}, stop
largest, stop = load.sizes("deep", "cpu", 8 * GIB, 2)
assert largest[-1] == 256 * MIB, "both ranks hold theirs in the same memory"
assert stop == {{"bytes": GIB, "why": "2 ranks would hold 6 GiB, 50% of 8 GiB free may be held"}}, stop
largest, stop = load.sizes("standard", "cpu", 1 << 40, 3)
assert largest[-1] == 64 * MIB and stop == {{"bytes": 256 * MIB, "why": "a processor copies more no faster"}}
assert load.sizes("standard", "cpu", GIB, 3)[0][-1] == 4 * MIB, "and no more than there is room for"
assert load.sizes("deep", "cuda", 1, 2)[0] == [KIB]
""")
    assert done.returncode == 0, done.stderr


def test_where_the_sizes_end_a_row_says_why(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}{TIMED}
took = Timed(1e-3, 31, 60, "min", "perf_counter", {{"minimum": 1e-3, "iqr": 0.0}}, UNREAD, "", [1e-3])
one = {{"bytes": 1000, "form": "tensor", "error": 0.0, "senders": [], "timed": dataclasses.asdict(took)}}
given = [{{**one, "rank": rank}} for rank in range(2)]
stop = [{{"bytes": 4 << 30, "why": "there is no room"}}]
load.test_operation(bench, {{"": [], "all_gather": given, "stop": stop}}, "all_gather")
assert bench.figures[""].notes[-1] == "not tried from 4 GiB on: there is no room"
row = rows()["algbw"]
assert (row["value"], row["valid"], row["why"]) == (None, False, "not tried: there is no room"), row
assert row["shapes"] == "4294967296 bytes on 2 ranks", row
""")
    assert done.returncode == 0, done.stderr


def test_a_size_that_was_asked_for_and_has_no_answer_is_missing(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}{TIMED}
took = Timed(1e-3, 31, 60, "min", "perf_counter", {{"minimum": 1e-3, "iqr": 0.0}}, UNREAD, "", [1e-3])
one = {{"bytes": 1024, "form": "tensor", "error": 0.0, "senders": [], "timed": dataclasses.asdict(took)}}
found = {{"": [], "broadcast": [{{**one, "rank": rank}} for rank in range(2)]}}
found["asked"] = [{{"bytes": size}} for size in (1025, 1 << 20)]
assert load.tried(found, 2) == {{1024, 1 << 20}}
try:
    load.test_operation(bench, found, "broadcast")
except AssertionError as missed:
    assert "broadcast: no answer of ranks 0, 1" in str(missed), missed
else:
    raise SystemExit("nobody missed the second size")
found["stop"] = [{{"bytes": 1 << 20, "why": "there is no room"}}]
load.test_operation(bench, found, "broadcast")
""")
    assert done.returncode == 0, done.stderr


def test_a_rank_that_leaves_too_soon_is_missing_though_it_says_that_all_is_well(snippet: Snippet) -> None:
    fault = (
        "; first = exchanges._named(exchanges.ALL_GATHER); "
        f"exchanges._named = lambda names: lambda *_: ranks.os._exit(0) if {ONE} else first(*_)"
    )
    checks = """
assert [one["end"] for one in found[""]][1:] == ["rank 1 ended with code 0 before it had said all: no word"], found[""]
line = told(load.test_operation, "all_gather")
assert line.startswith("collective: all_gather") and "rank 1 ended with code 0" in line, line
found["own work"].pop()
assert told(load.test_straggler).startswith("collective: no answer of rank"), told(load.test_straggler)
"""
    held(snippet, 2, fault, checks)


def test_ranks_do_not_outlive_a_suite_that_is_killed(snippet: Snippet) -> None:
    fault = "; ranks.distance = lambda _: time.sleep(600)"
    done = snippet(f"""
import os, pathlib, signal, subprocess, sys, tempfile, time
FAULT = {f"{IMPORT}{fault}"!r}
folder = pathlib.Path(tempfile.mkdtemp())
settings = {{"ranks": 2, "device": "cpu", "backend": "gloo", "sizes": [1024], "steps": 3, "seed": 1, "allowed": 1e-6}}
settings.update(profile="smoke", room=1e9)
code = (
    "import pathlib; from suites.loads import processes; "
    f"processes.PROGRAM = ('-c', {{FAULT + '; import json; ranks.main(json.loads(sys.argv[1]))'!r}}); "
    f"processes.answers({{settings!r}}, 2, pathlib.Path({{str(folder)!r}}), 600.0)"
)
suite = subprocess.Popen([sys.executable, "-c", code])
answers = [folder / f"answers-{{rank}}.jsonl" for rank in range(2)]
while not all(path.exists() and path.read_text() for path in answers):
    assert suite.poll() is None
    time.sleep(0.1)
children = pathlib.Path(f"/proc/{{suite.pid}}/task/{{suite.pid}}/children").read_text().split()
assert len(children) == 2, children
suite.kill()
suite.wait()
def alive(pid):
    try:
        return pathlib.Path(f"/proc/{{pid}}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
for _ in range(300):
    if not any(map(alive, children)):
        break
    time.sleep(0.1)
left = [pid for pid in children if alive(pid)]
for pid in left:
    os.kill(int(pid), signal.SIGKILL)
assert not left, left
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
