"""The bench: wrong numbers, fallback and refusal fail before anything is timed."""

import subprocess
from collections.abc import Callable

import pytest
from bench_code import bench_code, held

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

HEAD = (
    bench_code()
    + """
def work(compute, **more):
    return Work("l", "32x32", "fp32", "m", "1", compute, (bench.random(32, 32),), **more)
def told(**more):
    try:
        bench.run(work(**more))
    except BaseException as error:
        kind = AssertionError if isinstance(error, AssertionError) else type(error)
        return f"{kind.__name__}: {error}"
    return ""
def timed():
    return any(row["metric"] == "latency" for row in written())
"""
)


def test_what_is_right_is_timed(snippet: Snippet) -> None:
    held(snippet(HEAD + "assert told(compute=torch.tanh, flops=1, bytes=1, formula='2mnk') == '' and timed()", "eager"))


def test_what_is_wrong_is_never_timed(snippet: Snippet) -> None:
    code = "assert told(compute=lambda x: x * 1.001, reference=lambda x: x).startswith('AssertionError: numerics: ')\n"
    held(snippet(HEAD + code + "assert not timed()", "eager"))


HOLLOW = """
import functools
from torch._dynamo.backends.registry import register_backend
def hollow(graph, inputs): return {made}
register_backend(hollow, name=backend)
line = told(compute=lambda x: torch.tanh(x) * x)
"""


@pytest.mark.parametrize("made", ["graph", "graph.forward", "functools.partial(graph.forward)"])
def test_a_backend_that_gives_the_graph_back_has_fallen_back(snippet: Snippet, made: str) -> None:
    code = """
want = "AssertionError: backend fell back: hollow took 0 graphs of l, at least 1 expected (1 graphs were handed to it)"
assert line == want, line
assert not timed()
assert bench.uses[0]["taken"] == 0 and bench.uses[0]["graphs"] == 1
"""
    held(snippet(HEAD + HOLLOW.format(made=made) + code, "hollow"))


def test_a_backend_that_hides_the_graph_is_known_by_the_operators_that_it_runs(snippet: Snippet) -> None:
    code = """
assert line == "AssertionError: backend fell back: hollow runs the very operators of eager in l", line
assert not timed() and bench.uses[0]["taken"] == 0
"""
    held(snippet(HEAD + HOLLOW.format(made="lambda *given: graph(*given)") + code, "hollow"))


def test_a_backend_that_runs_something_else_has_taken_it(snippet: Snippet) -> None:
    made = "lambda x: [torch.addcmul(torch.zeros_like(x), torch.tanh(x), x)]"
    code = "assert line == '' and timed() and bench.uses[0]['taken'] == 1, line"
    held(snippet(HEAD + HOLLOW.format(made=made) + code, "hollow"))


def test_a_backend_that_gives_a_wider_type_is_wrong_though_it_is_nearer(snippet: Snippet) -> None:
    made = "lambda x: [torch.addcmul(torch.zeros_like(x), torch.tanh(x), x).double()]"
    code = (
        "assert line == 'AssertionError: numerics: the result is float64, float32 was expected' and not timed(), line"
    )
    held(snippet(HEAD + HOLLOW.format(made=made) + code, "hollow"))


def test_a_backend_that_raises_has_refused(snippet: Snippet) -> None:
    code = """
def through(backend, compute):
    def call(*inputs):
        raise AssertionError("sources must not be empty for symbol s96")
    return call
backends.through = through
line = told(compute=torch.tanh)
assert line == "AssertionError: backend refused: aot_eager: sources must not be empty for symbol s96", line
"""
    held(snippet(HEAD + code, "aot_eager"))


def test_only_a_missing_toolchain_is_a_skip_and_it_is_asked_once(snippet: Snippet) -> None:
    code = """
calls = []
def through(backend, compute):
    def call(*inputs):
        calls.append(1)
        raise RuntimeError("fatal error: Python.h: No such file or directory")
    return call
backends.through = through
want = "Skipped: compiler missing: inductor needs Python.h (the headers of this Python) to build its kernels"
assert told(compute=torch.tanh) == want == told(compute=torch.tanh)
assert calls == [1]
"""
    held(snippet(HEAD + code, "inductor"))


def test_another_backend_without_a_toolchain_has_refused(snippet: Snippet) -> None:
    code = """
def through(backend, compute):
    def call(*inputs):
        raise RuntimeError("fatal error: Python.h: No such file or directory")
    return call
backends.through = through
assert told(compute=torch.tanh).startswith("AssertionError: backend refused: aot_eager: fatal error: Python.h")
"""
    held(snippet(HEAD + code, "aot_eager"))


def test_a_training_step_returns_the_gradients_that_autograd_gives(snippet: Snippet) -> None:
    code = """
from suites import models
module = torch.nn.Linear(32, 2)
x = bench.random(32, 32)
weight = module.weight.detach().clone().requires_grad_()
loss = (x @ weight.T + module.bias.detach()).square().mean()
expected, = torch.autograd.grad(loss, weight)
with torch.no_grad():
    result = models.training_step(module, module)(x)
assert len(result) == 3 and torch.allclose(result[0], loss) and torch.allclose(result[1], expected)
assert not torch.equal(module.weight, weight), "the step moves the parameters"
"""
    held(snippet(HEAD + code, "eager"))


def test_inputs_depend_on_the_seed_and_the_salt_alone(snippet: Snippet) -> None:
    code = """
first = bench.random(4, salt=1)
torch.manual_seed(99)
assert torch.equal(first, bench.random(4, salt=1)) and not torch.equal(first, bench.random(4, salt=2))
"""
    held(snippet(HEAD + code, "eager"))


ROWS = """
import json
def rows(load="l"):
    lines = (bundle.folder / METRICS).read_text().splitlines()
    return {row["metric"]: row["value"] for row in map(json.loads, lines) if row["load"] == load}
"""


def test_a_kernel_wrong_in_the_last_bits_is_seen_in_the_bundle(snippet: Snippet) -> None:
    code = """
def off(x):
    y = torch.tanh(x)
    return torch.nextafter(y, torch.full_like(y, 2.0))
assert told(compute=torch.tanh) == ""
assert bench.run(Work("off", "32x32", "fp32", "m", "1", off, (bench.random(32, 32),), reference=torch.tanh)) is None
right, wrong = bench.fingerprints
assert right["sha256"] != wrong["sha256"] and right["shape"] == wrong["shape"]
assert rows("off")["exact_share"] < 0.5 < rows()["exact_share"], (rows("off"), rows())
assert 1 <= rows("off")["ulp_p99"] <= 3 and rows("off")["error_ratio"] > 1.5 * rows()["error_ratio"]
"""
    held(snippet(HEAD + ROWS + code, "eager"))


def test_a_kernel_wrong_in_one_precision_only_is_named_with_it(snippet: Snippet) -> None:
    code = """
def kernel(x):
    return x * 1.2 if x.dtype == torch.bfloat16 else x * 1.0
said = {}
for precision in ("fp32", "bf16"):
    given = (bench.random(32, 32, precision=precision),)
    try:
        bench.run(Work("k", "32x32", precision, "m", "1", kernel, given, reference=lambda x: x * 1.0))
    except AssertionError as error:
        said[precision] = str(error)
assert list(said) == ["bf16"] and "(bf16," in said["bf16"], said
"""
    held(snippet(HEAD + code, "eager"))


def test_what_is_not_deterministic_is_told(snippet: Snippet) -> None:
    code = """
calls = iter(range(1000))
def drifting(x):
    y = torch.tanh(x)
    return torch.nextafter(y, torch.full_like(y, 2.0)) if next(calls) % 2 else y  # by one bit, nowhere by more
assert told(compute=drifting, reference=torch.tanh) == ""
assert rows()["deterministic"] == 0 and "not deterministic" in bench.figures[""].notes
torch.use_deterministic_algorithms(True)
assert told(compute=drifting, reference=torch.tanh).startswith("AssertionError: numerics: two runs of the same call")
"""
    held(snippet(HEAD + ROWS + code, "eager"))


def test_a_load_that_repeats_is_told_so(snippet: Snippet) -> None:
    held(snippet(HEAD + ROWS + "assert told(compute=torch.tanh) == '' and rows()['deterministic'] == 1", "eager"))


def test_the_peak_of_a_load_is_not_that_of_its_checking(snippet: Snippet) -> None:
    code = """
import weakref
from suites import numerics, timing
from suites.devices import cpu
seen, order = [], []
compare, honest = numerics.compare, timing.timed
def comparing(*results, **more):
    order.append("compare")
    seen.extend(weakref.ref(one) for tensors in results for one in tensors)
    return compare(*results, **more)
def timed_after(*arguments):
    order.append("time")
    return honest(*arguments)
def reset():
    order.append("reset")
    assert seen and not any(one() is not None for one in seen), "the references still count to the peak"
numerics.compare, timing.timed = comparing, timed_after
cpu.clear, cpu.reset_peak = lambda: order.append("clear"), reset
assert told(compute=torch.tanh) == ""
assert order == ["clear", "compare", "reset", "time"], order
"""
    held(snippet(HEAD + code, "eager"))


def test_what_is_wrong_is_measured_all_the_same(snippet: Snippet) -> None:
    code = """
assert told(compute=lambda x: x * 1.5, reference=lambda x: x).startswith("AssertionError: numerics: error against fp64")
found = rows()
assert 0.49 < found["error"] < 0.51 and found["error_ratio"] > 1e6 and found["ulp_largest"] > 1e6, found
assert found["nonfinite"] == 0 and found["exact_share"] < 0.1, found
"""
    held(snippet(HEAD + ROWS + code, "eager"))


def test_values_that_are_no_numbers_are_counted_in_their_row(snippet: Snippet) -> None:
    code = """
def holed(x):
    return torch.where(torch.arange(32) < 2, torch.full_like(x, float("inf")), x)
line = told(compute=holed, reference=lambda x: x)
assert line == "AssertionError: numerics: 64 of 1024 values are not finite", line
assert rows()["nonfinite"] == 64 and rows()["error"] is None, rows()
(error,) = [row for row in written() if row["metric"] == "error"]
assert not error["valid"] and error["why"] == "not measured: 64 of 1024 values are not finite", error
"""
    held(snippet(HEAD + ROWS + code, "eager"))


def test_compiled_gradients_and_training_are_repeated_too(snippet: Snippet) -> None:
    code = """
from suites import gradients, models
assert told(compute=lambda x: torch.tanh(x) * x, drive=gradients.of_inputs) == ""
assert rows()["deterministic"] == 1
module = torch.nn.Linear(32, 2)
bench.run(Work("training", "32x32", "fp32", "m", "1", module, (bench.random(32, 32),), drive=models.training_step))
assert rows("training")["deterministic"] == 1
same = [row for row in written() if row["metric"] == "deterministic"]
assert len(same) == 2, "each is told once"
"""
    held(snippet(HEAD + ROWS + code, "aot_eager"))


def test_a_result_more_that_is_kept_is_a_higher_peak_of_a_load(snippet: Snippet) -> None:
    code = """
assert told(compute=torch.tanh) == ""
one = rows()["memory_peak"]
bench.run(Work("more", "32x32", "fp32", "m", "1", lambda x: torch.tanh(x.sin()), (bench.random(32, 32),)))
assert (one, rows("more")["memory_peak"]) == (32 * 32 * 4, 2 * 32 * 32 * 4), (one, rows("more"))
"""
    held(snippet(HEAD + ROWS + code, "eager"))


def test_products_are_labelled_by_what_was_in_force_and_all_else_by_its_numbers(snippet: Snippet) -> None:
    code = """
def labels():
    return {row["precision"] for row in written()} | {one["precision"] for one in bench.structures + bench.fingerprints}
assert told(compute=torch.tanh) == "" and labels() == {"fp32"}
given = {"compute": lambda x: x @ x, "flops": 2 * 32**3, "formula": "2mnk"}
assert told(**given) == "" and labels() == {"fp32", "fp32-ieee"}
torch.set_float32_matmul_precision("high")
assert told(**given) == "" and labels() == {"fp32", "fp32-ieee", "fp32-high"}
from suites.loads import test_matmul
try:
    test_matmul.capabilities.lacking = lambda *_: ""
    test_matmul.test_square(bench, "tf32")
except pytest.skip.Exception as skipped:
    assert "fp32's case tells them" in str(skipped), skipped
else:
    raise SystemExit("the same figure would be told twice")
"""
    held(snippet("import pytest\n" + HEAD + code, "eager"))
