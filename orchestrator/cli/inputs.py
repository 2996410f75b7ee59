"""What the verbs read: the matrix, a plan, this machine."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.options import TIERS
from orchestrator.cli.output import keep_out, say
from orchestrator.cli.vendors import support_of
from orchestrator.errors import InfrastructureError
from orchestrator.masking import Masker

if TYPE_CHECKING:
    from orchestrator.model import Host, Matrix, Plan
    from orchestrator.planning.observed import Observed
    from orchestrator.settings import Site


def matrix(file: Path) -> "Matrix":
    """The matrix in a file, its aliases as the facts have them; what it asks for and nothing does yet is told."""
    from orchestrator.matrix.document import load
    from orchestrator.planning.aliases import has_aliases, resolve

    read = load(file)
    # What is read, checked and not acted on yet must not look as if it were.
    if waiting := [name for name in ("loads", "gates") if getattr(read, name)]:
        say(f"note: {file}: {', '.join(waiting)}: read and checked, nothing acts on it yet")
    return resolve(read, support_of(read, file.parent).facts.listed) if has_aliases(read) else read


def observed_in(runs: Path) -> "Observed":
    """What the runs in a folder saw; each that cannot be read is told."""
    from orchestrator.planning import observed

    seen, notes = observed.read(runs)
    for note in notes:
        say(note)
    return seen


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


def locks_beside(file: Path) -> Path:
    """Where the locks of the images of a matrix lie."""
    return file.parent / "images" / "locks"


def site_of(file: Path) -> "Site":
    """The site's settings, for the images of the matrix in a file: what is locked beside it is what is built."""
    from msgspec.structs import replace

    return replace(site_in_force(), locks=locks_beside(file))


def site_in_force() -> "Site":
    """The site's settings; none of its passwords is printed from here on. A variable that sets nothing is told."""
    from orchestrator.settings import load_site, unknown_variables

    site = load_site(os.environ)
    keep_out(Masker(site.passwords))
    for note in unknown_variables(os.environ, site.registries.values()):
        say(f"note: {note}")
    return site


def plan_of(file: Path, select: tuple[str, ...], tier: str, engine: str | None) -> tuple["Plan", "Host"]:
    """The plan of the matrix in a file on this machine."""
    from orchestrator.planning.plan import make_plan
    from orchestrator.planning.space import all_values, by_axis

    read = matrix(file)
    pythons = {row.axes.get("python", "") for row in read.production}
    if tier != "production":
        pythons.update(all_values(by_axis(read.axes), "python"))
    host = host_of(engine, frozenset(pythons))
    return make_plan(read, host, tiers=TIERS[tier], select=select, support=support_of(read, file.parent)), host


def read_plan(file: Path) -> "Plan":
    """The plan that a run was begun with, or that `plan --json` printed."""
    from orchestrator.results.merge import read_plan

    return read_plan(file)
