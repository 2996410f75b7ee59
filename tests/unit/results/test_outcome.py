"""What a run comes to, and the exit code for it."""

from types import SimpleNamespace

import pytest

from orchestrator.errors import ExitCode
from orchestrator.model import CellResult, Counts, Run
from orchestrator.results.outcome import counts, exit_code, is_complete
from orchestrator.vocabulary import Cause, Status, Tier

P, E = Tier.PRODUCTION, Tier.EDGE


def run(make: SimpleNamespace, *became: tuple[Status, Tier] | tuple[Status, Tier, str]) -> Run:
    cells, results = [], []
    for number, (status, tier, *known) in enumerate(became):
        cell = make.cell(id=f"c{number}", tier=tier)
        cells.append(cell)
        results.append(
            CellResult(
                id=cell.id,
                status=status,
                cause=Cause.NONE,
                reason="",
                requested=cell.axes,
                observed={},
                cases=(),
                counts=Counts(),
                notes=(),
                attempts=(),
                known_issue=known[0] if known else "",
            )
        )
    return Run(id="r", plan=make.plan(*cells), results=tuple(results), complete=True)


@pytest.mark.parametrize(
    ("became", "code"),
    [
        ([(Status.PASSED, P)], ExitCode.GOOD),
        ([(Status.FELL_BACK, P)], ExitCode.GOOD),
        ([(Status.PASSED, P), (Status.UNPLACED, E), (Status.UNSUPPORTED, P)], ExitCode.GOOD),
        ([(Status.CRASHED, P, "link")], ExitCode.GOOD),
        ([(Status.ERROR, P, "link")], ExitCode.GOOD),
        *(
            ([(Status.PASSED, P), (status, E)], ExitCode.NOT_PASSED)
            for status in (
                Status.FAILED,
                Status.CRASHED,
                Status.CRASHED_AT_EXIT,
                Status.TIMEOUT,
                Status.OOM,
                Status.MISMATCH,
                Status.CANCELLED,
                Status.NOT_RUN,
            )
        ),
        ([(Status.PASSED, P), (Status.ERROR, E)], ExitCode.INFRASTRUCTURE),
        ([(Status.ERROR, P), (Status.ERROR, P)], ExitCode.INFRASTRUCTURE),
        ([(Status.FAILED, P), (Status.ERROR, P)], ExitCode.INFRASTRUCTURE),
        ([(Status.FAILED, P), (Status.UNPLACED, P)], ExitCode.INFRASTRUCTURE),
        ([(Status.PASSED, P), (Status.UNPLACED, P)], ExitCode.INFRASTRUCTURE),
        ([(Status.UNPLACED, E)], ExitCode.NOTHING_SELECTED),
        ([(Status.UNSUPPORTED, P)], ExitCode.NOTHING_SELECTED),
        ([], ExitCode.NOTHING_SELECTED),
    ],
)
def test_exit_code(make: SimpleNamespace, became: list[tuple[Status, Tier]], code: ExitCode) -> None:
    assert exit_code(run(make, *became), here=False) is code


@pytest.mark.parametrize(
    ("became", "code"),
    [
        ([(Status.PASSED, P), (Status.UNPLACED, P)], ExitCode.GOOD),
        ([(Status.FAILED, P), (Status.UNPLACED, P)], ExitCode.NOT_PASSED),
        ([(Status.UNPLACED, P)], ExitCode.NOTHING_SELECTED),
        ([(Status.ERROR, P), (Status.UNPLACED, P)], ExitCode.INFRASTRUCTURE),
    ],
)
def test_here_asks_only_for_what_this_machine_can_run(
    make: SimpleNamespace, became: list[tuple[Status, Tier]], code: ExitCode
) -> None:
    assert exit_code(run(make, *became), here=True) is code


def test_every_status_has_an_exit_code_that_is_not_green_unless_it_is_good(make: SimpleNamespace) -> None:
    green = {status for status in Status if exit_code(run(make, (status, P)), here=False) is ExitCode.GOOD}

    assert green == {Status.PASSED, Status.FELL_BACK}


def test_counts_have_every_status_and_sum_up_to_the_planned(make: SimpleNamespace) -> None:
    found = counts(run(make, (Status.PASSED, P), (Status.PASSED, E), (Status.OOM, P)))

    assert set(found) == set(Status)
    assert (found[Status.PASSED], found[Status.OOM], sum(found.values())) == (2, 1, 3)


@pytest.mark.parametrize("status", Status)
def test_a_run_is_complete_when_nothing_is_left_to_do(make: SimpleNamespace, status: Status) -> None:
    results = run(make, (Status.PASSED, P), (status, P)).results

    assert is_complete(results) is (status not in {Status.CANCELLED, Status.NOT_RUN})
