"""Compiling, measured: breaks and recompiles are found and named, and what is unknown is no zero."""

import subprocess
from collections.abc import Callable

import pytest
from bench_code import bench_code, held

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

HEAD = (
    bench_code(profile="sys.argv[2]", steps=1)
    + """
def work(compute, inputs=1, **more):
    given = tuple(bench.random(32, 32, salt=salt) for salt in range(inputs))
    return Work("l", "32x32", "fp32", "m", "1", compute, given, **more)
def rows():
    return {row["metric"]: row for row in written()}
"""
)


def test_a_graph_break_that_was_added_is_counted_and_named(snippet: Snippet) -> None:
    code = """
def whole(x): return x.sin().cos()
def broken(x):
    x = x.sin()
    print(end="")
    return x.cos()
for compute, graphs, breaks in ((whole, 1, 0), (broken, 2, 1)):
    bench.run(work(compute))
    said = bench.compiled["l", "32x32", "fp32"]
    assert (said["graphs"], said["graph_breaks"]) == (graphs, breaks), said
    assert rows()["graph_breaks"]["value"] == breaks
    assert sum(note.startswith("graph break: ") for note in bench.figures[""].notes) == breaks, bench.figures
    bench.figures.clear()
assert len(said["break_reasons"]) == 1 and "print" in said["break_reasons"][0], said
"""
    held(snippet(HEAD + code, "aot_eager", "smoke"))


def test_a_recompile_for_each_size_is_found_and_named(snippet: Snippet) -> None:
    code = """
given = work(torch.tanh)
shapes = compiling.resized("l", given.inputs)
assert [one[0].shape[0] for one in shapes] == [32, 16, 24, 8]
every = compiling.probe("aot_eager", lambda x: torch.tanh(x) * 2, shapes, dynamic=False)
assert (every.number, every.sizes, every.for_each_size) == (3, 3, True), every
assert len(every.reasons) == 3 and "size mismatch at index 0. expected 32, actual 16" in every.reasons[0], every
once = compiling.probe("aot_eager", lambda x: torch.tanh(x) * 3, shapes)
assert once.number <= 1 and not once.for_each_size, once
"""
    held(snippet(HEAD + code, "aot_eager", "smoke"))


def test_the_load_fails_where_each_size_is_compiled_anew(snippet: Snippet) -> None:
    code = """
from suites.loads import test_compile
through = backends.through
backends.through = lambda backend, compute, dynamic=None: through(backend, compute, False)
try:
    test_compile.test_sizes_of_chain(bench)
except AssertionError as error:
    assert str(error).startswith("compiled again for each of 3 further sizes: "), error
    assert "size mismatch" in str(error), error
else:
    raise SystemExit("not found")
row = rows()["recompiles"]
assert (row["value"], row["load"], row["samples"]) == (3, "compile.elementwise.chain", 3), row
assert bench.compiled["compile.elementwise.chain", row["shapes"], "fp32"]["recompiles"] == 3
"""
    held(snippet(HEAD + code, "aot_eager", "smoke"))


COMPILING = """
from suites.loads import test_compile
def told(load):
    try:
        load(bench)
    except AssertionError as error:
        return str(error)
    return ""
def sizes():
    return [told(test_compile.test_sizes_of_chain), told(test_compile.test_sizes_of_product)]
LOADS = ("elementwise.chain", "matmul.square")
"""


def test_nothing_is_compiled_again_of_what_is_never_compiled(snippet: Snippet) -> None:
    off = "import os; os.environ['TORCHDYNAMO_DISABLE'] = '1'\n"
    code = """
assert sizes() == [f"backend fell back: aot_eager took nothing of {load} in any of 4 sizes" for load in LOADS], sizes()
operators = told(test_compile.test_operators)
assert operators.startswith("backend fell back: aot_eager took none of ") and ": aten." in operators, operators
"""
    held(snippet(off + HEAD + COMPILING + code, "aot_eager", "standard"))


def test_a_backend_that_gives_each_graph_back_as_it_came_took_no_size(snippet: Snippet) -> None:
    code = """
from torch._dynamo import register_backend
register_backend(lambda graph, inputs: graph.forward, name="hollow")
assert sizes() == [f"backend fell back: hollow took nothing of {load} in any of 4 sizes" for load in LOADS], sizes()
assert told(test_compile.test_operators).startswith("backend fell back: hollow took none of ")
"""
    held(snippet(HEAD + COMPILING + code, "hollow", "standard"))


def test_a_larger_profile_varies_each_load(snippet: Snippet) -> None:
    code = """
bench.run(work(torch.tanh))
assert rows()["recompiles"]["value"] <= 1 and rows()["recompiles"]["valid"]
fixed = torch.ones(32, 32)
bench.run(work(lambda x: x + fixed.to(x.dtype)))
row = rows()["recompiles"]
assert row["value"] is None and row["why"].startswith("not applicable: torch itself takes no other size: "), row
"""
    held(snippet(HEAD + code, "aot_eager", "standard"))


def test_an_error_that_sticks_to_the_device_is_none_of_a_size(snippet: Snippet) -> None:
    code = """
bench.device.STICKY = "illegal memory access"
def breaks(x): raise RuntimeError("CUDA error: an illegal memory access was encountered")
def smaller(x): return breaks(x) if x.shape[0] < 32 else torch.tanh(x)
probe = compiling.probe
for compute, probed in ((smaller, probe), (torch.tanh, lambda *_: breaks(0))):
    compiling.probe = probed
    try:
        compiling.vary(bench, work(compute))
    except RuntimeError as error:
        assert "illegal memory access" in str(error), error
    else:
        raise SystemExit("what broke the device passes")
assert written() == [], "nothing is told of sizes"
"""
    held(snippet(HEAD + code, "aot_eager", "standard"))


def test_what_a_backend_does_not_tell_is_no_zero(snippet: Snippet) -> None:
    code = """
bench.run(work(torch.tanh))
for metric in ("kernels", "fallbacks", "cache_hits", "cache_misses"):
    row = rows()[metric]
    assert row["value"] is None and not row["valid"] and row["why"].startswith("not known: aot_eager "), row
assert rows()["compile_warm"]["value"] > 0 and rows()["compile_cold"]["valid"]
"""
    held(snippet(HEAD + code, "aot_eager", "smoke"))


def test_each_break_counts_not_each_reason(snippet: Snippet) -> None:
    code = """
use = backends.Use(graphs=4, breaks={"why": 2, "else": 1}, taken=4)
compiling.rows(bench, work(torch.tanh), use, 1.0, bench.device.conditions())
assert rows()["graph_breaks"]["value"] == compiling.told("aot_eager", use)["graph_breaks"] == 3
"""
    held(snippet(HEAD + code, "aot_eager", "smoke"))


def test_sizes_vary_where_batches_of_the_load_do(snippet: Snippet) -> None:
    code = """
shape = lambda load, *inputs: [[tuple(x.shape) for x in one] for one in compiling.resized(load, inputs)][1]
assert shape("matmul.skinny", torch.ones(4, 8), torch.ones(8, 8)) == [(5, 8), (8, 8)]
assert shape("attention.x", torch.ones(1, 2, 16, 4), torch.ones(1, 2, 16, 4)) == [(1, 2, 8, 4)] * 2
assert shape("model.x", torch.ones(1, 3, 4, 4)) == [(2, 3, 4, 4)]
"""
    held(snippet(HEAD + code, "aot_eager", "smoke"))


def test_nothing_is_compiled_in_eager(snippet: Snippet) -> None:
    held(snippet(HEAD + "bench.run(work(torch.tanh))\nassert 'compile_warm' not in rows()", "eager", "standard"))
