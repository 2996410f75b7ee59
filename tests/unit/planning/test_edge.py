"""The edge as a whole: what is thought of is in or out, once, with its reason."""

from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.model import Edge, Interaction, LeftOut, Matrix, Place, PlannedCell
from orchestrator.planning.edge import edge_cells, edges_of
from orchestrator.vocabulary import LeftOutKind, Tier, Verdict

PAIRS = (Interaction(axes=("torch", "python"), place=Place(file="matrix.yaml", line=9, column=1)),)


@pytest.fixture
def matrix(make: SimpleNamespace) -> Matrix:
    """Two rows, one next to the other, with something on every side of them."""
    made: Matrix = make.matrix(
        make.row("old", make.cpu | {"torch": "2.13.0"}, 5, owner="infra@team", timeout_s=60.0),
        make.row("new", make.cpu | {"torch": "2.14.1"}, 6),
        axes=(make.values("torch", "2.6.0", "2.13.0", "2.14.1"), make.values("python", "3.11", "3.12", "3.13")),
        edge=Edge(neighbours=("previous", "next"), pairwise=PAIRS),
    )
    return made


def planned(
    make: SimpleNamespace, matrix: Matrix, *told: Any, select: tuple[str, ...] = ()
) -> tuple[list[PlannedCell], list[LeftOut]]:
    expansion = make.expansion(matrix, vendor=make.vendor(*told))
    return edge_cells(edges_of(matrix, expansion.asking), select, expansion)


def test_neighbours_come_before_pairs_and_each_says_why(make: SimpleNamespace, matrix: Matrix) -> None:
    cells, left = planned(make, matrix)
    assert [(cell.name, cell.axes["torch"], cell.axes["python"]) for cell in cells[:3]] == [
        ("old+next-python", "2.13.0", "3.12"),
        ("new+next-python", "2.14.1", "3.12"),
        ("old+previous-torch", "2.6.0", "3.11"),
    ]
    assert cells[0].why == "next python after production row `old`: 3.11 -> 3.12"
    pairs = cells[3:]
    assert {(cell.axes["torch"], cell.axes["python"]) for cell in pairs} == {
        ("2.6.0", "3.12"), ("2.6.0", "3.13"), ("2.13.0", "3.13"), ("2.14.1", "3.13"),
    }  # fmt: skip
    assert all("+pair-" in cell.name and cell.why.startswith("no other cell has torch=") for cell in pairs)
    assert {cell.tier for cell in cells} == {Tier.EDGE}
    assert [(entry.name, entry.kind) for entry in left] == [
        ("old+next-torch", LeftOutKind.DUPLICATE),
        ("new+previous-torch", LeftOutKind.DUPLICATE),
    ]
    assert left[0].reason.startswith("is the same cell as production row `new`: torch2.14.1-")


def test_a_cell_is_its_rows_in_all_but_the_axes(make: SimpleNamespace, matrix: Matrix) -> None:
    cells, _ = planned(make, matrix)
    by_name = {cell.name: cell for cell in cells}
    assert (by_name["old+next-python"].owner, by_name["old+next-python"].limits.timeout_s) == ("infra@team", 60.0)
    assert by_name["new+next-python"].owner == ""


def test_a_selection_names_cells_of_the_edge_too(make: SimpleNamespace, matrix: Matrix) -> None:
    every, _ = planned(make, matrix)
    by_name, left = planned(make, matrix, select=("old+*",))
    assert [cell.name for cell in by_name] == [cell.name for cell in every if cell.name.startswith("old+")]
    assert {entry.kind for entry in left if not entry.name.startswith("old+")} == {LeftOutKind.SELECTION}
    (by_id,), _ = planned(make, matrix, select=(every[2].id,))
    assert by_id == every[2]


def test_two_names_of_one_cell_are_one_cell(make: SimpleNamespace, matrix: Matrix) -> None:
    from msgspec.structs import replace

    apart = replace(
        matrix, production=(matrix.production[0], make.row("far", make.cpu | {"torch": "2.13.0", "python": "3.13"}))
    )
    cells, left = planned(make, apart)
    names = [cell.name for cell in cells]
    assert "old+next-python" in names
    (again,) = [entry for entry in left if entry.name == "far+previous-python"]
    assert again.reason.startswith("is the same cell as `old+next-python`: ")
    (alone,), _ = planned(make, apart, select=("far+previous-python",))
    assert alone.name == "far+previous-python"


def test_what_vendors_refuse_is_left_out_with_rule_and_source(make: SimpleNamespace, matrix: Matrix) -> None:
    cells, left = planned(make, matrix, make.says(Verdict.UNSUPPORTED, "python-wheel", torch="2.6.0"))
    (entry,) = [entry for entry in left if entry.kind is LeftOutKind.NO_WHEEL]
    assert (entry.name, entry.rule, entry.source) == ("old+previous-torch", "python-wheel", "manual, 2026-11-01")
    assert "2.6.0" not in {cell.axes["torch"] for cell in cells}


def test_a_row_that_the_site_forbids_has_no_neighbours(make: SimpleNamespace, matrix: Matrix) -> None:
    from msgspec.structs import replace

    cells, left = planned(make, replace(matrix, rules=(make.rule(3, torch=">=2.14"),)))
    assert not any(one.name.startswith("new+") for one in (*cells, *left))
    assert {entry.kind for entry in left} == {LeftOutKind.RULE}


def test_the_budget_takes_the_last_first(make: SimpleNamespace, matrix: Matrix) -> None:
    from msgspec.structs import replace

    small = replace(matrix, edge=replace(matrix.edge, cells=2))
    cells, left = planned(make, small)
    assert [cell.name for cell in cells] == ["old+next-python", "new+next-python"]
    dear = [entry for entry in left if entry.kind is LeftOutKind.BUDGET]
    assert next(entry.name for entry in dear) == "old+previous-torch"
    assert {entry.reason for entry in dear} == {"the budget of the edge is 2 cells"}
    assert len(cells) + len(left) == sum(map(len, planned(make, matrix)))
