from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.model import Edge
from orchestrator.planning.budget import within
from orchestrator.planning.neighbours import Candidate
from orchestrator.vocabulary import LeftOutKind


@pytest.fixture
def candidates(make: SimpleNamespace) -> list[Candidate]:
    """Three by rank: one GPU for two minutes each in the first and last, the CPU in the second."""
    cells = {
        "last": make.cuda | {"gpus": "1"},
        "first": make.cuda | {"gpus": "1", "python": "3.13"},
        "second": make.cpu,
    }
    ranks = {"first": (0,), "second": (1,), "last": (2,)}
    return [
        Candidate(name=name, row=make.row("r", make.cpu), why="", cell=cell, rank=ranks[name])
        for name, cell in cells.items()
    ]


@pytest.fixture
def runners(make: SimpleNamespace) -> list[Any]:
    return [make.runner("h100", {"driver": "580", "gpu": "H100", "gpus": "8"}, price_per_hour=80.0)]


@pytest.mark.parametrize(
    ("edge", "kept", "figure"),
    [
        (Edge(), ["first", "second", "last"], ""),
        (Edge(cells=3), ["first", "second", "last"], ""),
        (Edge(cells=2), ["first", "second"], "the budget of the edge is 2 cells"),
        (Edge(gpu_hours=0.05), ["first", "second", "last"], ""),
        (Edge(gpu_hours=0.04), ["first", "second"],
         "the budget of the edge is 0.04 GPU-hours, with it they would be 0.05"),
        (Edge(money=0.5), ["first", "second", "last"], ""),
        (Edge(money=0.49), ["first", "second"], "the budget of the edge is 0.49 in money, with it that would be 0.50"),
        (Edge(gpu_hours=0), ["second"], "the budget of the edge is 0 GPU-hours, with it they would be 0.03"),
    ],
)  # fmt: skip
def test_what_runs_first_is_paid_first(
    candidates: list[Candidate], runners: Any, edge: Edge, kept: list[str], figure: str
) -> None:
    paid, left = within(candidates, edge, runners)
    assert [one.name for one in paid] == kept
    assert {keeps.reason for _, keeps in left} == ({figure} if figure else set())
    assert {keeps.kind for _, keeps in left} <= {LeftOutKind.BUDGET}
    assert len(paid) + len(left) == len(candidates)


def test_what_no_class_of_machines_can_run_comes_last(make: SimpleNamespace, candidates: list[Candidate]) -> None:
    paid, left = within(candidates, Edge(cells=1), [])
    assert [one.name for one in paid] == ["second"]
    assert [one.name for one, _ in left] == ["first", "last"]
