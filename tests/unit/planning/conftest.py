"""What the tests of this room share: rows, machines and matrices, made by hand."""

from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.model import (
    ContainerNeeds,
    Edge,
    Host,
    KnownIssue,
    Limits,
    Matrix,
    Place,
    Row,
    Rule,
    RunnerClass,
)
from orchestrator.vocabulary import Status

CPU = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11"}
CUDA = {"torch": "2.13.0", "torch_build": "cu130", "python": "3.12", "driver": "580", "gpu": "H100", "gpus": "8"}


def at(line: int) -> Place:
    return Place(file="matrix.yaml", line=line, column=5)


def row(name: str, axes: dict[str, str], line: int = 1, **more: Any) -> Row:
    values = {"owner": "", "allow_fallback": False, "timeout_s": None, **more}
    return Row(name=name, axes=axes, place=at(line), **values)


def runner(name: str, axes: dict[str, str], **more: Any) -> RunnerClass:
    values = {"hosts": 1, "tags": (), "price_per_hour": None, "watts": None, "container": ContainerNeeds(), **more}
    return RunnerClass(name=name, axes=axes, place=at(1), **values)


def host(engine: Any = "docker", pythons: tuple[str, ...] = (), **axes: str) -> Host:
    return Host(
        name="box",
        axes={"host_arch": "x86_64", "base": "debian12", **axes},
        engine=engine,
        engine_reason="why",
        cpus=2,
        memory=1 << 30,
        pythons=pythons,
    )


def rule(line: int = 1, **forbid: str) -> Rule:
    return Rule(forbid=forbid, because="we said so", source="", place=at(line))


def known(test: str = "", status: Status | None = None, **when: str) -> KnownIssue:
    issue = "https://example.org/1"
    return KnownIssue(when=when, test=test, status=status, because="b", issue=issue, until="2027-03-01", place=at(1))


def matrix(*rows: Row, **sections: Any) -> Matrix:
    empty: dict[str, Any] = dict.fromkeys(("axes", "loads", "rules", "facts", "known_issues", "runners", "secrets"), ())
    others = {"edge": Edge(), "limits": Limits(), "gates": {}}
    return Matrix(file="matrix.yaml", production=rows, **{**empty, **others, **sections})


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """Makes rows, machines and matrices; `cpu` and `cuda` are the axes of a cell that one and the other can run."""
    return SimpleNamespace(
        row=row, runner=runner, host=host, rule=rule, known=known, matrix=matrix, cpu=dict(CPU), cuda=dict(CUDA)
    )
