from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.support import written
from orchestrator.support.binary import Relation
from orchestrator.support.rows import Exclusion, Synonym
from orchestrator.vocabulary import Verdict

YES, PART, NO = Verdict.SUPPORTED, Verdict.DEGRADED, Verdict.UNSUPPORTED
NUMBERS = st.sampled_from([50, 52, 60, 61, 70, 75, 80, 86, 89, 90, 100, 103, 120, 121])


@pytest.fixture
def relation(world: SimpleNamespace) -> Relation:
    rule = world.rule(
        relation="cuda",
        exclusions=(
            Exclusion(code=("sm_52",), not_on="sm_53", verdict=NO, source="doc"),
            Exclusion(code=("sm_80", "sm_86"), not_on="sm_87", verdict=PART, source="doc"),
            Exclusion(code=("sm_120",), not_on="sm_121", verdict=PART, until_cuda="13.0", source="doc"),
        ),
        only_exact=("sm_62",),
        synonyms=(Synonym(old="sm_101", new="sm_110"),),
    )
    return Relation(rule)


def judged(relation: Relation, arch: str, *held: str, cuda: str = "") -> Verdict:
    return relation.verdict(arch, held, written.version("cuda_runtime", cuda) if cuda else None)


@given(NUMBERS, NUMBERS)
def test_machine_code_runs_on_its_own_major_from_its_minor_on(world: SimpleNamespace, code: int, device: int) -> None:
    relation = Relation(world.rule(relation="cuda"))
    runs = code // 10 == device // 10 and code % 10 <= device % 10
    assert judged(relation, f"sm_{device}", f"sm_{code}") is (YES if runs else NO)


@given(NUMBERS, NUMBERS)
def test_ptx_is_translated_for_every_device_from_its_number_on(world: SimpleNamespace, code: int, device: int) -> None:
    relation = Relation(world.rule(relation="cuda"))
    assert judged(relation, f"sm_{device}", f"ptx_{code}") is (YES if code <= device else NO)


def test_one_that_runs_is_enough(relation: Relation) -> None:
    assert judged(relation, "sm_86", "sm_70", "sm_80", "sm_90") is YES
    assert judged(relation, "sm_75", "sm_70", "sm_80") is YES
    assert judged(relation, "sm_61", "sm_70", "sm_80", "sm_90", "ptx_70") is NO


@pytest.mark.parametrize(
    ("arch", "held", "expected"),
    [
        ("sm_53", ("sm_52",), NO),
        ("sm_53", ("sm_52", "sm_50"), YES),
        ("sm_53", ("sm_53",), YES),
        ("sm_87", ("sm_80",), PART),
        ("sm_87", ("sm_86", "sm_90"), PART),
        ("sm_87", ("sm_87",), YES),
        ("sm_62", ("sm_61",), YES),
        ("sm_62", ("sm_62",), YES),
        ("sm_63", ("sm_62",), NO),
        ("sm_110", ("sm_101",), YES),
        ("sm_101", ("sm_110",), YES),
    ],
)
def test_what_a_vendor_takes_out(relation: Relation, arch: str, held: tuple[str, ...], expected: Verdict) -> None:
    assert judged(relation, arch, *held) is expected


@pytest.mark.parametrize(
    ("cuda", "expected"), [("12.8", PART), ("12.9", PART), ("13.0", YES), ("13.1", YES), ("", PART)]
)
def test_an_exclusion_may_end_with_a_cuda_version(relation: Relation, cuda: str, expected: Verdict) -> None:
    assert judged(relation, "sm_121", "sm_120", cuda=cuda) is expected


@pytest.mark.parametrize("arch", ["gfx942", "xe_hpg", "sm_", "", "sm_1"])
def test_what_is_no_cuda_architecture_runs_only_what_is_named_so(relation: Relation, arch: str) -> None:
    assert judged(relation, arch, "sm_80", "ptx_50") is NO
    assert judged(relation, arch, arch) is YES


def test_an_answer_is_the_same_the_second_time(relation: Relation) -> None:
    held: Any = ("sm_120",)
    old, new = written.version("cuda_runtime", "12.8"), written.version("cuda_runtime", "13.0")
    found = [relation.verdict("sm_121", held, cuda) for cuda in (old, new, old, new)]
    assert found == [PART, YES, PART, YES]
