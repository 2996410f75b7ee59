from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import axes
from orchestrator.errors import InputError
from orchestrator.model import Interaction, Place
from orchestrator.planning.asking import Asking
from orchestrator.planning.combinations import Combined, combination, combine, groups_of, held
from orchestrator.planning.coverage import tally
from orchestrator.planning.neighbours import Candidate
from orchestrator.planning.space import by_axis, misfit
from orchestrator.vocabulary import LeftOutKind, Verdict

HERE = Place(file="matrix.yaml", line=9, column=3)


def interaction(*names: str, strength: int = 2) -> Interaction:
    return Interaction(axes=names, strength=strength, place=HERE)


def section(make: SimpleNamespace) -> Any:
    return (
        make.values("torch", "2.6.0", "2.13.0", "2.14.1"),
        make.values("torch_build", "cpu", "cu126", "cu130"),
        make.values("python", "3.11", "3.12"),
        make.values("driver", "535", "580", torch_build="cu*"),
    )


def combined(
    make: SimpleNamespace, *told: Any, of: tuple[Interaction, ...] = (interaction("torch", "torch_build", "driver"),)
) -> tuple[list[Candidate], list[Combined]]:
    rows = [make.row("cpu", make.cpu), make.row("gpu", make.cuda)]
    seeds = [axes.complete(row.axes) for row in rows]
    return combine(Asking(make.vendor(*told), ()), by_axis(section(make)), rows, of, seeds)


def test_every_pair_that_nothing_forbids_is_in_a_cell(make: SimpleNamespace) -> None:
    cells, (found,) = combined(make)
    seeds = [axes.complete(make.cpu), axes.complete(make.cuda)]
    groups = groups_of(found.wanted)
    having = {one for cell in [*seeds, *(each.cell for each in cells)] for one in held(cell, found.wanted, groups)}
    assert len(found.wanted) == 9 + 6 + 6
    assert having | found.kept_out.keys() == set(found.wanted)
    assert {dict(one)["torch_build"] for one in found.kept_out} == {"cpu"}
    assert {keeps.reason for keeps in found.kept_out.values()} == {"`driver` has no meaning where torch_build=cpu"}
    assert len(cells) < 8


def test_a_cell_has_the_rest_from_the_nearest_production_row(make: SimpleNamespace) -> None:
    cells, _ = combined(make)
    for cell in cells:
        gpu = cell.cell["torch_build"] != "cpu"
        assert cell.name.startswith("gpu+pair-" if gpu else "cpu+pair-")
        assert cell.name.endswith(axes.cell_id(cell.cell)[-8:])
        assert cell.cell["python"] == ("3.12" if gpu else "3.11")
        assert (cell.cell.get("gpu"), cell.cell.get("gpus")) == (("H100", "8") if gpu else (None, None))
        assert f"around production row `{'gpu' if gpu else 'cpu'}`" in cell.why


def test_the_cells_with_most_of_their_own_come_first(make: SimpleNamespace) -> None:
    cells, _ = combined(make)
    assert [cell.rank for cell in cells] == [(4, place) for place in range(len(cells))]
    first = [cell.why.count("torch") for cell in cells]
    assert first[0] >= first[-1]


def test_a_pair_that_a_rule_forbids_is_kept_out_by_it(make: SimpleNamespace) -> None:
    rule = make.says(Verdict.UNSUPPORTED, "index-mapping", torch="2.6.0", torch_build="cu130")
    cells, (found,) = combined(make, rule)
    keeps = found.kept_out[combination({"torch": "2.6.0", "torch_build": "cu130"})]
    assert (keeps.kind, keeps.rule) == (LeftOutKind.NO_WHEEL, "index-mapping")
    assert not any({"torch": "2.6.0", "torch_build": "cu130"}.items() <= cell.cell.items() for cell in cells)


def test_a_pair_whose_every_cell_is_forbidden_names_all_that_forbids_it(make: SimpleNamespace) -> None:
    told = [
        make.says(Verdict.UNSUPPORTED, "old", torch="2.14.1", torch_build="cu*", driver="535"),
        make.says(Verdict.UNSUPPORTED, "new", torch_build="cpu", torch="2.14.1"),
    ]
    _, (found,) = combined(make, *told)
    keeps = found.kept_out[combination({"torch": "2.14.1", "driver": "535"})]
    assert (keeps.kind, keeps.rule) == (LeftOutKind.UNSUPPORTED, "several rules")
    assert "old says unsupported" in keeps.reason


def test_what_nobody_speaks_of_is_not_planned(make: SimpleNamespace) -> None:
    cells, (found,) = combined(make, make.says(Verdict.UNKNOWN, torch="2.14.1", torch_build="cu*"))
    assert not any(cell.cell["torch"] == "2.14.1" and cell.cell["torch_build"] != "cpu" for cell in cells)
    keeps = found.kept_out[combination({"torch": "2.14.1", "torch_build": "cu130"})]
    assert keeps.kind is LeftOutKind.UNKNOWN
    assert keeps.reason.startswith("around production row `gpu`: nobody says that it works")


def test_what_the_rest_of_a_cell_forbids_is_repaired(make: SimpleNamespace) -> None:
    rule = make.says(Verdict.UNSUPPORTED, "python-wheel", torch="2.6.0", python="3.12")
    cells, (found,) = combined(make, rule)
    old = [cell for cell in cells if cell.cell["torch"] == "2.6.0" and cell.cell["torch_build"] != "cpu"]
    assert {cell.cell["python"] for cell in old} == {"3.11"}
    assert all("python had to move 3.12 -> 3.11" in cell.why for cell in old)
    assert not any(dict(one).get("torch") == "2.6.0" for one in found.kept_out)


def test_strengths_may_be_mixed(make: SimpleNamespace) -> None:
    of = (interaction("torch", "python"), interaction("torch", "torch_build", "python", strength=3))
    cells, (pairs, triples) = combined(make, of=of)
    assert (len(pairs.wanted), len(triples.wanted)) == (6, 18)
    having = {one for cell in cells for one in held(cell.cell, triples.wanted, groups_of(triples.wanted))}
    assert len(having) >= 16


def test_too_many_combinations_are_refused_with_their_line(make: SimpleNamespace) -> None:
    many = tuple(
        make.values(name, *(f"{number}.0" for number in range(1, 80)))
        for name in ("torch", "triton", "torchvision", "numpy")
    )
    asking = Asking(make.vendor(), ())
    of = interaction("torch", "triton", "torchvision", "numpy", strength=3)
    with pytest.raises(InputError, match="more than 200000 combinations of 3 values") as caught:
        combine(asking, by_axis(many), [make.row("cpu", make.cpu)], [of], [])
    assert caught.value.place == "matrix.yaml:9:3"


def test_without_interactions_or_rows_there_is_nothing(make: SimpleNamespace) -> None:
    asking = Asking(make.vendor(), ())
    assert combine(asking, {}, [make.row("cpu", make.cpu)], [], []) == ([], [])
    assert combine(asking, by_axis(section(make)), [], [interaction("torch", "python")], []) == ([], [])


def test_a_ready_image_is_combined_with_machines_only(make: SimpleNamespace) -> None:
    row = make.row("ready", {"image": "sha256:" + "0" * 64, "driver": "580", "gpu": "H100"})
    asking = Asking(make.vendor(), ())
    space = by_axis((*section(make), make.values("backend", "eager", "inductor")))
    cells, (found,) = combine(asking, space, [row], [interaction("driver", "backend")], [axes.complete(row.axes)])
    assert {(cell.cell["driver"], cell.cell["backend"]) for cell in cells} == {
        ("580", "inductor"), ("535", "eager"), ("535", "inductor"),
    }  # fmt: skip
    assert found.kept_out == {}
    cells, (found,) = combine(asking, space, [row], [interaction("torch", "python")], [axes.complete(row.axes)])
    assert cells == []
    assert {keeps.reason for keeps in found.kept_out.values()} == {"every production row is a ready image"}


FORBIDS = st.lists(
    st.dictionaries(
        st.sampled_from(["torch", "torch_build", "python", "driver"]),
        st.sampled_from(["2.6.0", "2.14*", "cpu", "cu13*", "3.11", "535", "*"]),
        min_size=1,
        max_size=3,
    ),
    max_size=4,
)


@given(FORBIDS, FORBIDS)
def test_no_pair_is_lost_and_no_cell_is_refused(
    make: SimpleNamespace, forbidden: list[dict[str, str]], unknown: list[dict[str, str]]
) -> None:
    told = [make.says(Verdict.UNSUPPORTED, **when) for when in forbidden]
    told += [make.says(Verdict.UNKNOWN, **when) for when in unknown]
    cells, (found,) = combined(make, *told)
    seeds = [axes.complete(make.cpu), axes.complete(make.cuda)]
    groups = groups_of(found.wanted)
    having = {one for cell in [*seeds, *(each.cell for each in cells)] for one in held(cell, found.wanted, groups)}
    assert having | found.kept_out.keys() == set(found.wanted)
    assert not having & found.kept_out.keys()
    asking = Asking(make.vendor(*told), ())
    for cell in cells:
        assert asking.against(cell.cell) is None
        assert misfit(by_axis(section(make)), cell.cell) == ""
    again, (same,) = combined(make, *told)
    assert (cells, found.wanted, found.kept_out) == (again, same.wanted, same.kept_out)
    counted = tally(
        found.values,
        (("torch", "torch_build", "driver"), 2),
        found.refuses,
        planned=[*seeds, *(one.cell for one in cells)],
    )
    never = {combination(dict(one)) for one, _ in counted.uncoverable}
    assert never <= found.kept_out.keys()  # nothing is called forbidden by the one and planned by the other
    others = found.kept_out.keys() - never
    assert all(found.kept_out[one].reason.startswith("around production row `") for one in others)
