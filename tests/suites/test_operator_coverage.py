"""Coverage of operators: what is taken, left, refused and wrong is told apart, and the table is of core operators."""

import subprocess
from collections.abc import Callable
from functools import partial

import msgspec
import pytest
from bench_code import bench_code
from bench_code import held as bench_held

from orchestrator.formats import Fingerprint
from orchestrator.results.change import ChangeKind
from orchestrator.results.fingerprints import differences

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

HEAD = (
    bench_code(backend="(sys.argv[1:] or ['aot_eager'])[0]", profile='"standard"', steps=1)
    + """
from suites.operator_coverage import covered
from suites.operator_table import TABLE, Operator
rows = written
"""
)


held = partial(bench_held, lacks="this torch has no torch.compile, or marks no core operators")


def test_each_operator_of_the_table_runs_and_has_a_row(snippet: Snippet) -> None:
    code = """
answers = covered(bench, TABLE)
assert len(TABLE) >= 60 and len({one.name for one in TABLE}) == len(TABLE)
assert {answer.outcome for answer in answers} == {"taken"}, [str(one) for one in answers if one.outcome != "taken"]
assert [row["scope"] for row in rows() if row["metric"] == "operator_taken"] == [f"aten.{one.name}" for one in TABLE]
(share,) = [row for row in rows() if row["metric"] == "operator_coverage"]
assert (share["value"], share["samples"]) == (1.0, len(TABLE))
"""
    held(snippet(HEAD + code))


def test_taken_left_refused_and_wrong_are_told_apart(snippet: Snippet) -> None:
    code = """
through = backends.through
def other(backend, compute, dynamic=None):
    def call(*inputs):
        name = current[0]
        if name == "refused": raise RuntimeError("no such operator here")
        result = through("aot_eager", compute)(*inputs) if name != "left" else compute(*inputs)
        return result * 1.01 if name == "wrong" else result
    return call
backends.through = other
current, told = [""], {}
for name in ("taken", "left", "refused", "wrong"):
    current[0] = name
    (answer,) = covered(bench, [Operator(name, torch.tanh)])
    told[name] = str(answer)
assert told == {
    "taken": "aten.taken: taken",
    "left": "aten.left: fell back",
    "refused": "aten.refused: refused: backend refused: aot_eager: no such operator here",
    "wrong": told["wrong"],
}, told
assert told["wrong"].startswith("aten.wrong: wrong: numerics: error against fp64 is 1.00e-02 of "), told
assert bench.compiled["operators", "tiny", "fp32"]["fallbacks"] == [told["wrong"]]
assert [one["load"] for one in bench.structures] == ["operators"]
assert [row["value"] for row in rows() if row["metric"] == "operator_coverage"] == [1.0, 0.0, 0.0, 0.0]
"""
    held(snippet(HEAD + code))


def test_eager_computes_each_and_holds_it_against_fp64(snippet: Snippet) -> None:
    code = """
answers = covered(bench, TABLE)
assert {one.outcome for one in answers} == {"computed"}, [str(one) for one in answers if one.outcome != "computed"]
names = [f"aten.{one.name}" for one in TABLE]
for metric in ("error_ratio", "ulp_largest", "nonfinite"):
    assert [row["scope"] for row in rows() if row["metric"] == metric] == names, metric
assert not [row for row in rows() if row["metric"].startswith("operator_")], "nothing is taken over in eager"
assert [one["load"] for one in bench.fingerprints] == [f"operators.{one.name}" for one in TABLE]
assert bench.structures == []
def moved(x): return torch.tanh(x) * (1 + 1e-4)
def whole(a): return (a > 2).any(-1) ^ (torch.arange(8) == 0)
answers = covered(bench, [Operator("tanh", lambda x: moved(x) if x.dtype == torch.float32 else torch.tanh(x)),
    Operator("any", lambda a: whole(a) if a.dtype == torch.float32 else (a > 2).any(-1))])
assert {answer.outcome for answer in answers} == {"wrong"}, answers
assert rows()[-1]["metric"] == "nonfinite" and rows()[-1]["scope"] == "aten.any", "measured though it is wrong"
"""
    held(snippet(HEAD + code, "eager"))


def test_an_operator_that_breaks_the_device_is_not_one_that_is_refused(snippet: Snippet) -> None:
    code = """
bench.device.STICKY = "illegal memory access"
def breaks(x):
    if x.dtype == torch.float64: return torch.tanh(x)
    raise RuntimeError("CUDA error: an illegal memory access was encountered")
try:
    told = covered(bench, [Operator("tanh", breaks)])
except RuntimeError as error:
    assert "illegal memory access" in str(error), error
else:
    raise SystemExit(f"it passes: {told[0]}")
"""
    held(snippet(HEAD + code, "eager"))


def test_two_cells_are_compared_operator_by_operator(snippet: Snippet) -> None:
    code = """
covered(bench, [Operator("tanh", torch.tanh), Operator("exp", torch.exp)])
first = list(bench.fingerprints)
bench.fingerprints.clear()
off = lambda x: torch.nextafter(torch.exp(x), torch.full_like(x, 1e9))
covered(bench, [Operator("tanh", torch.tanh), Operator("exp", off)])
print(json.dumps([first, bench.fingerprints]))
"""
    done = snippet(HEAD + code, "eager")
    held(done)
    before, after = msgspec.json.decode(done.stdout, type=tuple[tuple[Fingerprint, ...], tuple[Fingerprint, ...]])
    (found,) = differences(before, after)
    assert (found.kind, found.load) == (ChangeKind.LAST_BITS, "operators.exp tiny fp32")


def test_the_names_are_core_operators_of_torch(snippet: Snippet) -> None:
    code = """
if not hasattr(torch.Tag, "core"): raise SystemExit(77)
def is_core(name):
    packet = getattr(torch.ops.aten, name)
    return any(torch.Tag.core in getattr(packet, one).tags for one in packet.overloads())
assert [one.name for one in TABLE if not is_core(one.name)] == []
"""
    held(snippet(HEAD + code))
