import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import axes
from orchestrator.model import ContainerNeeds, Host, Limits, Placement, PlannedCell
from orchestrator.running.schedule import devices, schedule
from orchestrator.vocabulary import Tier


def cell(name: str, tier: Tier = Tier.PRODUCTION, *, placed: bool = True, **given_axes: str) -> PlannedCell:
    full = axes.complete({"torch": "2.13.0", "torch_build": "cpu", "python": "3.11", **given_axes})
    return PlannedCell(
        id=f"cell-{name}",
        name=name,
        owner="",
        tier=tier,
        why="a test",
        axes=full,
        image="image",
        placement=Placement(placed=placed, runner=None, reason=""),
        allow_fallback=False,
        limits=Limits(),
        container=ContainerNeeds(),
        known_issues=(),
    )


def host(**host_axes: str) -> Host:
    return Host(name="h", axes=host_axes, engine="docker", engine_reason="", cpus=2, memory=1, pythons=())


@given(st.lists(st.tuples(st.sampled_from(Tier), st.booleans()), max_size=12))
def test_every_placed_cell_has_one_turn_and_production_goes_first(wanted: list[tuple[Tier, bool]]) -> None:
    cells = [cell(str(n), tier, placed=placed) for n, (tier, placed) in enumerate(wanted)]
    turns = schedule(cells, host())
    assert sorted(turn.cell.name for turn in turns) == sorted(c.name for c in cells if c.placement.placed)
    tiers = [turn.cell.tier for turn in turns]
    assert tiers == sorted(tiers, key=[Tier.PRODUCTION, Tier.EDGE].index)
    for tier in Tier:  # within a tier the plan's order holds
        names = [int(turn.cell.name) for turn in turns if turn.cell.tier is tier]
        assert names == sorted(names)


@pytest.mark.parametrize(
    ("build", "gpus", "there", "taken"),
    [
        ("cu130", "1", "8", ("0",)),
        ("cu130", "2", "8", ("0", "1")),
        ("rocm7.1", "3", "2", ("0", "1")),
        ("xpu", "1", "0", ()),
    ],
)
def test_a_cell_takes_the_devices_that_it_asks_for(build: str, gpus: str, there: str, taken: tuple[str, ...]) -> None:
    assert devices(cell("c", torch_build=build, gpus=gpus), host(gpus=there)) == taken


def test_a_cell_on_the_cpu_takes_none() -> None:
    assert devices(cell("c"), host(gpus="8")) == ()


def test_a_device_is_taken_unasked_by_a_build_that_needs_one() -> None:
    assert devices(cell("c", torch_build="cu130"), host(gpus="8")) == ("0",)


def test_a_host_that_tells_of_no_devices_has_none() -> None:
    assert devices(cell("c", torch_build="cu130"), host()) == ()
