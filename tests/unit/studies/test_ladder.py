"""Which values an axis can move through."""

from collections.abc import Callable

import pytest

from orchestrator.model import Matrix
from orchestrator.studies import ladder

KNOWN = {
    "torch": ("2.8", "2.8.0", "2.9.0", "2.9.1", "2.10.0", "2.16", "2.11.0.dev1"),
    "torch_build": ("cpu", "cu126", "cu130", "rocm6.4", "rocm7.14", "rocm7.2", "xpu"),
    "python": ("3.11", "3.12", "3.13", "3.13.3", "3.13t"),
    "driver": ("535", "535.54.03", "535.104.05", "580", "580.65.06", "620"),
    "amdgpu_driver": ("6.4", "30.10", "30.10.2", "30.20"),
}


def known(axis: str) -> tuple[str, ...]:
    return KNOWN.get(axis, ())


def of(**cell: str) -> dict[str, tuple[str, ...]]:
    return {name: tuple(values) for name, values in ladder.movable(cell, known).items()}


def test_of_each_line_of_releases_the_newest_is_taken_and_the_own_value_kept() -> None:
    assert of(torch="2.8.0")["torch"] == ("2.8.0", "2.9.1", "2.10.0")
    assert of(torch="2.9.0")["torch"] == ("2.8.0", "2.9.0", "2.10.0")


def test_a_build_moves_within_its_platform_by_number() -> None:
    assert of(torch_build="rocm6.4")["torch_build"] == ("rocm6.4", "rocm7.2", "rocm7.14")
    assert of(torch_build="cu126")["torch_build"] == ("cu126", "cu130")
    assert "torch_build" not in of(torch_build="cpu")


def test_threaded_and_free_threaded_pythons_are_apart() -> None:
    assert of(python="3.12")["python"] == ("3.11", "3.12", "3.13")
    assert "python" not in of(python="3.13t")


def test_a_branch_moves_to_branches_and_a_release_to_releases() -> None:
    assert of(driver="535")["driver"] == ("535", "580", "620")
    assert of(driver="535.54.03")["driver"] == ("535.54.03", "580.65.06")
    assert of(driver="580.65.06")["driver"] == ("535.104.05", "580.65.06")


def test_the_driver_of_an_amd_card_is_its_vendors() -> None:
    assert of(driver="30.20", torch_build="rocm7.2")["driver"] == ("6.4", "30.10.2", "30.20")


def test_cards_and_what_a_run_sets_stay() -> None:
    assert not of(gpu="H100", gpus="8", partition="whole", backend="eager", host_arch="x86_64")


def test_what_comes_with_a_distribution_stays() -> None:
    assert not of(torch="2.8.0", python="3.11", torch_from="distribution")


def test_the_values_that_the_matrix_lists_are_in(written: Callable[[str], Matrix]) -> None:
    matrix = written(
        "version: 1\naxes: {torch: ['2.9.0'], torch_build: [cpu], python: ['3.12'], base: [debian12, debian13]}\n"
        "production: [{name: a, torch: '2.9.0', torch_build: cpu, python: '3.12', base: debian12}]\n"
    )
    found = ladder.movable({"torch": "2.8.0", "base": "debian12"}, known, matrix)
    assert tuple(found["torch"]) == ("2.8.0", "2.9.0", "2.10.0")
    assert tuple(found["base"]) == ("debian12", "debian13")


@pytest.mark.parametrize(
    ("name", "start", "goal", "way"),
    [
        ("torch", "2.8.0", "2.10.0", ("2.8.0", "2.9.1", "2.10.0")),
        ("torch", "2.10.0", "2.8.0", ("2.10.0", "2.9.1", "2.8.0")),
        ("torch_build", "cu126", "rocm6.4", ("cu126", "rocm6.4")),
        ("torch_build", "cpu", "cu130", ("cpu", "cu130")),
        ("driver", "535", "580.65.06", ("535", "580.65.06")),
        ("gpu", "H100", "B200", ("H100", "B200")),
        ("python", "", "3.13", ("", "3.13")),
    ],
)
def test_between_two_values_lie_those_of_their_kind(name: str, start: str, goal: str, way: tuple[str, ...]) -> None:
    before = {name: start} if start else {}
    assert ladder.between(name, before, {name: goal}, known) == way
