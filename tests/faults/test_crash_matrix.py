"""A part of the crash matrix, another one for each commit; all of it is `make crash-matrix`."""

from pathlib import Path

import pytest
from crash_matrix import CASES, KINDS, POINTS, REAL_CASES, REFUSED, case, commit, sample, survived
from private_engine import PrivateEngine

from orchestrator.vocabulary import Step


def test_the_matrix_has_every_step() -> None:
    for state in ("begin", "end"):
        assert {point.split(":")[0] for point in POINTS if f":{state}" in point} == set(Step)
        assert {point.split(":")[0] for point, _ in REAL_CASES if f":{state}" in point} == set(Step)
    assert {point.split(":")[0] for point in POINTS if point.endswith(":failed")} == set(REFUSED)
    assert set(CASES) == {(point, kind) for point in POINTS for kind in KINDS}
    assert set(REAL_CASES) < set(CASES)


@pytest.mark.parametrize(("cases", "share"), [(CASES, 7), (REAL_CASES, 11)], ids=["played", "real"])
def test_the_samples_come_to_the_whole_and_each_has_every_kind(cases: tuple[tuple[str, str], ...], share: int) -> None:
    samples = {sample(cases, str(number), share) for number in range(200)}
    assert len(samples) == share
    assert {asked for part in samples for asked in part} == set(cases)
    assert all({kind for _, kind in part} == set(KINDS) for part in samples)


@pytest.mark.slow
@pytest.mark.parametrize(("point", "kind"), sample(CASES, commit(), 7))
def test_a_run_survives(tmp_path: Path, point: str, kind: str) -> None:
    case(point, kind, tmp_path)


@pytest.mark.slow
@pytest.mark.docker
@pytest.mark.parametrize(("point", "kind"), sample(REAL_CASES, commit(), 11))
def test_a_run_in_a_docker_daemon_survives(
    tmp_path: Path, private_engine: PrivateEngine, point: str, kind: str
) -> None:
    """It is really stopped and started again; no container or volume of a run is left in it."""
    survived(point, kind, tmp_path, private_engine)
