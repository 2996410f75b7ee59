"""The plan as it is printed."""

from collections.abc import Callable

import msgspec
import pytest

from orchestrator.model import Cost, Plan, Run
from orchestrator.reports.plan_table import plan_table

Golden = Callable[[str, str], None]


@pytest.mark.parametrize("width", [80, 220])
def test_the_plan_reads_as_it_always_has(every_status: Run, golden: Golden, width: int) -> None:
    golden(f"plan-{width}.txt", plan_table(every_status.plan, width=width, colour=False) + "\n")


def test_a_row_that_is_unsupported_stands_there_with_its_rule(every_status: Run) -> None:
    shown = plan_table(every_status.plan, width=220, colour=False)
    (row,) = [line for line in shown.split("\n") if " too-new " in line]
    assert row.split()[:3] == ["production", "unsupported", "nowhere"]
    reason = "there is no wheel of torch 2.14.1 for Python 3.11 (index-mapping, manual, 2026-11-01)"
    assert shown.count(f"  | unsupported: {reason}\n") == 1
    assert "16 cells: 13 placed, 2 unplaced, 1 unsupported, " in shown


def test_a_verdict_says_what_a_reader_must_know(every_status: Run) -> None:
    shown = plan_table(every_status.plan, width=220, colour=False)
    assert "  | supported until 2028-06-30\n" in shown
    assert "  | degraded: b (window, manual, 2026-11-01)\n" in shown
    assert "  | unknown: nothing that is known proves support of driver 535 (window, manual, 2026-11-01)\n" in shown
    assert "the wheel is there" not in shown


def test_what_is_not_covered_stands_under_the_rule_that_forbids_it(every_status: Run) -> None:
    shown = plan_table(every_status.plan, width=220, colour=False)
    assert "\n6 of 13 pairs are planned, 6 placed\n  | of torch, torch_build\n" in shown
    assert (
        "  | 1 by no wheel: there is no cu130 build of torch 2.6.0 (index-mapping, manual, 2026-11-01)\n"
        "  |   torch=2.6.0 torch_build=cu130\n"
    ) in shown
    assert "torch=2.11.0 torch_build=rocm7.1; and 2 more\n" in shown


@pytest.mark.parametrize(("strength", "named"), [(2, "pairs"), (3, "triples"), (4, "combinations of 4 values")])
def test_combinations_are_called_by_their_size(every_status: Run, strength: int, named: str) -> None:
    plan = every_status.plan
    (coverage,) = plan.coverage
    plan = msgspec.structs.replace(plan, coverage=(msgspec.structs.replace(coverage, strength=strength),))
    assert f"6 of 13 {named} are planned" in plan_table(plan, width=220, colour=False)


def test_a_plan_of_nothing_says_so() -> None:
    cost = Cost(cells=0, placed=0, unplaced=0, images=0, minutes=0.2, gpu_hours=0, money=0, build_bytes=0)
    plan = Plan(matrix="matrix.yaml", cells=(), left_out=(), cost=cost)
    assert plan_table(plan, width=120, colour=False) == (
        "0 cells: 0 placed, 0 unplaced, 0 images, 0 B to build, under a minute, 0.0 GPU-hours"
    )


def test_a_plan_that_costs_money_says_how_much(every_status: Run) -> None:
    plan = msgspec.structs.replace(every_status.plan, cost=msgspec.structs.replace(every_status.plan.cost, money=12.5))
    assert plan_table(plan, width=200, colour=False).endswith(", 12.50 to pay")
