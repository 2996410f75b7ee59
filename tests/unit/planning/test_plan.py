"""The plan as a whole, and the laws that hold for every matrix."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator import axes
from orchestrator.errors import ExitCode, InputError, NothingSelected
from orchestrator.matrix.document import load
from orchestrator.model import Coverage, Edge, Interaction, Matrix, Place, Plan
from orchestrator.planning.asking import Says, asking_of
from orchestrator.planning.edge import edges_of
from orchestrator.planning.plan import MAX_CELLS, make_plan, plan_json
from orchestrator.support.check import Support
from orchestrator.support.facts import load_facts
from orchestrator.vocabulary import LeftOutKind, Tier, Verdict

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
    assert entry.reason == "we said so (site-rule, matrix.yaml:7)"


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
    assert caught.value.hint == "`a`: we said so (site-rule, matrix.yaml:7)"


def test_a_matrix_without_rows_leaves_nothing(make: SimpleNamespace) -> None:
    with pytest.raises(NothingSelected, match="the matrix has no production row"):
        plan_of(make.matrix())


def test_more_cells_than_the_cap_are_counted_and_refused(make: SimpleNamespace) -> None:
    rows = [make.row("r", {**make.cpu, "gpus": str(number)}) for number in range(MAX_CELLS + 1)]
    with pytest.raises(InputError, match=f"{MAX_CELLS + 1} cells are more than the {MAX_CELLS} of one plan"):
        plan_of(make.matrix(*rows))


def test_cells_at_the_edge_count_too(make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.planning.plan.MAX_CELLS", 2)
    matrix = make.matrix(make.row("r", make.cpu), axes=section(make), edge=Edge(neighbours=("previous", "next")))
    with pytest.raises(InputError, match=r"^matrix.yaml: \d+ cells are more than the 2 of one plan"):
        plan_of(matrix, tiers=frozenset(Tier))


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


def test_a_plan_of_an_older_torchmatrix_still_reads(real: Matrix) -> None:
    document = json.loads(plan_json(plan_of(real)))
    del document["coverage"]
    for cell in document["cells"]:
        del cell["support"], cell["aliases"]
    plan = msgspec.convert(document, Plan)
    assert {cell.support.verdict for cell in plan.cells} == {Verdict.UNKNOWN}
    assert [cell.id for cell in plan.cells] == [cell.id for cell in plan_of(real).cells]


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


# --- the edge, under what vendors really say --------------------------------------------------------------------------


def section(make: SimpleNamespace, *more: Any) -> tuple[Any, ...]:
    return (
        make.values("torch", "2.6.0", "2.13.0", "2.14.1"),
        make.values("torch_build", "cpu", "cu126", "cu130", "rocm7.1", "xpu"),
        make.values("python", "3.11", "3.12", "3.13"),
        make.values("backend", "eager", "inductor"),
        make.values("driver", "535", "580", torch_build="cu*"),
        make.values("gpu", "A100", "H100", torch_build="cu*"),
        *more,
    )


EDGES = st.builds(
    Edge,
    neighbours=st.lists(st.sampled_from(["oldest", "previous", "next", "newest"]), unique=True).map(tuple),
    pairwise=st.sampled_from(
        [
            (),
            (Interaction(axes=("torch", "torch_build", "driver"), place=Place(file="m", line=1, column=1)),),
            (
                Interaction(axes=("torch", "python"), place=Place(file="m", line=1, column=1)),
                Interaction(axes=("torch", "torch_build", "gpu"), strength=3, place=Place(file="m", line=1, column=1)),
            ),
        ]
    ),
    cells=st.none() | st.integers(1, 8),
    gpu_hours=st.none() | st.floats(0, 0.5),
)
PRODUCED = st.lists(
    st.sampled_from(
        [
            {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11"},
            {"torch": "2.6.0", "torch_build": "cpu", "python": "3.13", "backend": "inductor"},
            {"torch": "2.13.0", "torch_build": "cu130", "python": "3.12", "driver": "580", "gpu": "H100", "gpus": "8"},
            {"torch": "2.13.0", "torch_build": "cu126", "python": "3.12", "driver": "535", "gpu": "A100"},
            {
                "torch": "2.13.0",
                "torch_build": "cu130",
                "python": "3.12",
                "driver": "535",
                "gpu": "A100",
                "cuda_compat": "13.0",
            },
            {"torch": "2.14.1", "torch_build": "rocm7.1", "python": "3.12", "driver": "30.20", "gpu": "MI300X"},
            {"torch": "2.13.0", "torch_build": "xpu", "python": "3.12", "gpu": "B580"},
        ]
    ),
    min_size=1,
    max_size=3,
    unique_by=axes.cell_id,
)


@settings(max_examples=25, deadline=None)
@given(PRODUCED, EDGES, st.booleans())
def test_the_edge_holds_what_it_promises(
    make: SimpleNamespace, produced: list[dict[str, str]], edge: Edge, forbid: bool
) -> None:
    rows = [make.row(f"r{number}", cell) for number, cell in enumerate(produced)]
    rules = (make.rule(3, torch=">=2.14", python="3.11"),) if forbid else ()
    matrix = make.matrix(*rows, axes=section(make), edge=edge, rules=rules)
    plan = plan_of(matrix, tiers=frozenset(Tier))
    assert plan == plan_of(matrix, tiers=frozenset(Tier))
    support = Support(load_facts(), rules=rules)
    edge_cells = [cell for cell in plan.cells if cell.tier is Tier.EDGE]
    for cell in edge_cells:
        assert support.answer(cell.axes).verdict in {Verdict.SUPPORTED, Verdict.DEGRADED}, cell.axes
        assert cell.support.verdict is support.answer(cell.axes).verdict
        assert cell.why
    assert edge.cells is None or len(edge_cells) <= edge.cells
    # in and out are all: each production row, each value beyond a row's own, each combination, once
    assert [cell.name for cell in plan.cells if cell.tier is Tier.PRODUCTION] == [row.name for row in rows]
    names = [one.name for one in (*plan.cells, *plan.left_out)]
    assert len(names) == len(set(names))
    assert len({cell.id for cell in plan.cells}) == len(plan.cells)
    asked = asking_of(matrix, support)
    thought_of = [row.name for row in rows] + [one.name for one in edges_of(matrix, asked).candidates]
    assert sorted(names) == sorted(thought_of)
    assert all(entry.reason for entry in plan.left_out)
    for entry in plan.left_out:
        if entry.kind in {LeftOutKind.NO_WHEEL, LeftOutKind.UNSUPPORTED} and entry.rule != "axes":
            assert support.answer(entry.axes).verdict is Verdict.UNSUPPORTED, entry
    for found in plan.coverage:
        counted = combinations_in(found, [cell.axes for cell in plan.cells if cell.support.verdict != "unsupported"])
        uncovered = {tuple(sorted(one.axes.items())) for one in found.uncovered}
        assert len(counted) == found.planned
        assert not counted & uncovered
        assert len(uncovered) == len(found.uncovered)
        assert counted | uncovered == combinations_in(found, None, matrix)
        assert all(one.reason for one in found.uncovered)


def combinations_in(found: Coverage, cells: Any, matrix: Any = None) -> set[tuple[tuple[str, str], ...]]:
    """Counted by brute force: the combinations that some cells hold, or all that a matrix has values for."""
    seen: set[tuple[tuple[str, str], ...]] = set()
    for names in itertools.combinations(found.axes, found.strength):
        if cells is None:
            values = [
                [value for entry in matrix.axes if entry.axis == name for value in entry.values] for name in names
            ]
            wanted = itertools.product(*values)
        else:
            wanted = iter(tuple(cell.get(name) for name in names) for cell in cells)
        seen |= {tuple(sorted(zip(names, one, strict=True))) for one in wanted if None not in one}
    return seen & {one for one in seen if cells is None or _has_values(one)}


def _has_values(one: tuple[tuple[str, str], ...]) -> bool:
    """Production rows of the tests hold values that the `axes` of their matrix do not list."""
    return not {"30.20", "MI300X", "B580"} & {value for _, value in one}


@settings(max_examples=10, deadline=None)
@given(PRODUCED)
def test_an_axis_that_is_added_at_its_default_renames_no_cell(
    make: SimpleNamespace, produced: list[dict[str, str]]
) -> None:
    rows = [make.row(f"r{number}", cell) for number, cell in enumerate(produced)]
    edge = Edge(neighbours=("previous", "next"))
    plain = plan_of(make.matrix(*rows, axes=section(make), edge=edge), tiers=frozenset(Tier))
    more = section(make, make.values("matmul_precision", "highest"))
    with_axis = plan_of(make.matrix(*rows, axes=more, edge=edge), tiers=frozenset(Tier))
    assert [cell.id for cell in plain.cells] == [cell.id for cell in with_axis.cells]
    assert plain.left_out == with_axis.left_out


def test_the_edge_of_the_real_matrix_is_within_its_budget(real: Matrix) -> None:
    plan = plan_of(real, tiers=frozenset(Tier))
    edge = [cell for cell in plan.cells if cell.tier is Tier.EDGE]
    assert 8 <= len(edge) <= (real.edge.cells or 0)
    assert {cell.support.verdict for cell in edge} <= {Verdict.SUPPORTED, Verdict.DEGRADED}
    assert any("had to move" in cell.why for cell in edge)
    only = plan_of(real, tiers=frozenset({Tier.EDGE}))
    assert only.cells == tuple(edge)
    assert {entry.kind for entry in only.left_out if entry.tier is Tier.PRODUCTION} == {LeftOutKind.TIER}


def test_the_edge_is_the_same_on_every_machine(real: Matrix, make: SimpleNamespace) -> None:
    here = plan_of(real, host=make.host(), tiers=frozenset(Tier))
    assert [cell.id for cell in here.cells] == [cell.id for cell in plan_of(real, tiers=frozenset(Tier)).cells]


# --- reliability row 13: a combination that has no wheel ------------------------------------------------------------


def test_a_row_without_a_wheel_is_planned_as_unsupported(make: SimpleNamespace) -> None:
    rows = (make.row("good", make.cpu), make.row("bad", make.cuda | {"torch": "2.6.0"}, 7))
    plan = plan_of(make.matrix(*rows))
    bad = plan.cells[1]
    assert (bad.support.verdict, bad.support.rule) == (Verdict.UNSUPPORTED, "index-mapping")
    assert not bad.placement.placed
    assert bad.placement.reason.startswith(bad.support.because)
    assert plan.left_out == ()


@pytest.mark.parametrize("by_id", [False, True])
def test_a_row_without_a_wheel_that_is_asked_for_by_name_is_an_error(make: SimpleNamespace, by_id: bool) -> None:
    cell = make.cuda | {"torch": "2.6.0"}
    matrix = make.matrix(make.row("good", make.cpu), make.row("bad", cell, 7))
    with pytest.raises(InputError) as caught:
        plan_of(matrix, axes.cell_id(cell) if by_id else "bad")
    assert caught.value.exit_code == ExitCode.BAD_INPUT
    assert caught.value.place == "matrix.yaml:7:5"
    assert caught.value.fact.startswith("`bad` is unsupported: ")
    assert "(index-mapping, " in caught.value.fact
    assert caught.value.hint.startswith("nearest: ")
    assert "(supported)" in caught.value.hint
    assert [each.name for each in plan_of(matrix, "ba*", "good").cells] == ["good", "bad"]


def test_an_edge_cell_without_a_wheel_that_is_asked_for_by_name_is_an_error(make: SimpleNamespace) -> None:
    matrix = make.matrix(
        make.row("a", make.cpu), axes=(make.values("torch", "2.13.0", "2.14.1"),), edge=Edge(neighbours=("next",))
    )
    vendor = make.vendor(make.says(Verdict.UNSUPPORTED, "python-wheel", torch="2.14.1"))
    everything = frozenset(Tier)
    assert [cell.name for cell in plan_of(matrix, tiers=everything, support=vendor).cells] == ["a"]
    with pytest.raises(InputError, match=r"`a\+next-torch` is unsupported: python-wheel says unsupported") as caught:
        plan_of(matrix, "a+next-torch", tiers=everything, support=vendor)
    assert caught.value.hint == "nearest: torch_build=cu130 (supported)"


def test_a_cell_of_the_edge_asked_for_in_another_tier_is_told_where_it_is(make: SimpleNamespace) -> None:
    matrix = make.matrix(
        make.row("a", make.cpu), axes=(make.values("torch", "2.13.0", "2.14.1"),), edge=Edge(neighbours=("next",))
    )
    with pytest.raises(NothingSelected) as caught:
        plan_of(matrix, "a+next-torch")
    assert caught.value.hint.endswith("cells at the edge need `--tier edge` or `all`")
