from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from orchestrator.model import Axes, CellSupport, Interaction, LeftOut, Place, Placement, PlannedCell
from orchestrator.planning.asking import Against
from orchestrator.planning.combinations import Combination, Combined, combination
from orchestrator.planning.expand import cells_of
from orchestrator.planning.shortfall import coverage
from orchestrator.vocabulary import LeftOutKind, Tier, Verdict


def pair(torch: str, python: str) -> Combination:
    return combination({"torch": torch, "python": python})


PAIRS = tuple(pair(torch, python) for torch in ("2.13.0", "2.14.1") for python in ("3.11", "3.12"))


VALUES = {"torch": ("2.13.0", "2.14.1"), "python": ("3.11", "3.12")}


def wanting(kept_out: dict[Combination, Against]) -> list[Combined]:
    place = Place(file="m", line=1, column=1)

    def refuses(partial: Axes) -> str:
        return next((keeps.reason for one, keeps in kept_out.items() if dict(one).items() <= partial.items()), "")

    return [
        Combined(
            interaction=Interaction(axes=("torch", "python"), place=place),
            wanted=PAIRS,
            kept_out=kept_out,
            values=VALUES,
            refuses=refuses,
            rows=(),
        )
    ]


def cells(make: SimpleNamespace, *pythons: str) -> list[PlannedCell]:
    rows = [make.row(python, make.cpu | {"python": python}) for python in pythons]
    return cells_of(rows, make.expansion(make.matrix(*rows)))[0]


def dropped(make: SimpleNamespace, kind: LeftOutKind, **change: str) -> LeftOut:
    return LeftOut(name="x", tier=Tier.EDGE, axes=make.cpu | change, kind=kind, reason="why")


def test_planned_and_placed_are_counted_and_each_other_pair_has_its_reason(make: SimpleNamespace) -> None:
    first, second = cells(make, "3.11", "3.12")
    away = replace(second, placement=Placement(placed=False, runner=None, reason="no machine"))
    never = Against(kind=LeftOutKind.NO_WHEEL, reason="there is none", rule="index-mapping", source="manual")
    left = [
        dropped(make, LeftOutKind.DUPLICATE, torch="2.14.1"),
        dropped(make, LeftOutKind.BUDGET, torch="2.14.1"),
    ]
    (found,) = coverage(wanting({pair("2.14.1", "3.12"): never}), [first, away], left)
    assert (found.wanted, found.planned, found.placed) == (3, 2, 1)
    assert [(dict(one.axes), one.kind, one.reason, one.rule) for one in found.uncovered] == [
        ({"torch": "2.14.1", "python": "3.11"}, LeftOutKind.BUDGET, "why", ""),
        ({"torch": "2.14.1", "python": "3.12"}, LeftOutKind.NO_WHEEL, "there is none", "index-mapping"),
    ]


def test_a_row_that_is_unsupported_covers_nothing(make: SimpleNamespace) -> None:
    (cell,) = cells(make, "3.11")
    refused: Any = replace(cell, support=CellSupport(verdict=Verdict.UNSUPPORTED))
    never = Against(kind=LeftOutKind.NO_WHEEL, reason="there is none")
    (found,) = coverage(wanting(dict.fromkeys(PAIRS, never)), [refused], [])
    assert (found.wanted, found.planned, len(found.uncovered)) == (0, 0, 4)


def test_without_interactions_nothing_is_counted(make: SimpleNamespace) -> None:
    assert coverage([], cells(make, "3.11"), []) == ()
