from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator import axes
from orchestrator.planning.space import (
    Space,
    all_values,
    allowed,
    along,
    by_axis,
    misfit,
    moved,
    nearest_first,
    ordered,
)


@pytest.fixture
def space(make: SimpleNamespace) -> Space:
    return by_axis(
        (
            make.values("torch", "2.14.1", "2.6.0", "2.13.0"),
            make.values("torch_build", "cpu", "cu130", "cu126", "rocm7.1"),
            make.values("python", "3.13", "3.9", "3.13t", "3.14"),
            make.values("backend", "eager", "inductor", "openvino"),
            make.values("openvino", "2025.4.1", "2026.0.0", backend="openvino"),
            make.values("driver", "580", "535", torch_build="cu*"),
            make.values("driver", "30.20", torch_build="rocm*"),
            make.values("gpu", "A100", "H100", torch_build="cu*"),
            make.values("gpu", "MI300X", torch_build="rocm*"),
        )
    )


def test_values_hang_on_their_condition(space: Space, make: SimpleNamespace) -> None:
    assert allowed(space, "driver", make.cuda) == ("580", "535")
    assert allowed(space, "driver", make.cpu) == ()
    assert allowed(space, "numpy", make.cpu) == ()
    assert all_values(space, "driver") == ("30.20", "535", "580")


@pytest.mark.parametrize(
    ("axis", "written", "expected"),
    [
        ("torch", ["2.10.0", "2.9.1", "1.13"], ("1.13", "2.9.1", "2.10.0")),
        ("torch_build", ["rocm7.1", "cu130", "cu92", "rocm6.4"], ("cu92", "cu130", "rocm6.4", "rocm7.1")),
        ("python", ["3.14", "3.9", "3.13t", "3.13"], ("3.9", "3.13", "3.13t", "3.14")),
        ("driver", ["580.65.06", "580", "535.104.5"], ("535.104.5", "580", "580.65.06")),
        ("backend", ["openvino", "eager"], ("openvino", "eager")),
    ],
)
def test_versions_stand_by_age_and_words_as_they_are_written(
    axis: str, written: list[str], expected: tuple[str, ...]
) -> None:
    assert ordered(axis, written) == expected


@pytest.mark.parametrize(
    ("cell", "axis", "expected"),
    [
        ({"torch": "2.13.0", "torch_build": "cu130"}, "torch", ("2.6.0", "2.13.0", "2.14.1")),
        ({"torch": "2.13.0", "torch_build": "cu130"}, "torch_build", ("cu126", "cu130")),
        ({"torch": "2.13.0", "torch_build": "cpu"}, "torch_build", ("cpu",)),
        ({"torch_build": "rocm7.1", "driver": "30.20"}, "driver", ("30.20",)),
        ({"torch_build": "cu130", "driver": "550"}, "driver", ("535", "550", "580")),
        ({"torch_build": "cu130", "gpu": "L4"}, "gpu", ()),
        ({"image": "sha256:0", "driver": "580"}, "driver", ("535", "580")),
        ({"image": "sha256:0", "torch_build": "cu130"}, "torch_build", ()),
        ({"torch_build": "cu130"}, "driver", ()),
        ({"numpy": "2.0"}, "numpy", ()),
    ],
)
def test_a_cell_moves_among_values_of_its_own_kind(
    space: Space, cell: dict[str, str], axis: str, expected: tuple[str, ...]
) -> None:
    assert along(space, axis, cell) == expected


@pytest.mark.parametrize(
    ("partial", "problem"),
    [
        ({"torch_build": "cu130", "driver": "580"}, ""),
        ({"driver": "580", "gpu": "H100"}, ""),
        ({"torch_build": "cpu", "driver": "580"}, "`driver` has no meaning where torch_build=cpu"),
        ({"torch_build": "rocm7.1", "driver": "580"}, "`axes` has no driver 580 there"),
        ({"torch_build": "cu130", "driver": ""}, "`driver` has values there"),
        ({"torch_build": "cpu", "driver": ""}, ""),
        ({"driver": ""}, ""),
        ({"backend": "eager", "openvino": "2026.0.0"}, "`axes` has no openvino 2026.0.0 there"),
        ({"torch_build": "", "driver": "580"}, "`torch_build` has values there"),
    ],
)
def test_what_cannot_stand_together_is_told(space: Space, partial: dict[str, str], problem: str) -> None:
    assert misfit(space, partial) == problem


def test_what_gains_a_meaning_has_the_value_of_production_or_the_newest(space: Space, make: SimpleNamespace) -> None:
    donor = make.cpu | {"backend": "openvino", "openvino": "2025.4.1"}
    assert moved(space, make.cpu, {"backend": "openvino"}, [donor])["openvino"] == "2025.4.1"
    assert moved(space, make.cpu, {"backend": "openvino"}, [])["openvino"] == "2026.0.0"
    assert "openvino" not in moved(space, donor, {"backend": "inductor"}, [donor])


def test_what_loses_its_meaning_is_gone(space: Space, make: SimpleNamespace) -> None:
    cell = axes.complete(make.cuda)
    assert moved(space, cell, {"torch_build": "cpu"}, []) == axes.complete(make.cpu | {"python": "3.12"})
    other = moved(space, cell, {"torch_build": "rocm7.1"}, [])
    assert (other["driver"], other["gpu"], other["gpus"]) == ("30.20", "MI300X", "8")


def test_an_empty_value_takes_an_axis_out(space: Space, make: SimpleNamespace) -> None:
    after = moved(space, axes.complete(make.cuda | {"python": "3.13"}), {"torch_build": "cpu", "driver": ""}, [])
    assert "driver" not in after
    assert misfit(space, after) == ""


def test_a_ready_image_keeps_what_it_says(space: Space, make: SimpleNamespace) -> None:
    row: dict[str, Any] = {"image": "sha256:0", "driver": "580", "gpu": "H100"}
    assert moved(space, row, {"driver": "535"}, [])["gpu"] == "H100"


def test_the_nearest_cells_share_most(make: SimpleNamespace) -> None:
    cells = [make.cuda, make.cpu, make.cpu | {"backend": "eager"}]
    assert nearest_first(cells, make.cpu | {"backend": "eager"}) == [cells[2], cells[1], cells[0]]
    assert nearest_first(cells, {}) == cells
