"""The plan as a whole, and the laws that hold for every matrix."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import axes
from orchestrator.errors import ExitCode, InputError, NothingSelected
from orchestrator.matrix.document import load
from orchestrator.model import Matrix, Plan
from orchestrator.planning.asking import Says
from orchestrator.planning.plan import MAX_CELLS, make_plan, plan_json
from orchestrator.support.check import Support
from orchestrator.support.facts import load_facts
from orchestrator.vocabulary import LeftOutKind, Tier

ROOT = Path(__file__).parents[3]
PRODUCTION = frozenset({Tier.PRODUCTION})


SUPPORT = Support(load_facts())


def plan_of(
    matrix: Matrix, *select: str, host: Any = None, tiers: frozenset[Tier] = PRODUCTION, support: Says = SUPPORT
) -> Plan:
    return make_plan(matrix, host, tiers=tiers, select=select, support=support)


@pytest.fixture(scope="module")
def real() -> Matrix:
    return load(ROOT / "matrix.yaml")


def test_every_row_of_the_real_matrix_is_a_cell_with_a_machine(real: Matrix) -> None:
    plan = plan_of(real)
    assert [cell.name for cell in plan.cells] == [row.name for row in real.production]
    assert all(cell.placement.placed for cell in plan.cells)
    assert plan.left_out == ()


def test_a_machine_without_a_gpu_runs_the_cpu_rows_of_the_real_matrix(real: Matrix, make: SimpleNamespace) -> None:
    plan = plan_of(real, host=make.host())
    placed = [cell for cell in plan.cells if cell.placement.placed]
    assert [cell.axes["torch_build"] for cell in placed] == ["cpu"] * 10
    assert len({cell.axes["torch"] for cell in placed}) == 3
    assert {cell.axes["backend"] for cell in placed} == {"eager", "inductor", "openvino"}
    assert [cell.name for cell in plan.cells if cell.known_issues] == ["cpu-openvino-next"]


def test_a_row_that_a_site_rule_forbids_is_left_out_with_the_rule(make: SimpleNamespace) -> None:
    rows = (make.row("a", make.cpu), make.row("b", {**make.cpu, "torch": "2.14.1"}))
    plan = plan_of(make.matrix(*rows, rules=(make.rule(7, torch=">=2.14", python="3.11"),)))
    (entry,) = plan.left_out
    assert (entry.name, entry.kind, entry.tier) == ("b", LeftOutKind.RULE, Tier.PRODUCTION)
    assert entry.reason == "we said so (site rule, matrix.yaml:7)"


def test_what_is_not_selected_is_left_out(make: SimpleNamespace) -> None:
    rows = (make.row("a", make.cpu), make.row("b", {**make.cpu, "backend": "inductor"}))
    plan = plan_of(make.matrix(*rows), "*-inductor-*")
    assert [cell.name for cell in plan.cells] == ["b"]
    assert [(entry.name, entry.kind) for entry in plan.left_out] == [("a", LeftOutKind.SELECTION)]


def test_a_selection_of_nothing_suggests_the_nearest(make: SimpleNamespace) -> None:
    with pytest.raises(NothingSelected) as caught:
        plan_of(make.matrix(make.row("train-h100", make.cuda)), "train-h10")
    assert caught.value.exit_code == ExitCode.NOTHING_SELECTED
    assert "`train-h100`" in caught.value.hint


@pytest.mark.parametrize("tiers", [frozenset({Tier.EDGE}), frozenset[Tier]()])
def test_no_cell_is_of_another_tier(make: SimpleNamespace, tiers: frozenset[Tier]) -> None:
    with pytest.raises(NothingSelected, match="the tier production was not asked for"):
        plan_of(make.matrix(make.row("a", make.cpu)), tiers=tiers)


def test_rules_that_forbid_everything_leave_nothing(make: SimpleNamespace) -> None:
    with pytest.raises(NothingSelected, match="no cell is left to work on") as caught:
        plan_of(make.matrix(make.row("a", make.cpu), rules=(make.rule(7, torch="*"),)))
    assert caught.value.hint == "`a`: we said so (site rule, matrix.yaml:7)"


def test_a_matrix_without_rows_leaves_nothing(make: SimpleNamespace) -> None:
    with pytest.raises(NothingSelected, match="the matrix has no production row"):
        plan_of(make.matrix())


def test_more_cells_than_the_cap_are_counted_and_refused(make: SimpleNamespace) -> None:
    rows = [make.row("r", {**make.cpu, "gpus": str(number)}) for number in range(MAX_CELLS + 1)]
    with pytest.raises(InputError, match=f"{MAX_CELLS + 1} cells are more than the {MAX_CELLS} of one plan"):
        plan_of(make.matrix(*rows))


def ids_and_their_owners(value: object, path: str = "") -> Iterator[str]:
    """The path of each `id` key in a document."""
    if isinstance(value, dict):
        for key, child in value.items():
            if key == "id":
                yield path
            yield from ids_and_their_owners(child, f"{path}/{key}")
    elif isinstance(value, list):
        for child in value:
            yield from ids_and_their_owners(child, f"{path}[]")


def test_the_key_id_occurs_on_cells_only(real: Matrix, make: SimpleNamespace) -> None:
    document = json.loads(plan_json(plan_of(real, "cpu-*", host=make.host())))
    assert set(ids_and_their_owners(document)) == {"/cells[]"}
    assert set(document) == {"schema_version", "matrix", "cells", "left_out", "cost", "coverage"}
    assert isinstance(document["cells"][0]["image"], str)


def test_plan_json_is_one_document_that_ends_in_a_newline(real: Matrix) -> None:
    written = plan_json(plan_of(real))
    assert written.endswith(b"\n}\n")
    assert written == plan_json(plan_of(load(ROOT / "matrix.yaml")))


CELLS = st.fixed_dictionaries(
    {
        "torch": st.sampled_from(["2.6.0", "2.13.0", "2.14.1"]),
        "torch_build": st.sampled_from(["cpu", "cu130", "rocm7.1", "xpu"]),
        "python": st.sampled_from(["3.11", "3.13"]),
    },
    optional={
        "backend": st.sampled_from(["eager", "inductor"]),
        "driver": st.sampled_from(["535", "580"]),
        "gpu": st.sampled_from(["H100", "A100"]),
        "gpus": st.sampled_from(["1", "8"]),
    },
)
RULES = st.lists(
    st.dictionaries(
        st.sampled_from(["torch", "backend", "gpu"]), st.sampled_from([">=2.13", "eager", "H*"]), min_size=1
    ),
    max_size=2,
)


@given(st.lists(CELLS, min_size=1, max_size=8), RULES, st.sampled_from([(), ("*cpu*",), ("r[0-3]",)]), st.booleans())
def test_every_row_is_in_or_out_exactly_once(
    make: SimpleNamespace, cells: list[dict[str, str]], rules: list[dict[str, str]], select: tuple[str, ...], here: bool
) -> None:
    rows = [make.row(f"r{number}", cell) for number, cell in enumerate(cells)]
    matrix = make.matrix(*rows, rules=tuple(make.rule(1, **forbid) for forbid in rules))
    host = make.host() if here else None
    try:
        plan = plan_of(matrix, *select, host=host)
    except NothingSelected:
        return
    planned = [name for cell in plan.cells for name in cell.name.split(", ")]
    again = [entry.name for entry in plan.left_out if entry.kind is LeftOutKind.DUPLICATE]
    others = [entry.name for entry in plan.left_out if entry.kind is not LeftOutKind.DUPLICATE]
    assert sorted(planned + others) == sorted(row.name for row in rows)
    assert len(plan.cells) + len(plan.left_out) == len(rows)
    assert set(again) <= set(planned)
    assert len({cell.id for cell in plan.cells}) == len(plan.cells) == plan.cost.cells
    assert plan.cost.placed + plan.cost.unplaced == plan.cost.cells
    assert plan == plan_of(matrix, *select, host=host)


@given(CELLS)
def test_an_axis_at_its_default_renames_no_cell(make: SimpleNamespace, cell: dict[str, str]) -> None:
    plan = plan_of(make.matrix(make.row("r", cell)))
    spelled_out = plan_of(make.matrix(make.row("r", axes.complete(cell))))
    assert [each.id for each in plan.cells] == [each.id for each in spelled_out.cells]
    assert [each.image for each in plan.cells] == [each.image for each in spelled_out.cells]
