from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.support.listed import listed_arches
from orchestrator.vocabulary import Verdict


def said(world: SimpleNamespace, **axes: Any) -> list[Verdict]:
    facts = world.facts(world.rule(name="arch-binary", relation="cuda"))
    return [each.verdict for each in listed_arches(world.question(axes), facts)]


@pytest.mark.parametrize(
    ("printed", "arch", "verdict"),
    [
        (["sm_80", "sm_90"], "sm_90", Verdict.SUPPORTED),
        (["sm_80", "sm_90"], "sm_86", Verdict.SUPPORTED),
        (["sm_80", "sm_90"], "sm_75", Verdict.UNSUPPORTED),
        (["sm_80", "compute_90"], "sm_120", Verdict.UNKNOWN),
        (["sm_80", "sm_90"], "sm_120", Verdict.UNSUPPORTED),
        ("gfx90a gfx942", "gfx942", Verdict.SUPPORTED),
        ("gfx90a gfx942", "gfx90a", Verdict.SUPPORTED),
        ("gfx90a gfx942", "gfx1100", Verdict.UNSUPPORTED),
    ],
)
def test_a_printed_list_says_what_the_build_holds(
    world: SimpleNamespace, printed: Any, arch: str, verdict: Verdict
) -> None:
    assert said(world, torch_arch_list=printed, gpu_arch=arch) == [verdict]


def test_without_a_list_or_a_device_it_says_nothing(world: SimpleNamespace) -> None:
    assert said(world, gpu_arch="sm_90") == []
    assert said(world, torch_arch_list="sm_90") == []
