from pathlib import Path

import pytest

from orchestrator.matrix.document import read
from orchestrator.matrix.starter import starter
from orchestrator.model import Axes, Host
from orchestrator.planning.plan import make_plan
from orchestrator.studies.first_rows import branch, first_matrix
from orchestrator.support.check import Support
from orchestrator.support.facts import load_facts
from orchestrator.vocabulary import Tier, Verdict

FACTS = load_facts()
SUPPORT = Support(FACTS)
KNOWN = {axis: FACTS.values(axis) for axis in ("torch", "torch_build")}


def host(*, without_compiler: str = "", **axes: str) -> Host:
    return Host(
        name="box",
        axes={"host_arch": "x86_64", "base": "debian12", **axes},
        engine="docker",
        engine_reason="Docker 1",
        cpus=2,
        memory=8 << 30,
        pythons=(),
        without_compiler=without_compiler,
    )


MACHINES = {
    "cpu": host(),
    "no compiler": host(without_compiler="none"),
    "h100": host(gpu="H100", gpus="8", driver="580.95.05"),
    "a100 on an old driver": host(gpu="A100", gpus="4", driver="535.54.03"),
    "mi300x": host(gpu="MI300X", gpus="8", driver="30.20.1"),
    "unknown card": host(gpu="Z9000", gpus="1", driver="999.1"),
    "arm": host(host_arch="aarch64"),
}


@pytest.mark.parametrize("name", MACHINES)
def test_every_row_is_supported_and_runs_on_the_machine(name: str) -> None:
    machine = MACHINES[name]
    start = first_matrix(machine, ("3.12", "3.11"), KNOWN, SUPPORT)
    assert start.rows
    matrix = read(starter(start), "matrix.yaml", Path())
    plan = make_plan(matrix, machine, tiers=frozenset(Tier), select=(), support=SUPPORT)
    for cell in plan.cells:
        assert cell.support.verdict in {Verdict.SUPPORTED, Verdict.DEGRADED}, cell.name
        assert cell.placement.placed, cell.placement.reason
    assert [row.name for row in start.rows][:1] == ["cpu-eager"]


def names(machine: str) -> set[str]:
    return {row.name for row in first_matrix(MACHINES[machine], ("3.12",), KNOWN, SUPPORT).rows}


def test_a_gpu_has_rows_of_its_own_and_inductor_wants_a_compiler() -> None:
    assert names("cpu") == {"cpu-eager", "cpu-inductor", "cpu-eager-before"}
    assert names("no compiler") == {"cpu-eager", "cpu-eager-before"}
    assert {"h100-eager", "h100-inductor"} <= names("h100")
    assert "mi300x-eager" in names("mi300x")
    assert not any(name.startswith("z9000") for name in names("unknown card"))


def test_only_what_the_site_has_is_taken() -> None:
    def is_there(image: Axes) -> bool:
        return image["torch"] == "2.13.0"

    start = first_matrix(MACHINES["cpu"], ("3.12",), KNOWN, SUPPORT, is_there)
    assert (start.torch, [row.name for row in start.rows]) == (("2.13.0",), ["cpu-eager", "cpu-inductor"])
    assert first_matrix(MACHINES["cpu"], ("3.12",), KNOWN, SUPPORT, lambda _: False).rows == ()


@pytest.mark.parametrize(
    ("driver", "named"), [("580.95.05", "580"), ("535", "535"), ("30.20.1", "30.20"), ("6.4.1", "6.4")]
)
def test_a_row_names_the_branch_of_a_driver(driver: str, named: str) -> None:
    assert branch(driver) == named
