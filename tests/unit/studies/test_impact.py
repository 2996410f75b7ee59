"""Production before and after: the laws of every impact, asked of the real facts, and what is told of each row."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator import axes
from orchestrator.errors import NothingSelected
from orchestrator.matrix.document import load
from orchestrator.model import Axes, Matrix, Observation
from orchestrator.planning.asking import Asking
from orchestrator.planning.expand import Expansion
from orchestrator.studies.answers import Answers
from orchestrator.studies.impact import Production, of_change, of_time
from orchestrator.studies.trial import trial
from orchestrator.support.check import Support
from orchestrator.support.facts import Facts, load_facts
from orchestrator.vocabulary import WORKS, Status, Verdict

TODAY = dt.date(2026, 11, 29)
LATER = dt.date(2027, 11, 29)
ROWS = """\
version: 1
axes:
  torch: ["2.8.0", "2.13.0"]
  torch_build: [cpu, cu126, cu130]
  python: ["3.11", "3.12"]
  base: [debian12, ubuntu24.04]
  driver: {when: {torch_build: "cu*"}, values: ["535", "580", "595"]}
  gpu: {when: {torch_build: "cu*"}, values: [H100]}
production:
  - {name: ci, torch: 2.13.0, torch_build: cpu, python: "3.12", base: debian12}
  - {name: old, torch: 2.8.0, torch_build: cu126, python: "3.12", base: ubuntu24.04, driver: "535", gpu: H100}
  - {name: new, torch: 2.13.0, torch_build: cu130, python: "3.12", base: ubuntu24.04, driver: "595", gpu: H100}
"""


@pytest.fixture(scope="module")
def facts() -> Facts:
    return load_facts()


@pytest.fixture
def rows(written: Callable[[str], Matrix], facts: Facts) -> Production:
    return Production(matrix=written(ROWS), facts=facts, seen=lambda _: ())


def answers(facts: Facts, on: dt.date = TODAY) -> Answers:
    return Answers(Support(facts, on=on))


def test_every_row_is_there_in_the_order_of_the_file(rows: Production, facts: Facts) -> None:
    found = of_change(rows, {"driver": "580"}, answers(facts))
    assert [impact.name for impact in found] == ["ci", "old", "new"]
    assert [bool(impact.unchanged) for impact in found] == [True, False, False]
    for impact in found:
        assert impact.place.file == rows.matrix.file
        if impact.unchanged:
            assert impact.after == impact.before
            assert (impact.moves, impact.blocked, impact.cell, impact.observed) == (None, None, None, ())


def test_what_was_wrong_before_is_not_held_against_the_change(rows: Production, facts: Facts) -> None:
    """Debian 12 ended on 2026-07-11 (endoflife.date): a newer torch has nothing to do with that."""
    (ci, *_) = of_change(rows, {"torch": "2.14.1"}, answers(facts))
    assert (ci.before.verdict, ci.after.verdict) == (Verdict.DEGRADED, Verdict.DEGRADED)
    assert (ci.moves, ci.blocked) == (None, None)
    assert ci.cell == axes.cell_id({**ci.before.axes, "torch": "2.14.1"})


def test_what_was_asked_stays_also_where_the_row_had_it_already(rows: Production, facts: Facts) -> None:
    """cu132 begins with 2.12 and is not built for 2.8 (build matrix): torch would move, had it not been named."""
    found = {each.name: each for each in of_change(rows, {"torch_build": "cu132"}, answers(facts))}
    assert found["old"].moves is not None
    assert "torch" in found["old"].moves.change
    found = {each.name: each for each in of_change(rows, {"torch_build": "cu132", "torch": "2.8.0"}, answers(facts))}
    assert found["old"].moves is None
    assert found["old"].blocked is not None
    assert set(found["old"].blocked.axes) >= {"torch", "torch_build"}


def test_the_time_mends_what_has_ended_too(rows: Production, facts: Facts) -> None:
    found = {each.name: each for each in of_time(rows, answers(facts), answers(facts, LATER), LATER)}
    assert found["ci"].moves is not None
    assert dict(found["ci"].moves.change) == {"base": "ubuntu24.04"}
    assert found["old"].moves is not None
    assert dict(found["old"].moves.change) == {"driver": "580"}


def test_what_ends_first_comes_first_and_what_does_not_last(rows: Production, facts: Facts) -> None:
    found = of_time(rows, answers(facts), answers(facts, LATER), LATER)
    assert [impact.name for impact in found] == ["old", "ci", "new"]
    soon = of_time(rows, answers(facts), answers(facts, TODAY), TODAY)
    assert soon[-1].name == "new"
    assert soon[-1].unchanged == "nothing of it ends by 2026-11-29"


def test_only_the_rows_that_are_named_take_the_change(written: Callable[[str], Matrix], facts: Facts) -> None:
    production = Production(matrix=written(ROWS), facts=facts, seen=lambda _: (), rows=("o*",))
    found = of_change(production, {"driver": "580"}, answers(facts))
    assert [impact.unchanged for impact in found] == ["`--rows` does not name it", "", "`--rows` does not name it"]
    with pytest.raises(NothingSelected, match="odl"):
        of_change(
            Production(matrix=production.matrix, facts=facts, seen=lambda _: (), rows=("odl",)),
            {"driver": "580"},
            answers(facts),
        )


def test_what_runs_saw_is_asked_of_the_whole_new_cell(written: Callable[[str], Matrix], facts: Facts) -> None:
    asked: list[Axes] = []

    def seen(cell: Axes) -> tuple[Observation, ...]:
        asked.append(cell)
        return (Observation(run="r1", cell=axes.cell_id(cell), status=Status.PASSED, axes=cell),)

    found = of_change(Production(matrix=written(ROWS), facts=facts, seen=seen), {"driver": "580"}, answers(facts))
    assert [impact.cell for impact in found if impact.cell] == [axes.cell_id(cell) for cell in asked]
    assert all(cell == axes.complete(cell) for cell in asked)
    assert [len(impact.observed) for impact in found] == [0, 1, 1]


@pytest.fixture(scope="module")
def real() -> Matrix:
    return load(Path(__file__).parents[3] / "matrix.yaml")


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "torch": st.sampled_from(["2.6.0", "2.10.0", "2.13.0", "2.14.1", "2.15.0"]),
        "torch_build": st.sampled_from(["cu126", "cu128", "cu130", "cu132", "rocm7.2"]),
        "python": st.sampled_from(["3.9", "3.11", "3.13", "3.14"]),
        "driver": st.sampled_from(["535", "570", "580", "595", "30.30"]),
        "gpu": st.sampled_from(["V100", "H100", "B200", "MI355X"]),
        "partition": st.sampled_from(["whole", "1g.10gb"]),
        "backend": st.sampled_from(["eager", "inductor"]),
        "base": st.sampled_from(["debian13", "ubuntu24.04"]),
    },
).filter(bool)


@given(change=CHANGES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_plan_holds_what_vendors_support_and_every_row_is_in_it_or_left_out(
    real: Matrix, facts: Facts, change: dict[str, str]
) -> None:
    support = Support(facts, on=TODAY, rules=real.rules)
    production = Production(matrix=real, facts=facts, seen=lambda _: ())
    found = of_change(production, change, Answers(support))
    assert found == of_change(production, change, Answers(support))
    expansion = Expansion(matrix=real, host=None, asking=Asking(support, real.rules))
    plan = trial(found, expansion)
    assert plan == trial(found, expansion)
    names = [cell.name for cell in plan.cells] + [entry.name for entry in plan.left_out]
    assert sorted(names) == sorted(row.name for row in real.production)
    assert len({cell.id for cell in plan.cells}) == len(plan.cells)
    for cell in plan.cells:
        assert support.verdict(cell.axes) in WORKS
        assert cell.axes == axes.complete(cell.axes)
        assert cell.id == axes.cell_id(cell.axes)
    for impact in found:
        if impact.moves:
            as_asked = {name for name, value in change.items() if impact.after.axes.get(name) == value}
            assert not impact.moves.change.keys() & as_asked
            assert {**impact.after.axes, **impact.moves.change} == impact.final.axes
            assert support.verdict(impact.final.axes) in WORKS
