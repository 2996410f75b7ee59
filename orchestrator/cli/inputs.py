"""What the verbs read: the matrix, a plan, this machine."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.options import TIERS
from orchestrator.cli.output import say
from orchestrator.errors import InfrastructureError

if TYPE_CHECKING:
    from orchestrator.model import Host, Matrix, Plan


def matrix(file: Path) -> "Matrix":
    """The matrix in a file; what it asks for and nothing does yet is told."""
    from orchestrator.matrix.document import load
    from orchestrator.model import Edge

    read = load(file)
    # What is read, checked and not acted on yet must not look as if it were.
    if waiting := [name for name in ("loads", "facts", "secrets", "gates") if getattr(read, name)]:
        say(f"note: {file}: {', '.join(waiting)}: read and checked, nothing acts on it yet")
    if read.edge != Edge():
        say(f"note: {file}: edge: read and checked, edge cells are not planned yet")
    return read


def host_of(engine: str | None, wanted: frozenset[str] | None = None) -> "Host":
    """This machine; `wanted` are the Pythons that some row asks for, of all when None."""
    from orchestrator.running.hosts import detect

    return detect(engine, os.environ, wanted=wanted)


def usable(host: "Host") -> str:
    """The engine that runs cells here; InfrastructureError where there is none."""
    if host.engine == "none":
        raise InfrastructureError(
            "this machine has nothing to run a cell with",
            cause=host.engine_reason,
            hint="start a Docker engine, or `pip install uv` for virtual environments",
        )
    return host.engine


def plan_of(matrix: "Matrix", select: tuple[str, ...], tier: str, engine: str | None) -> tuple["Plan", "Host"]:
    """The plan of a matrix on this machine."""
    from orchestrator.planning.plan import make_plan

    host = host_of(engine, frozenset(row.axes.get("python", "") for row in matrix.production))
    return make_plan(matrix, host, tiers=TIERS[tier], select=select), host


def read_plan(file: Path) -> "Plan":
    """The plan that a run was begun with, or that `plan --json` printed."""
    from orchestrator.results.merge import read_plan

    return read_plan(file)
