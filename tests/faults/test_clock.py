"""The clock of the machine is set while a run lasts: deadlines and durations do not notice, order is kept by number."""

import time
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from threading import Thread

import pytest
from planned_run import HOST, TINY, check, new_run, plan_of, planned, statuses, until

from orchestrator.engines import sighting
from orchestrator.engines.here.run import HereEngine
from orchestrator.results.merge import read_plan
from orchestrator.running import attempts, cells, folder, journal
from orchestrator.running.run import run_plan
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


@pytest.mark.parametrize("jump", [-HOUR, YEAR, -YEAR, 1.0])
def test_a_clock_that_is_set_while_a_cell_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: float) -> None:
    monkeypatch.setattr(folder, "MIN_FREE", 0)
    clock = Clock(monkeypatch)
    runs = tmp_path / "runs"
    run = new_run(runs)
    flag = tmp_path / "flag"

    def set_it() -> None:
        until(flag.exists)
        clock.ahead = jump

    setting = Thread(target=set_it)
    setting.start()
    plan = plan_of((planned(f"slow:{flag}", 0), planned("hang", 1, timeout_s=1.0), planned("pass", 2)))
    run_plan(plan, load_site({}), HereEngine(), run, host=HOST, suites=TINY, say=lambda _: None)
    setting.join()
    assert statuses(run) == ["passed", "timeout", "passed"]
    made = [attempt for cell in read_plan(run / "plan.json").cells for attempt in attempts.committed(run, cell.id)]
    assert all(0 <= attempt.exit.duration_s < 60 for attempt in made)
    lines = journal.read(run)
    assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
    went = datetime.fromisoformat(lines[-1].time) - datetime.fromisoformat(lines[0].time)
    assert abs(went.total_seconds() - jump) < 60  # it is the time of day that stands there, as it was
    check(run)
    run_plan(plan, load_site({}), HereEngine(), run, host=HOST, suites=TINY, say=lambda _: None, resume=True)
    assert statuses(run) == ["passed", "timeout", "passed"]
