"""Operators: injected faults of structure are found by a real run a side, and the profile is what torch did."""

import json
import subprocess
from collections.abc import Callable
from functools import partial

import msgspec
import pytest
from bench_code import bench_code
from bench_code import held as bench_held

from orchestrator.formats import LoadStructure, StructureFile
from orchestrator.results.change import ChangeKind
from orchestrator.results.structure import differences

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

HEAD = (
    bench_code()
    + """
def run(compute, **more):
    work = {"inputs": (bench.random(64, 64),), **more}
    try:
        bench.run(Work("l", "64x64", "fp32", "m", "1", compute, **work))
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        raise SystemExit(77 if "compiler missing" in str(error) else 1)
rows = written
def told():
    print("STRUCTURE", json.dumps(operators.told(bench.structures, bench.compiled)))
def whole(x):
    return torch.tanh(torch.sin(x * 1.5) + x) * x
"""
)


held = partial(bench_held, lacks="this torch has no torch.compile, or there is no C++ compiler for inductor")


def structure(done: subprocess.CompletedProcess[str]) -> StructureFile:
    held(done)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("STRUCTURE ")]
    loads = msgspec.convert(json.loads(line.removeprefix("STRUCTURE ")), tuple[LoadStructure, ...])
    return StructureFile(backends=(), loads=loads)


@pytest.fixture(scope="module")
def fused(snippet: Snippet) -> StructureFile:
    """One kernel for all of `whole`, as inductor makes it here."""
    return structure(snippet(HEAD + "run(whole); told()", "inductor"))


@pytest.mark.slow
def test_two_real_runs_of_the_same_do_not_differ(snippet: Snippet, fused: StructureFile) -> None:
    assert differences(fused, structure(snippet(HEAD + "run(whole); told()", "inductor"))) == ()
    (load,) = fused.loads
    assert load.fused == (("add", "mul", "sin", "tanh"),)
    assert load.launches == 1
    assert load.unstable == ()


@pytest.mark.slow
def test_a_fused_kernel_split_by_a_barrier_is_found_from_one_run_a_side(snippet: Snippet, fused: StructureFile) -> None:
    barrier = """
from torch.library import Library
mine = Library("mine", "DEF")
mine.define("keep(Tensor x) -> Tensor")
mine.impl("keep", lambda x: x.clone(), "CompositeExplicitAutograd")
def split(x):
    return torch.tanh(torch.ops.mine.keep(torch.sin(x * 1.5)) + x) * x
run(split); told()
"""
    found = differences(fused, structure(snippet(HEAD + barrier, "inductor")))
    (split,) = [change for change in found if change.kind is ChangeKind.SPLIT]
    assert split.before == ("add+mul+sin+tanh",)
    assert split.after == ("add+mul+tanh", "keep+mul+sin")  # inductor copies what the barrier gave
    assert split.share > 0
    assert ChangeKind.LAUNCHES in {change.kind for change in found}


@pytest.mark.slow
def test_a_graph_break_is_found_with_its_reason_and_with_what_it_split(snippet: Snippet, fused: StructureFile) -> None:
    broken = """
import torch._dynamo
def broken(x):
    y = torch.sin(x * 1.5)
    torch._dynamo.graph_break()
    return torch.tanh(y + x) * x
run(broken); told()
"""
    found = differences(fused, structure(snippet(HEAD + broken, "inductor")))
    kinds = {change.kind: change for change in found}
    assert {ChangeKind.SPLIT, ChangeKind.GRAPH_BREAKS, ChangeKind.GRAPHS} <= kinds.keys()
    assert kinds[ChangeKind.GRAPH_BREAKS].before == ("0",)
    assert kinds[ChangeKind.GRAPH_BREAKS].after[0] == "1"
    assert len(kinds[ChangeKind.GRAPH_BREAKS].after) == 2


def test_an_eager_step_is_told_by_operator_and_shapes(snippet: Snippet) -> None:
    code = """
weight = torch.randn(64, 64)
run(lambda x: torch.tanh(x @ weight), reference=lambda x: torch.tanh(x @ weight.double()))
told()
found = {row["scope"]: row for row in rows() if row["metric"] == "operator_time"}
name = "aten::mm(float32[64x64],float32[64x64])"
assert found[name]["unit"] == "us" and found[name]["value"] > 0 and found[name]["samples"] == 3, found
assert found[name]["spread"]["minimum"] == found[name]["value"], found
assert set(found[name]["conditions"]) == {"clock_mhz", "temperature_c", "power_w", "throttle"}, found
launches, = [row for row in rows() if row["metric"] == "launches"]
assert launches["value"] == 2 and launches["direction"] == "equal", launches
"""
    (load,) = structure(snippet(HEAD + code, "eager")).loads
    work = {scope.scope: scope for scope in load.scopes if scope.kernels}
    assert set(work) == {"aten::mm(float32[64x64],float32[64x64])", "aten::tanh(float32[64x64])"}
    assert load.flops in (2 * 64**3, 0)  # torch 1.13 has no formulas
    assert bool(load.formula) == bool(load.flops)
    assert work["aten::mm(float32[64x64],float32[64x64])"].bytes == 3 * 64 * 64 * 4


def test_an_operator_that_silently_ran_on_the_processor_fails_the_load(snippet: Snippet) -> None:
    code = """
from suites import timing
class Elsewhere:
    STATISTIC = "min"
    ACTIVITY = ""
    place = staticmethod(lambda: "meta")
    synchronise = staticmethod(lambda: None)
    conditions = staticmethod(lambda index: timing.UNREAD)
bench.device = Elsewhere
def compute(x):
    torch.sinh(torch.ones(8, 8))
    return torch.tanh(x)
def examined(load, compute):
    work = Work(load, "8x8", "fp32", "m", "1", compute, (torch.ones(8, 8, device="meta"),))
    try:
        operators.examine(bench, work, compute)
    except AssertionError as error:
        return str(error)
    return ""
line = examined("l", compute)
assert line.startswith("backend fell back: ") and "aten::sinh on cpu" in line, line
assert line.endswith(", where meta was asked for") and "tanh" not in line, line
assert "aten::sinh on cpu" in bench.structures[0]["fallbacks"], bench.structures
assert "aten::sinh on cpu" in examined("l", lambda x: (torch.sinh(torch.ones(8)), torch.tanh(x))[1]), "of a row too"
assert "aten::empty_like on cpu" in examined("l", lambda x: torch.empty_like(x, device="cpu")), "what only came there"
assert examined("l", torch.tanh) == "", "what stays on the device is no matter"
assert examined("l", lambda x: torch.tanh(x * torch.tensor(2.0))) == "", "numbers lie on the processor"
operators.scopes.fallbacks = lambda events: {"aten::erfinv"}
assert "aten::erfinv on cpu" in examined("l", torch.tanh), "what only the profiler saw"
"""
    held(snippet(HEAD + code, "eager"))


def test_the_backward_pass_of_attention_counts_too(snippet: Snippet) -> None:
    code = """
from torch.nn import functional
from suites import dispatched, gradients
if not dispatched._formulas(): raise SystemExit(77)
attend = functional.scaled_dot_product_attention
step = gradients.of_inputs(attend, None)
given = [torch.randn(1, 2, 32, 16) for _ in range(3)]
forward = dispatched.seen(lambda: attend(*given), "cpu").flops
both = dispatched.seen(lambda: step(*given), "cpu").flops
assert (forward, both) == (4 * 2 * 32 * 32 * 16, 14 * 2 * 32 * 32 * 16), (forward, both)
"""
    held(snippet(HEAD + code, "eager"), lacks="this torch has no formulas of operations")


def test_both_passes_give_a_scope_the_same_name_whatever_it_holds(snippet: Snippet) -> None:
    code = """
from suites import dispatched, profiling, scopes
kinds = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64")
eighths = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
for kind in (*kinds, *(one for one in eighths if hasattr(torch, one))):
    given = torch.ones(4, 4).to(getattr(torch, kind))
    counted = set(dispatched.seen(given.clone, "cpu").costs)
    events, _ = profiling.profiled(given.clone, bench.device, 1)
    timed = {scopes.named(one.name, one.shapes, one.dtypes) for one in events}
    assert counted == {f"aten::clone({kind}[4x4])"} <= timed, (counted, timed)
"""
    held(snippet(HEAD + code, "eager"))


def test_torch_s_own_fallback_is_seen_by_the_copy_it_makes(snippet: Snippet) -> None:
    code = """
from suites import profiling, scopes
if not hasattr(torch, "_to_cpu"): raise SystemExit(0)
events, _ = profiling.profiled(lambda: torch._to_cpu([torch.ones(4)]), bench.device, 2)
assert scopes.fallbacks(events) == {"aten::_to_cpu"}, events
"""
    held(snippet(HEAD + code, "eager"))


def test_no_profiler_is_told_and_does_not_fail_the_load(snippet: Snippet) -> None:
    code = """
from suites import profiling
def broken(*_):
    raise RuntimeError("no profiler in this build")
profiling.profiled = broken
run(torch.tanh)
launches, = [row for row in rows() if row["metric"] == "launches"]
assert not launches["valid"] and launches["why"] == "not measured: the profiler: no profiler in this build"
assert bench.structures == []
"""
    held(snippet(HEAD + code, "eager"))


def test_generated_kernels_are_themselves_again_after_the_profile(snippet: Snippet) -> None:
    code = """
from types import ModuleType
from suites import profiling
module = ModuleType("generated")
module.cpp_fused_add_0 = kernel = lambda *_: 7
with profiling._named([module]) as found:
    assert module.cpp_fused_add_0(torch.ones(2, 2), 3) == 7
assert module.cpp_fused_add_0 is kernel
assert list(found) == ["fused add(float32[2x2])"] and found["fused add(float32[2x2])"].bytes == 16, found
"""
    held(snippet(HEAD + code, "eager"))


def test_an_eager_profile_imports_no_compiler(snippet: Snippet) -> None:
    code = """
before = "torch._dynamo" in sys.modules
run(torch.tanh)
assert before or "torch._dynamo" not in sys.modules, "it takes seconds"
"""
    held(snippet(HEAD + code, "eager"))
