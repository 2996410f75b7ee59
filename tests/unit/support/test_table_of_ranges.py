"""What a rule says of a range of versions that somebody asks about."""

from types import SimpleNamespace
from typing import Any

from orchestrator.vocabulary import Verdict

YES, NO, OPEN = Verdict.SUPPORTED, Verdict.UNSUPPORTED, Verdict.UNKNOWN


def verdicts(world: SimpleNamespace, rule: Any, **axes: object) -> list[Verdict]:
    return [finding.verdict for finding in world.findings(rule, **axes)]


def test_of_a_range_one_version_is_enough_where_a_rule_says_so(world: SimpleNamespace) -> None:
    """Who names a build and at least a version gets one of the releases that have it."""
    rows = [
        world.row({"torch": torch}, {"torch_build": builds})
        for torch, builds in {"2.8": ("cu126", "cu128"), "2.9": ("cu126", "cu130")}.items()
    ]
    rule = world.rule(*rows, mode="table", mixed="lenient", some_of_range=True)
    assert verdicts(world, rule, torch=">=2.8", torch_build="cu130") == [YES]
    assert verdicts(world, rule, torch=">=2.8", torch_build="cu118") == [NO]
    assert verdicts(world, world.rule(*rows, mode="table", mixed="lenient"), torch=">=2.8", torch_build="cu130") == [
        OPEN
    ]


def test_at_least_a_version_means_those_that_exist(world: SimpleNamespace) -> None:
    row = world.row({"torch": ">=2.16"}, otherwise=OPEN)
    rule = world.rule(row)
    assert verdicts(world, rule, torch="2.16") == [OPEN]
    assert verdicts(world, rule, torch=">=2.14") == []
    assert verdicts(world, rule, torch=">=2.14,<2.17") == [OPEN]


def test_of_a_range_no_table_is_lenient(world: SimpleNamespace) -> None:
    """Who asks about a range asks about all of it."""
    lenient = world.rule(
        world.row({"torch": "2.8"}, {"torchvision": "0.23"}),
        world.row({"torch": "2.7"}, {"torchvision": "0.22"}),
        mode="table",
        mixed="lenient",
    )
    assert verdicts(world, lenient, torch=">=2.7", torchvision="0.23.0") == [OPEN]
    assert verdicts(world, lenient, torch=">=2.7", torchvision="0.20.0") == [NO]


def test_a_row_that_refuses_a_part_of_a_range_is_told(world: SimpleNamespace) -> None:
    row = world.row({"torch": "2.8", "torchvision": "0.22"})
    (finding,) = world.findings(world.rule(row), torch="2.8.0", torchvision=">=0.21")
    assert (finding.row, finding.verdict) == (row, OPEN)
    (finding,) = world.findings(world.rule(row), torchvision="0.22.1")  # which torch was not said
    assert (finding.row, finding.verdict, finding.missing) == (None, OPEN, ("torch",))
