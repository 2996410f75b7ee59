"""Tables of device code: what an architecture runs of what a library holds."""

from types import SimpleNamespace
from typing import Any

from orchestrator.support.rows import Exclusion
from orchestrator.vocabulary import Verdict

YES, PART, NO, OPEN = Verdict.SUPPORTED, Verdict.DEGRADED, Verdict.UNSUPPORTED, Verdict.UNKNOWN


def verdicts(world: SimpleNamespace, rule: Any, **axes: object) -> list[Verdict]:
    return [finding.verdict for finding in world.findings(rule, **axes)]


def arch(world: SimpleNamespace, *held: str, **more: Any) -> Any:
    row = world.row({"torch_build": "cu128"}, {"gpu_arch": held, "host_arch": "x86_64"})
    return world.rule(row, relation="cuda", **more)


def test_code_of_a_smaller_minor_runs(world: SimpleNamespace) -> None:
    asked = [
        verdicts(world, arch(world, "sm_80", "sm_90"), torch_build="cu128", gpu_arch=f"sm_{number}")[0]
        for number in (75, 80, 86, 90, 100)
    ]
    assert asked == [NO, YES, YES, YES, NO]


def test_an_exclusion_of_the_vendor_has_its_own_verdict(world: SimpleNamespace) -> None:
    excluded = Exclusion(code=("sm_80",), not_on="sm_87", verdict=PART, source="doc")
    rule = arch(world, "sm_80", exclusions=(excluded,))
    assert verdicts(world, rule, torch_build="cu128", gpu_arch="sm_87") == [PART]
    row = world.row({"torch_build": "cu128"}, {"gpu_arch": ("sm_80",)}, otherwise=OPEN)
    rule = world.rule(row, relation="cuda", exclusions=(excluded,))
    found = [verdicts(world, rule, torch_build="cu128", gpu_arch=device) for device in ("sm_86", "sm_87", "sm_90")]
    assert found == [[YES], [PART], [OPEN]]


def test_the_rest_of_a_need_counts_beside_the_architecture(world: SimpleNamespace) -> None:
    rule = arch(world, "sm_80")
    assert verdicts(world, rule, torch_build="cu128", gpu_arch="sm_80", host_arch="aarch64") == [NO]


def test_cuda_code_says_nothing_of_other_vendors_devices(world: SimpleNamespace) -> None:
    assert world.findings(arch(world, "sm_80"), torch_build="cu128", gpu_arch="gfx942") == []
