from types import SimpleNamespace

import pytest

from orchestrator.planning.asking import Asking
from orchestrator.planning.repair import Stand, standing
from orchestrator.planning.space import Space, by_axis
from orchestrator.vocabulary import LeftOutKind, Verdict

NO = Verdict.UNSUPPORTED


@pytest.fixture
def space(make: SimpleNamespace) -> Space:
    return by_axis(
        (
            make.values("torch", "2.6.0", "2.13.0", "2.14.1"),
            make.values("torch_build", "cpu", "cu126", "cu130", "cu132"),
            make.values("python", "3.11", "3.12", "3.13"),
            make.values("driver", "535", "570", "580", torch_build="cu*"),
            make.values("gpu", "A100", "H100", torch_build="cu*"),
        )
    )


def stand(make: SimpleNamespace, space: Space, change: dict[str, str], *told: object) -> Stand:
    """What comes of a change to a CUDA cell under what a vendor says."""
    cell = make.cuda | {"torch_build": "cu126", "driver": "535"} | change
    return standing(Asking(make.vendor(*told), ()), space, cell, frozenset(change), [])


def moves(found: Stand) -> list[str]:
    return [f"{repair.axis} {repair.before} {repair.after}" for repair in found.repairs]


def test_what_stands_is_left_as_it_is(make: SimpleNamespace, space: Space) -> None:
    found = stand(make, space, {"torch": "2.14.1"})
    assert (found.repairs, found.against, found.cell["torch"]) == ((), None, "2.14.1")


def test_one_other_axis_moves_to_the_nearest_value_and_upwards_first(make: SimpleNamespace, space: Space) -> None:
    found = stand(make, space, {"torch": "2.14.1"}, make.says(NO, torch="2.14.1", torch_build="cu126"))
    assert moves(found) == ["torch_build cu126 cu130"]
    assert str(found.repairs[0]) == "torch_build had to move cu126 -> cu130 (floor says unsupported; floor)"
    assert found.against is None


def test_the_change_itself_is_kept_and_software_moves_before_machines(make: SimpleNamespace, space: Space) -> None:
    rule = make.says(NO, torch_build="cu13*", driver="535")
    assert moves(stand(make, space, {"torch_build": "cu130"}, rule)) == ["driver 535 570"]
    assert moves(stand(make, space, {"driver": "535", "torch_build": "cu130"}, rule)) == []
    both = make.says(NO, torch="2.14.1", python="3.12", driver="535")
    assert moves(stand(make, space, {"torch": "2.14.1"}, both)) == ["python 3.12 3.13"]


def test_two_axes_move_where_one_is_not_enough(make: SimpleNamespace, space: Space) -> None:
    told = (
        make.says(NO, torch="2.14.1", torch_build="cu126"),
        make.says(NO, "driver-floor", torch_build="cu13*", driver="535"),
    )
    found = stand(make, space, {"torch": "2.14.1"}, *told)
    assert moves(found) == ["torch_build cu126 cu130", "driver 535 570"]
    assert [repair.reason.rule for repair in found.repairs] == ["floor", "driver-floor"]


def test_three_axes_are_too_many(make: SimpleNamespace, space: Space) -> None:
    told = (
        make.says(NO, torch="2.14.1", torch_build="cu126"),
        make.says(NO, torch_build="cu13*", driver="535|570|580"),
    )
    found = stand(make, space, {"torch": "2.14.1"}, *told)
    assert found.repairs == ()
    assert found.against is not None
    assert (found.against.kind, found.against.rule) == (LeftOutKind.UNSUPPORTED, "floor")
    assert found.cell["torch_build"] == "cu126"


def test_a_repair_that_is_supported_is_better_than_a_nearer_one_that_is_degraded(
    make: SimpleNamespace, space: Space
) -> None:
    told = [make.says(NO, torch="2.14.1", torch_build="cu126"), make.says(Verdict.DEGRADED, torch_build="cu130")]
    assert moves(stand(make, space, {"torch": "2.14.1"}, *told)) == ["torch_build cu126 cu132"]
    told.append(make.says(Verdict.DEGRADED, torch_build="cu132"))
    assert moves(stand(make, space, {"torch": "2.14.1"}, *told)) == ["torch_build cu126 cu130"]


def test_what_nobody_speaks_of_is_no_repair(make: SimpleNamespace, space: Space) -> None:
    told = (make.says(NO, torch="2.14.1", torch_build="cu126"), make.says(Verdict.UNKNOWN, torch_build="cu13*"))
    found = stand(make, space, {"torch": "2.14.1"}, *told)
    assert found.against is not None
    assert found.against.kind is LeftOutKind.UNSUPPORTED


def test_what_is_unknown_is_not_repaired(make: SimpleNamespace, space: Space) -> None:
    found = stand(make, space, {"torch": "2.14.1"}, make.says(Verdict.UNKNOWN, torch="2.14.1"))
    assert found.against is not None
    assert found.against.kind is LeftOutKind.UNKNOWN


def test_a_repair_never_takes_the_change_away(make: SimpleNamespace) -> None:
    space = by_axis(
        (
            make.values("torch", "2.6.0", "2.13.0"),
            make.values("numpy", "1.26.4", "2.0", torch=">=2.13"),
        )
    )
    found = stand(make, space, {"numpy": "2.0"}, make.says(NO, torch="2.13.0", numpy="2.0"))
    assert found.against is not None
    assert found.cell["numpy"] == "2.0"


def test_how_many_devices_a_cell_takes_is_never_changed(make: SimpleNamespace) -> None:
    space = by_axis((make.values("torch", "2.13.0", "2.14.1"), make.values("gpus", "1", "8", torch_build="cu*")))
    found = stand(make, space, {"torch": "2.14.1"}, make.says(NO, torch="2.14.1", gpus="8"))
    assert found.against is not None
