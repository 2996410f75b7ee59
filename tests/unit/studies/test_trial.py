"""The plan that tests a change, and what it costs."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from orchestrator import axes
from orchestrator.model import Matrix, Observation, Plan, RowImpact
from orchestrator.planning.asking import Asking
from orchestrator.planning.expand import Expansion
from orchestrator.studies.answers import Answers
from orchestrator.studies.impact import Production, of_change
from orchestrator.studies.trial import trial, untested
from orchestrator.support.check import Support
from orchestrator.support.facts import Facts, load_facts
from orchestrator.vocabulary import LeftOutKind, Status, Tier, Verdict

ROWS = """\
version: 1
axes:
  torch: ["2.8.0", "2.13.0"]
  torch_build: [cpu, cu126]
  python: ["3.12"]
  base: [ubuntu24.04]
  driver: {when: {torch_build: "cu*"}, values: ["535", "580"]}
  gpu: {when: {torch_build: "cu*"}, values: [V100, H100]}
production:
  - {name: ci, torch: 2.13.0, torch_build: cpu, python: "3.12", base: ubuntu24.04}
  - {name: one, torch: 2.13.0, torch_build: cu126, python: "3.12", base: ubuntu24.04, driver: "535", gpu: H100}
  - {name: two, torch: 2.13.0, torch_build: cu126, python: "3.12", base: ubuntu24.04, driver: "580", gpu: H100}
  - {name: volta, torch: 2.13.0, torch_build: cu126, python: "3.12", base: ubuntu24.04, driver: "580", gpu: V100}
runners:
  - {name: h100-535, driver: "535", gpu: H100, gpus: 4, price_per_hour: 8}
"""


@pytest.fixture(scope="module")
def facts() -> Facts:
    return load_facts()


Tried = Callable[..., tuple[tuple[RowImpact, ...], Plan, Matrix]]


@pytest.fixture
def tried(written: Callable[[str], Matrix], facts: Facts) -> Tried:
    def study(seen: Any = lambda _: (), **change: str) -> tuple[tuple[RowImpact, ...], Plan, Matrix]:
        matrix = written(ROWS)
        support = Support(facts)
        impacts = of_change(Production(matrix=matrix, facts=facts, seen=seen), change, Answers(support))
        plan = trial(impacts, Expansion(matrix=matrix, host=None, asking=Asking(support, ())))
        return impacts, plan, matrix

    return study


def test_a_cell_says_which_row_it_is_and_what_is_new(tried: Tried) -> None:
    _, plan, matrix = tried(driver="580")
    (cell,) = plan.cells
    assert cell.name == "one"
    assert cell.why == f"production row `one` ({matrix.file}:11) with driver=580"
    assert cell.tier is Tier.EDGE
    assert cell.support.verdict is Verdict.SUPPORTED
    assert cell.axes["driver"] == "580"


def test_two_rows_that_become_one_cell_are_one(tried: Tried) -> None:
    _, plan, _ = tried(torch="2.8.0", driver="580")
    assert [cell.name for cell in plan.cells] == ["ci", "one", "volta"]
    (again,) = plan.left_out
    assert (again.name, again.kind) == ("two", LeftOutKind.DUPLICATE)
    assert "`one`" in again.reason


def test_what_is_left_out_says_why(tried: Tried) -> None:
    _, plan, _ = tried(torch_build="cu132")
    assert [cell.name for cell in plan.cells] == ["one"]
    left = {entry.name: entry for entry in plan.left_out}
    assert left["ci"].kind is LeftOutKind.SELECTION
    assert left["ci"].reason == "runs the build cpu: cu132 is of another platform"
    assert left["volta"].kind in {LeftOutKind.UNSUPPORTED, LeftOutKind.NO_WHEEL}
    assert left["volta"].rule
    assert left["volta"].source


def test_a_cell_without_a_machine_yet_costs_what_the_machine_of_today_costs(tried: Tried) -> None:
    impacts, plan, matrix = tried(driver="580")
    assert not plan.cells[0].placement.placed
    assert plan.cost.minutes == 0
    cost = untested(plan, impacts, matrix.runners)
    assert (cost.cells, cost.images) == (1, 1)
    assert cost.minutes > 0
    assert cost.money == pytest.approx(cost.minutes / 60 * 8 / 4, abs=1e-4)


def test_what_a_run_has_seen_costs_nothing(tried: Tried) -> None:
    seen = lambda cell: (  # noqa: E731 - one observation of whatever is asked
        Observation(run="r", cell=axes.cell_id(cell), status=Status.PASSED, axes=cell),
    )
    impacts, plan, matrix = tried(seen, driver="580")
    assert len(plan.cells) == 1
    assert untested(plan, impacts, matrix.runners).cells == 0
    unseen = tuple(replace(impact, observed=()) for impact in impacts)
    assert untested(plan, unseen, matrix.runners).cells == 1
