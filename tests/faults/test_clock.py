"""The clock of the machine is set while a run lasts: deadlines and durations do not notice, order is kept by number."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from threading import Thread

import pytest
from cell_engine import IMAGE, CellEngine, cell_engine
from planned_run import HOST, TINY, check, new_run, plan_of, planned, ready, statuses, until

from orchestrator.engines import sighting
from orchestrator.engines.docker.run import DockerEngine
from orchestrator.engines.engine import Engine
from orchestrator.engines.here.run import HereEngine
from orchestrator.results.merge import read_plan
from orchestrator.running import attempts, cells, folder, journal
from orchestrator.running import run as running
from orchestrator.running.run import run_plan
from orchestrator.running.runs import choose, list_runs
from orchestrator.settings import load_site

HOUR, YEAR = 3600.0, 365 * 86400.0


class Clock:
    """A clock for people that can be set; the monotonic one goes on as ever."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        clock, real = self, time.time

        class Set(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> "Set":
                moment = datetime.now(tz) + timedelta(seconds=clock.ahead)
                return cls.fromisoformat(moment.isoformat())

        patched.setattr(time, "time", lambda: real() + clock.ahead)
        for module in (journal, cells, folder, sighting):
            patched.setattr(module, "datetime", Set)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of this machine, and of the played engine, which is on it."""
    monkeypatch.setattr(folder, "MIN_FREE", 0)
    return Clock(monkeypatch)


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CellEngine]:
    monkeypatch.setattr(running, "supply", partial(ready, IMAGE))
    with cell_engine(tmp_path) as engine:
        yield engine


@pytest.fixture(params=["here", "docker"])
def engine(request: pytest.FixtureRequest) -> tuple[Engine, str]:
    """An engine, and the image of the cells in it."""
    if request.param == "here":
        return HereEngine(), ""
    return DockerEngine(request.getfixturevalue("played").environ, 5.0), IMAGE


def meanwhile(flag: Path, act: Callable[[], None]) -> Thread:
    """Acts once the file is there."""

    def wait_and_act() -> None:
        until(flag.exists)
        act()

    acting = Thread(target=wait_and_act)
    acting.start()
    return acting


@pytest.mark.parametrize("jump", [-HOUR, YEAR, -YEAR, 1.0])
def test_a_clock_that_is_set_while_a_cell_runs(
    tmp_path: Path, clock: Clock, engine: tuple[Engine, str], jump: float
) -> None:
    runs_in, image = engine
    run = new_run(tmp_path / "runs")
    flag = tmp_path / "flag"
    setting = meanwhile(flag, lambda: setattr(clock, "ahead", jump))
    asked = (planned(f"slow:{flag}", 0, image=image), planned("hang", 1, timeout_s=1.0, image=image))
    plan = plan_of((*asked, planned("pass", 2, image=image)))
    run_plan(plan, load_site({}), runs_in, run, host=HOST, suites=TINY, say=lambda _: None)
    setting.join()
    assert statuses(run) == ["passed", "timeout", "passed"]
    made = [attempt for cell in read_plan(run / "plan.json").cells for attempt in attempts.committed(run, cell.id)]
    assert all(0 <= attempt.exit.duration_s < 60 for attempt in made)
    lines = journal.read(run)
    assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
    went = datetime.fromisoformat(lines[-1].time) - datetime.fromisoformat(lines[0].time)
    assert abs(went.total_seconds() - jump) < 60  # it is the time of day that stands there, as it was
    check(run)
    run_plan(plan, load_site({}), runs_in, run, host=HOST, suites=TINY, say=lambda _: None, resume=True)
    assert statuses(run) == ["passed", "timeout", "passed"]


@pytest.mark.parametrize("jump", [-HOUR, YEAR, -YEAR])
def test_a_container_that_somebody_killed_just_before_the_clock_was_set(
    tmp_path: Path, clock: Clock, played: CellEngine, jump: float
) -> None:
    """What killed it is not lost, whatever the time of that is now: it is no crash of the cell."""
    run = new_run(tmp_path / "runs")

    def kill_and_set() -> None:
        (container,) = played.containers.values()
        assert container.process is not None
        container.kills.append(time.time())
        clock.ahead = jump
        os.killpg(container.process.pid, signal.SIGKILL)

    flag = tmp_path / "flag"
    killing = meanwhile(flag, kill_and_set)
    plan = plan_of((planned(f"hang:{flag}", 0, image=IMAGE),))
    run_plan(plan, load_site({}), DockerEngine(played.environ, 5.0), run, host=HOST, suites=TINY, say=lambda _: None)
    killing.join()
    (first, second) = attempts.committed(run, plan.cells[0].id)
    assert "the container was killed while the cell ran (by somebody else)" in first.exit.problem
    assert second.exit.problem == ""
    assert statuses(run) == ["passed"]


def test_runs_stay_in_the_order_in_which_they_were_begun(tmp_path: Path, clock: Clock) -> None:
    begun = []
    for clock.ahead in (0.0, -HOUR, -YEAR, YEAR, 0.0):
        begun.append(new_run(tmp_path / "runs").name)
    found = list_runs(tmp_path / "runs")
    assert [run.id for run in found] == begun[::-1]
    told = choose(found, datetime.now(UTC), keep=1, max_age=None, force=False)
    assert [run.id for run in told.removed] == begun[-2::-1]
