"""Which rows a change concerns, and what the others are told."""

from collections.abc import Callable

import pytest

from orchestrator import axes
from orchestrator.model import Axes, Matrix
from orchestrator.studies.concern import applied
from orchestrator.support.facts import Facts, load_facts

CPU = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.12"}
CUDA = {"torch": "2.13.0", "torch_build": "cu130", "python": "3.12", "driver": "580", "gpu": "H100"}
ROCM = {"torch": "2.13.0", "torch_build": "rocm7.1", "python": "3.12", "driver": "30.20", "gpu": "MI300X"}
XPU = {"torch": "2.13.0", "torch_build": "xpu", "python": "3.12", "gpu": "B580"}
DEBIAN = {"torch": "2.6.0", "torch_from": "distribution", "torch_build": "cpu", "python": "3.13", "base": "debian13"}
READY = {"image": "repo@sha256:" + "0" * 64, "driver": "580", "gpu": "H100"}


@pytest.fixture(scope="module")
def facts() -> Facts:
    return load_facts()


@pytest.fixture
def matrix(written: Callable[[str], Matrix]) -> Matrix:
    return written(
        "version: 1\n"
        "axes:\n"
        "  torch: ['2.13.0']\n"
        "  torch_build: [cpu, cu130]\n"
        "  python: ['3.12']\n"
        "  driver: [{when: {torch_build: 'cu*'}, values: ['575', '580']}]\n"
        "  gpu: [{when: {torch_build: 'cu*'}, values: [H100]}]\n"
        "production: [{name: a, torch: '2.13.0', torch_build: cpu, python: '3.12'}]\n"
    )


@pytest.mark.parametrize(
    ("cell", "change"),
    [
        (CUDA, {"driver": "595"}),
        (CUDA, {"driver": "575"}),
        (CUDA, {"gpu": "B200"}),
        (CUDA, {"torch_build": "cu132"}),
        (CUDA, {"partition": "1g.10gb"}),
        (CUDA, {"gpus": "8"}),
        (ROCM, {"driver": "30.30"}),
        (ROCM, {"gpu": "MI355X"}),
        (CPU, {"torch": "2.14.1"}),
        (CPU, {"backend": "inductor"}),
        (CPU, {"base": "debian13"}),
        (READY, {"driver": "595"}),
        (DEBIAN, {"backend": "inductor"}),
    ],
)
def test_a_row_takes_what_is_of_its_kind(cell: Axes, change: Axes, matrix: Matrix, facts: Facts) -> None:
    assert applied(change, axes.complete(cell), matrix, facts) == (change, "")


@pytest.mark.parametrize(
    ("cell", "change", "why"),
    [
        (CPU, {"driver": "580"}, "has no driver: it runs without a GPU"),
        (XPU, {"driver": "580"}, "has no driver"),
        (CUDA, {"driver": "580"}, "has driver 580 already"),
        (CUDA | {"driver": "580.95.05"}, {"driver": "580"}, "has driver 580.95.05 already"),
        (CUDA, {"openvino": "2026.4.1"}, "has no openvino"),
        (READY, {"torch": "2.14.1"}, "is a ready image: its torch is not chosen here"),
        (DEBIAN, {"torch": "2.14.1"}, "its torch comes with its distribution, debian13"),
        (ROCM, {"torch_build": "cu132"}, "runs the build rocm7.1: cu132 is of another platform"),
        (CPU, {"torch_build": "cu132"}, "runs the build cpu: cu132 is of another platform"),
        (ROCM, {"driver": "575"}, "runs with driver 30.20: 575 is for other cards"),
        (ROCM, {"driver": "595"}, "runs with driver 30.20: 595 is for other cards"),
        (ROCM, {"gpu": "B200"}, "runs with gpu MI300X: B200 is for other cards"),
        (XPU, {"gpu": "B200"}, "runs with gpu B580: B200 is for other cards"),
        (ROCM, {"partition": "1g.10gb"}, "runs with partition whole: 1g.10gb is for other cards"),
    ],
)
def test_the_others_are_told_why(cell: Axes, change: Axes, why: str, matrix: Matrix, facts: Facts) -> None:
    assert applied(change, axes.complete(cell), matrix, facts) == ({}, why)


def test_of_several_changes_a_row_takes_those_that_are_its_own(matrix: Matrix, facts: Facts) -> None:
    taken, why = applied({"driver": "595", "torch": "2.14.1"}, axes.complete(CPU), matrix, facts)
    assert (taken, why) == ({"torch": "2.14.1"}, "")
    taken, why = applied({"driver": "595", "torch": "2.13.0"}, axes.complete(CPU), matrix, facts)
    assert (taken, why) == ({}, "has no driver: it runs without a GPU; has torch 2.13.0 already")


def test_a_value_that_nobody_knows_is_asked_of_every_row_that_has_the_axis(matrix: Matrix, facts: Facts) -> None:
    for cell in (CUDA, ROCM):
        assert applied({"driver": "99999"}, axes.complete(cell), matrix, facts)[1] == ""
