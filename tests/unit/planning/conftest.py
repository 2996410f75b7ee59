"""What the tests of this room share: rows, machines and matrices, made by hand."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator import axes
from orchestrator.model import (
    Alternative,
    Answer,
    AxisValues,
    ContainerNeeds,
    Edge,
    Host,
    KnownIssue,
    Limits,
    Matrix,
    Place,
    Reason,
    Row,
    Rule,
    RunnerClass,
)
from orchestrator.planning.asking import Asking
from orchestrator.planning.expand import Expansion
from orchestrator.vocabulary import RuleKind, Status, Verdict

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


def values(axis: str, *values: str, line: int = 1, **when: str) -> AxisValues:
    return AxisValues(axis=axis, values=values, when=when, place=at(line))


def says(verdict: Verdict, rule: str = "floor", **when: str) -> tuple[dict[str, str], Reason]:
    """What a vendor says where some axes match: a pattern each, as in a site rule."""
    reason = Reason(
        kind=RuleKind.INTERVAL,
        rule=rule,
        axes=tuple(when),
        verdict=verdict,
        because=f"{rule} says {verdict}",
        source="manual",
        as_of="2026-11-01",
    )
    return when, reason


class Vendor:
    """Says of combinations what it was told to say; of all others that they are supported."""

    def __init__(self, *told: tuple[dict[str, str], Reason]) -> None:
        self.told = told

    def answer(self, combination: Mapping[str, object], *, nearest: bool = False) -> Answer:
        cell = {name: str(value) for name, value in combination.items()}
        reasons = [reason for when, reason in self.told if axes.selects(when, cell)]
        order = [Verdict.UNSUPPORTED, Verdict.UNKNOWN, Verdict.DEGRADED, Verdict.SUPPORTED]
        reasons.sort(key=lambda reason: order.index(reason.verdict))
        near = (Alternative(change={"torch_build": "cu130"}, verdict=Verdict.SUPPORTED),) if nearest and reasons else ()
        verdict = reasons[0].verdict if reasons else Verdict.SUPPORTED
        return Answer(verdict=verdict, reasons=tuple(reasons), supported_until=None, nearest=near)

    def refusal(self, axes: Mapping[str, str], undecided: frozenset[str] = frozenset()) -> Reason | None:
        answer = self.answer(axes)
        return answer.reasons[0] if answer.verdict is Verdict.UNSUPPORTED else None


def expansion(of: Matrix, machine: Host | None = None, vendor: Vendor | None = None) -> Expansion:
    return Expansion(matrix=of, host=machine, asking=Asking(vendor or Vendor(), of.rules))


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
        row=row,
        runner=runner,
        host=host,
        rule=rule,
        known=known,
        matrix=matrix,
        values=values,
        says=says,
        vendor=Vendor,
        expansion=expansion,
        cpu=dict(CPU),
        cuda=dict(CUDA),
    )
