"""What was learned beside what was believed."""

import datetime as dt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.support.differences import differences
from orchestrator.support.facts import Facts, load_facts
from orchestrator.support.layers import join
from orchestrator.support.learn import from_wheel
from orchestrator.support.learned import Learned, overlay
from orchestrator.support.rows import Row
from orchestrator.support.wheel import read
from orchestrator.vocabulary import RuleKind


@pytest.fixture(scope="module")
def facts() -> Facts:
    return load_facts()


@pytest.fixture
def rows(make: SimpleNamespace, tmp_path: Path) -> tuple[Learned, ...]:
    return from_wheel(read(make.torch_wheel(tmp_path)))


def test_of_a_release_that_nobody_knows_everything_is_new(facts: Facts, rows: tuple[Learned, ...]) -> None:
    states = {(one.rule, one.axis): one.state for one in differences(rows, facts) if one.rule != "companion-pin"}
    assert states["arch-binary", "gpu_arch"] == "new"
    assert "same" not in states.values()


def test_what_was_learned_once_is_the_same_again(facts: Facts, rows: tuple[Learned, ...]) -> None:
    made = overlay(rows, facts, "torch.whl", dt.date(2026, 11, 29))
    again = differences(rows, Facts(join(facts.file, made, name="mine")))
    assert [(one.axis, one.learned) for one in again if one.state != "same"] == []
    assert all(one.believed for one in again)


ARCH = ("arch-binary", RuleKind.BINARY_COMPATIBILITY, "table", "gpu_arch")
PYTHON = ("python-wheel", RuleKind.MAPPING, "table", "python")
GLIBC = ("glibc", RuleKind.INTERVAL, "table", "glibc")
PLACE = {"os": "linux", "host_arch": "x86_64", "torch_from": "wheel"}


@pytest.mark.parametrize(
    ("topic", "believed", "learned", "one_of", "state"),
    [
        (ARCH, ("sm_75", "sm_90"), ("sm_90", "sm_75"), False, "same"),
        (ARCH, ("sm_75", "sm_90"), ("sm_90",), False, "differs"),
        (ARCH, ("sm_90",), ("sm_75", "sm_90"), False, "differs"),
        (PYTHON, ("3.11", "3.12"), ("3.12",), True, "same"),
        (PYTHON, ("3.11", "3.12"), ("3.13",), True, "differs"),
        (PYTHON, ("3.11", "3.12"), ("3.12t",), True, "differs"),
        (PYTHON, ">=3.11", ("3.12",), True, "same"),
        (GLIBC, ">=2.28", ">=2.28", False, "same"),
        (GLIBC, ">=2.28", ">=2.17", False, "differs"),
        (GLIBC, ">=2.17", ">=2.28", False, "differs"),
    ],
)
def test_lists_and_ranges_are_compared_by_what_they_allow(
    facts: Facts, topic: Any, believed: Any, learned: Any, one_of: bool, state: str
) -> None:
    rule, kind, mode, axis = topic
    when = {"torch": "2.99.0", "torch_build": "cu141", **PLACE}

    def one(need: Any) -> Learned:
        row = Row(when=when, need={axis: need}, source="measured")
        return Learned(rule=rule, kind=kind, mode=mode, row=row, example=when, one_of=one_of)

    known = overlay([one(believed)], facts, "x", dt.date(2026, 1, 1))
    (found,) = differences([one(learned)], Facts(join(facts.file, known, name="mine")))
    assert (found.state, found.source) == (state, "measured: x")
