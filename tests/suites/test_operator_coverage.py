"""Coverage of operators: what is taken, left, refused and wrong is told apart, and the table is of core operators."""

import subprocess
from collections.abc import Callable
from functools import partial

import pytest
from bench_code import bench_code
from bench_code import held as bench_held

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

HEAD = (
    bench_code(backend='"aot_eager"', profile='"standard"', steps=1)
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
    "wrong": "aten.wrong: wrong",
}, told
assert bench.compiled["operators", "tiny", "fp32"]["fallbacks"] == ["aten.wrong: wrong"]
assert [one["load"] for one in bench.structures] == ["operators"]
assert [row["value"] for row in rows() if row["metric"] == "operator_coverage"] == [1.0, 0.0, 0.0, 0.0]
"""
    held(snippet(HEAD + code))


def test_the_names_are_core_operators_of_torch(snippet: Snippet) -> None:
    code = """
if not hasattr(torch.Tag, "core"): raise SystemExit(77)
def is_core(name):
    packet = getattr(torch.ops.aten, name)
    return any(torch.Tag.core in getattr(packet, one).tags for one in packet.overloads())
assert [one.name for one in TABLE if not is_core(one.name)] == []
"""
    held(snippet(HEAD + code))
