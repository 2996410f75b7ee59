from typing import Any

from orchestrator.matrix.limits import EDGE, GATES, LIMITS
from orchestrator.model import Edge, Limits


def test_limits_are_seconds_and_bytes(read: Any) -> None:
    limits = read(LIMITS, "{timeout: 10m, memory: 8GiB, shm: 512MiB, pids: 100}")
    assert limits == Limits(timeout_s=600.0, memory=8 << 30, shm=512 << 20, pids=100)


def test_limits_that_are_not_given_keep_their_default(read: Any) -> None:
    assert read(LIMITS, "{pids: 100}") == Limits(pids=100)


def test_gates_are_fractions(read: Any) -> None:
    assert read(GATES, "{e2e: 3%, compile: 15%}") == {"e2e": 0.03, "compile": 0.15}


def test_a_gate_that_no_metric_has(told: Any) -> None:
    assert told(GATES, "{busbandwidth: 3%}") == ["m:1:2: `key` has no key `busbandwidth`"]


def test_the_edge(read: Any) -> None:
    edge = read(EDGE, "{neighbours: [oldest, newest, oldest], budget: {cells: 24, gpu_hours: 1.5, money: 90}}")
    assert edge == Edge(neighbours=("oldest", "newest"), cells=24, gpu_hours=1.5, money=90.0)
    assert read(EDGE, "{}") == Edge()


def test_the_edge_takes_axes_of_cells(told: Any) -> None:
    assert told(EDGE, "{pairwise: [distro]}") == [
        "m:1:13: `pairwise` is `distro`: `distro` is an axis that no cell sets: only `torchmatrix check` reads it"
    ]
