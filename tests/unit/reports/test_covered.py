import msgspec
import pytest

from orchestrator.model import Coverage, Run
from orchestrator.reports import covered
from orchestrator.vocabulary import Status


def of(*axes: str, strength: int = 2) -> Coverage:
    return Coverage(axes=axes, strength=strength, wanted=9, planned=6, placed=4, uncovered=())


@pytest.mark.parametrize(("strength", "named"), [(2, "pairs"), (3, "triples"), (4, "combinations of 4 values")])
def test_counts_are_told_by_the_size_of_a_combination(strength: int, named: str) -> None:
    assert covered.counts(of("a", "b", strength=strength)) == f"6 of 9 {named} are planned, 4 placed"
    assert covered.axes(of("torch", "::error x")) == "of torch, ::error x"


def test_what_ran_counts_once_whatever_came_of_it(every_status: Run) -> None:
    ran = {result.id for result in every_status.results if result.status not in covered._DID_NOT_RUN}
    expected = {(cell.axes["torch"], cell.axes["torch_build"]) for cell in every_status.plan.cells if cell.id in ran}
    assert covered.run(of("torch", "torch_build"), every_status) == len(expected) > 3
    assert covered.run(of("torch", "driver"), every_status) < len(expected)
    assert covered.run(of("torch", "torch_build", "python", strength=3), every_status) >= len(expected)


@pytest.mark.parametrize(
    "status", [Status.ERROR, Status.UNPLACED, Status.UNSUPPORTED, Status.CANCELLED, Status.NOT_RUN]
)
def test_what_did_not_run_covers_nothing(every_status: Run, status: Status) -> None:
    results = tuple(msgspec.structs.replace(result, status=status) for result in every_status.results)
    assert covered.run(of("torch", "torch_build"), msgspec.structs.replace(every_status, results=results)) == 0
