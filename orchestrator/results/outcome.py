"""What a run as a whole comes to: counts by status, and the exit code for the shell."""

from collections import Counter
from collections.abc import Mapping

from orchestrator.errors import ExitCode, NothingSelected
from orchestrator.model import CellResult, PlannedCell, Run
from orchestrator.vocabulary import Status, Tier

_GOOD = frozenset({Status.PASSED, Status.FELL_BACK})
_SKIPPED = frozenset({Status.UNPLACED, Status.UNSUPPORTED})


def counts(run: Run) -> Mapping[Status, int]:
    """How many cells have each status; every status is there, and the sum is the number of planned cells."""
    found = Counter(result.status for result in run.results)
    return {status: found[status] for status in Status}


def is_complete(results: tuple[CellResult, ...]) -> bool:
    """Whether nothing is left to do: no cell was stopped, and none that has a machine is still to run."""
    return not any(result.status in {Status.CANCELLED, Status.NOT_RUN} for result in results)


def exit_code(run: Run, *, here: bool) -> ExitCode:
    """The exit code of a run or a merge; `here` asks only for what this machine can run."""
    cells = {cell.id: cell for cell in run.plan.cells}
    if any(_is_infrastructure(result, cells[result.id], here=here) for result in run.results):
        return ExitCode.INFRASTRUCTURE
    if any(not _is_fine(result) and result.status not in _SKIPPED for result in run.results):
        return ExitCode.NOT_PASSED
    if not any(_is_fine(result) for result in run.results):
        return ExitCode.NOTHING_SELECTED
    return ExitCode.GOOD


def nothing_ran(run: Run, place: str) -> NothingSelected:
    """The error of a run in which no cell could run; each cell's own reason is in its report, which lies at `place`."""
    found = ", ".join(f"{number} {status}" for status, number in counts(run).items() if number)
    return NothingSelected(
        f"nothing was run: {found or 'no cell was planned'}",
        place=place,
        cause=next((result.reason for result in run.results if result.reason), ""),
        hint="`torchmatrix plan` says where each cell can run; choose others with `--select`",
    )


def _is_fine(result: CellResult) -> bool:
    return result.status in _GOOD or bool(result.known_issue)


def _is_infrastructure(result: CellResult, cell: PlannedCell, *, here: bool) -> bool:
    if result.status is Status.UNPLACED:
        return cell.tier is Tier.PRODUCTION and not here
    return result.status is Status.ERROR and not result.known_issue
