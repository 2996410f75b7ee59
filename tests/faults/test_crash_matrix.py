"""A part of the crash matrix, another one for each commit; all of it is `make crash-matrix`."""

from pathlib import Path

import pytest
from crash_matrix import CASES, KINDS, POINTS, REFUSED, case, commit, sample

from orchestrator.vocabulary import Step


def test_the_matrix_has_every_step() -> None:
    for state in ("begin", "end"):
        assert {point.split(":")[0] for point in POINTS if f":{state}" in point} == set(Step)
    assert {point.split(":")[0] for point in POINTS if point.endswith(":failed")} == set(REFUSED)
    assert set(CASES) == {(point, kind) for point in POINTS for kind in KINDS}


def test_the_samples_come_to_the_whole_and_each_has_every_kind() -> None:
    samples = {sample(CASES, str(number), 7) for number in range(100)}
    assert len(samples) == 7
    assert {asked for part in samples for asked in part} == set(CASES)
    assert all({kind for _, kind in part} == set(KINDS) for part in samples)


@pytest.mark.slow
@pytest.mark.parametrize(("point", "kind"), sample(CASES, commit(), 7))
def test_a_run_survives(tmp_path: Path, point: str, kind: str) -> None:
    case(point, kind, tmp_path)
