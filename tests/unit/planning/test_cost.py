from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.model import Cost
from orchestrator.planning.cost import cost, image_bytes, minutes
from orchestrator.planning.expand import cells_of


def cost_of(make: SimpleNamespace, *cells: dict[str, str], runners: Any = (), host: Any = None) -> Cost:
    rows = tuple(make.row(f"row{number}", cell) for number, cell in enumerate(cells))
    matrix = make.matrix(*rows, runners=runners)
    return cost(cells_of(rows, make.expansion(matrix, host))[0], runners)


def test_a_compiler_takes_longer_than_none(make: SimpleNamespace) -> None:
    assert minutes({**make.cpu, "backend": "inductor"}) > minutes(make.cpu) > 0


def test_cells_that_share_an_image_build_it_once(make: SimpleNamespace) -> None:
    one = cost_of(make, make.cpu)
    two = cost_of(make, make.cpu, {**make.cpu, "backend": "inductor"})
    other = cost_of(make, make.cpu, {**make.cpu, "numpy": "2.4.6"})
    assert (one.images, two.images, other.images) == (1, 1, 2)
    assert (two.build_bytes, other.build_bytes) == (one.build_bytes, 2 * one.build_bytes)
    assert two.minutes > one.minutes


def test_what_is_not_placed_costs_nothing(make: SimpleNamespace) -> None:
    both = cost_of(make, make.cpu, make.cuda, host=make.host())
    alone = cost_of(make, make.cpu, host=make.host())
    assert (both.cells, both.placed, both.unplaced) == (2, 1, 1)
    assert (both.minutes, both.gpu_hours, both.build_bytes) == (alone.minutes, 0.0, alone.build_bytes)


@pytest.mark.parametrize(("gpus", "share"), [("8", 1.0), ("2", 0.25)])
def test_a_cell_pays_for_its_share_of_a_machine(make: SimpleNamespace, gpus: str, share: float) -> None:
    h100 = make.runner("h100", {"gpu": "H100", "gpus": "8", "driver": "580"}, price_per_hour=60.0)
    spent = cost_of(make, {**make.cuda, "gpus": gpus}, runners=(h100,))
    hours = minutes(make.cuda) / 60
    assert spent.money == pytest.approx(hours * 60.0 * share, abs=1e-3)
    assert spent.gpu_hours == pytest.approx(hours * int(gpus), abs=1e-3)


def test_a_machine_without_a_price_costs_no_money(make: SimpleNamespace) -> None:
    assert cost_of(make, make.cpu, runners=(make.runner("cpu", {}),)).money == 0.0


def test_nothing_costs_nothing(make: SimpleNamespace) -> None:
    assert cost_of(make) == Cost(
        cells=0, placed=0, unplaced=0, images=0, minutes=0, gpu_hours=0, money=0, build_bytes=0
    )


def test_images_with_one_torch_share_nearly_all_of_it(make: SimpleNamespace) -> None:
    one = image_bytes([make.cpu])
    beside = image_bytes([make.cpu, {**make.cpu, "openvino": "2026.0.0", "backend": "openvino"}])
    other = image_bytes([make.cpu, {**make.cpu, "python": "3.12"}])
    assert one < beside < other == 2 * one
    assert image_bytes([]) == 0
    assert image_bytes([{"image": "x@sha256:0"}]) == 0
