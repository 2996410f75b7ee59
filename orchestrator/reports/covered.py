"""How much of what the edge of a plan wants is planned, placed and, in a run, was run."""

from collections.abc import Iterable, Mapping
from itertools import combinations

from orchestrator import text
from orchestrator.model import Axes, Coverage, Run
from orchestrator.reports import overview
from orchestrator.vocabulary import Status

_NAMED: Mapping[int, str] = {2: "pairs", 3: "triples"}
_DID_NOT_RUN = frozenset({*overview.UNFINISHED, *overview.NOT_HERE, Status.ERROR})


def counts(coverage: Coverage) -> str:
    """`6 of 9 pairs are planned, 4 placed`."""
    named = _NAMED.get(coverage.strength, f"combinations of {coverage.strength} values")
    return f"{coverage.planned} of {coverage.wanted} {named} are planned, {coverage.placed} placed"


def axes(coverage: Coverage) -> str:
    """`of torch, torch_build`: not to stand first in a line, a plan may have come from outside."""
    return "of " + ", ".join(text.one_line(name, 40) for name in coverage.axes)


def run(coverage: Coverage, run: Run) -> int:
    """How many of the combinations were in a cell that ran to a verdict of its own, whatever it was."""
    ran = (result.requested for result in run.results if result.status not in _DID_NOT_RUN)
    return len({one for cell in ran for one in _held(cell, coverage)})


def _held(cell: Axes, coverage: Coverage) -> Iterable[tuple[tuple[str, str], ...]]:
    having = [(name, cell[name]) for name in coverage.axes if name in cell]
    return combinations(having, coverage.strength)
