"""Compiling for other sizes: a backend that compiles anew for each size is slow wherever batches differ.

Two small computations; the larger profiles ask the same of each load. And the operators that models use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import pytest
import torch

from suites import backends, compiling, expected
from suites.exits import COMPILER_MISSING, FELL_BACK, NUMERICS
from suites.loads.test_elementwise import chain
from suites.operator_coverage import covered
from suites.operator_table import TABLE
from suites.work import Work

if TYPE_CHECKING:
    from suites.bench import Bench

# Dynamo turns a size that changed into a symbol, so the second shape compiles once more and all after it are served.
# A vendor's backend may answer a symbol with an engine for each size: that is told by its row, and is no failure.
_OURS = frozenset({"inductor", "aot_eager"})


def test_sizes_of_chain(bench: Bench) -> None:
    """An elementwise chain, over a varying number of rows."""
    _other_sizes(bench, "elementwise.chain", chain, 2)


def test_sizes_of_product(bench: Bench) -> None:
    """A product of matrices, the left one with a varying number of rows."""
    _other_sizes(bench, "matmul.square", torch.matmul, 2)


def test_operators(bench: Bench) -> None:
    """The operators that models use, each by itself: what is taken over, and that it is computed right.

    Eager computes all of them in each profile. A vendor's backend is asked for a few of them from the smallest profile
    on, and inductor from the next one on: it takes seconds to build each kernel. The profile above asks for all.
    """
    vendors = bench.backend in backends.INFERENCE_ONLY
    few = bench.cell.profile == ("smoke" if vendors else "standard")
    eager = bench.backend == "eager"
    if bench.cell.profile == "smoke" and not vendors and not eager:
        pytest.skip("not applicable: the smoke profile asks only a vendor's backend for its operators")
    backends.ready(bench.backend)
    try:
        answers = covered(bench, [one for one in TABLE if one.first or eager or not few])
    except Exception as error:
        missing = backends.toolchain_missing(error) if bench.backend == "inductor" else None
        if missing:
            pytest.skip(f"{COMPILER_MISSING}: inductor needs {missing} to build its kernels")
        raise
    wrong = [answer for answer in answers if answer.outcome == "wrong"]
    assert not wrong, f"{NUMERICS}: {bench.backend} computes wrongly: {'; '.join(map(str, wrong[:5]))}"
    none = bool(answers) and not any(answer.outcome == "taken" for answer in answers)
    assert not (none and expected.least(bench.backend, "operators")), (
        f"{FELL_BACK}: {bench.backend} took none of {len(answers)} operators: {answers[0]}"
    )
    refused = [answer for answer in answers if answer.outcome == "refused"]
    if eager and refused:
        told = f"{len(refused)} of {len(answers)} operators are not computed here: {refused[0]}"
        bench.note(told)


def _other_sizes(bench: Bench, load: str, compute: Callable[..., Any], operands: int) -> None:
    if bench.backend == "eager":
        pytest.skip("not applicable: eager compiles nothing")
    backends.ready(bench.backend)
    inputs = tuple(bench.random(64, 64, salt=salt) for salt in range(operands))
    shapes = compiling.resized(load, inputs)
    rows = ",".join(str(one[0].shape[0]) for one in shapes)
    work = Work(f"compile.{load}", f"{rows} x 64", "fp32", "sizes", "1", compute, inputs)
    try:
        again = compiling.probe(bench.backend, compute, shapes)
    except Exception as error:
        missing = backends.toolchain_missing(error) if bench.backend == "inductor" else None
        if missing:
            pytest.skip(f"{COMPILER_MISSING}: inductor needs {missing} to build its kernels")
        raise AssertionError(backends.refusal(bench.backend, error)) from error
    assert again.taken > 0 or not expected.least(bench.backend, load), (
        f"{FELL_BACK}: {bench.backend} took nothing of {load} in any of {len(shapes)} sizes"
    )
    compiling.note(bench, work, again)
    assert not (again.for_each_size and bench.backend in _OURS), (
        f"compiled again for each of {again.sizes} further sizes: {'; '.join(again.reasons) or 'torch tells no reason'}"
    )
