import errno
import fcntl
import os
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from planned_run import new_run, plan_of, planned

from orchestrator.engines.here.run import HereEngine
from orchestrator.errors import InfrastructureError
from orchestrator.running import attempts, folder, lock
from orchestrator.running.runs import ListedRun, RunState, choose, clear, list_runs

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def made(runs: Path, name: str, *does: str, done: int = 0, summary: bool = False) -> Path:
    """A run folder with a plan of these cells, of which the first `done` are committed."""
    run = runs / name
    run.mkdir(parents=True)
    plan = plan_of(tuple(planned(what, n, image=f"sha256:{n:064}") for n, what in enumerate(does)))
    (run / "plan.json").write_bytes(msgspec.json.encode(plan))
    (run / "journal.jsonl").write_text("")
    for cell in plan.cells[:done]:
        place = run / "cells" / cell.id / "attempt-1"
        place.mkdir(parents=True)
        attempt = {"cell": cell.id, "number": 1, "exit": {"code": 0}}
        (place / "attempt.json").write_text(msgspec.json.encode(attempt).decode())
    if summary:
        (run / "summary.json").write_text("{}")
    return run


def names(runs: Any) -> list[str]:
    return [run.id[-4:] for run in runs]


def test_each_run_is_told_with_what_it_is_at(tmp_path: Path) -> None:
    made(tmp_path, "20261129T100000Z-000a", "pass", "pass", done=2, summary=True)
    half = made(tmp_path, "20261129T110000Z-000b", "pass", "pass", done=1, summary=True)
    made(tmp_path, "20261129T090000Z-000c", "pass", done=1)  # killed before its merge
    (tmp_path / "20261129T080000Z-000d").mkdir()
    (made(tmp_path, "20261129T070000Z-000e", "pass") / "plan.json").write_text("{")
    found = {run.id[-4:]: run for run in list_runs(tmp_path)}
    assert {name: (run.state.value, run.done, run.cells) for name, run in found.items()} == {
        "000b": ("resumable", 1, 2),
        "000a": ("done", 2, 2),
        "000c": ("resumable", 1, 1),
        "000d": ("empty", 0, 0),
        "000e": ("damaged", 0, 0),
    }
    assert list(found) == ["000b", "000a", "000c", "000d", "000e"]  # newest first
    assert [image.partition("-")[0] for image in found["000b"].images] == ["image"]  # of the cell that is left
    assert found["000a"].images == ()
    assert found["000b"].started == "2026-11-29T11:00:00+00:00"
    assert found["000b"].bytes >= (half / "plan.json").stat().st_size


def test_a_run_that_is_written_is_live(tmp_path: Path) -> None:
    run = made(tmp_path, "20261129T100000Z-000a", "pass")
    with (run / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert list_runs(tmp_path)[0].state is RunState.LIVE
        assert clear(tmp_path, choose_all(tmp_path, live=RunState.DONE)).removed == ()
    assert list_runs(tmp_path)[0].state is RunState.RESUMABLE


def test_a_run_that_was_just_made_is_live_until_its_owner_is_done(tmp_path: Path) -> None:
    with lock.created(tmp_path / "runs") as run:
        (found,) = list_runs(tmp_path / "runs")
        assert found.state is RunState.LIVE
        assert clear(tmp_path / "runs", choose_all(tmp_path / "runs", live=RunState.EMPTY)).removed == ()
    assert list_runs(tmp_path / "runs")[0].state is RunState.EMPTY
    with lock.held(run):  # as anybody may, now
        pass


def test_a_run_is_never_seen_between_its_making_and_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, cleared, threads = folder.create, [], []

    def made_and_cleared(runs: Path) -> Path:
        """The folder; somebody who saw it without a lock removes all that are empty."""
        run = make(runs)
        seen = choose(list_runs(runs), NOW, keep=0, max_age=None, force=False)
        assert names(seen.removed) == [run.name[-4:]]
        threads.append(threading.Thread(target=lambda: cleared.append(clear(runs, seen))))
        threads[0].start()
        threads[0].join(0.2)  # it would need a hundredth of that
        return run

    monkeypatch.setattr(folder, "create", made_and_cleared)
    with lock.created(tmp_path) as run:
        threads[0].join()
        assert run.is_dir()
        assert cleared[0].removed == ()
    assert [each.why for each in cleared[0].kept] == [f"process {os.getpid()} is writing this run"]


def test_two_that_remove_the_same_run_both_come_to_their_end(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / ".going-20261129T100000Z-000a" / f"{number}" / "x").mkdir(parents=True)
    nothing = choose([], NOW, keep=0, max_age=None, force=False)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: clear(tmp_path, nothing), range(4)))
    assert list(tmp_path.iterdir()) == []


def test_a_run_in_which_somebody_goes_on_making_files_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: Path) -> None:
        raise FileNotFoundError  # as where another removes what this one has listed

    (tmp_path / ".going-20261129T100000Z-000a").mkdir()
    monkeypatch.setattr("shutil.rmtree", gone)
    monkeypatch.setattr("orchestrator.running.runs._REMOVAL_S", 0.05)
    with pytest.raises(InfrastructureError, match="could not be removed"):
        clear(tmp_path, choose([], NOW, keep=0, max_age=None, force=False))


def choose_all(runs: Path, live: RunState) -> Any:
    """Everything chosen, as if nobody had looked whether it is live."""
    found = [msgspec.structs.replace(run, state=live) for run in list_runs(runs)]
    return choose(found, NOW, keep=0, max_age=None, force=True)


def test_what_is_no_run_is_none(tmp_path: Path) -> None:
    made(tmp_path, "20261129T100000Z-000a", "pass")
    for other in ("notes", "20261129T100000Z", "20261129T100000Z-000a.bak", ".git", "20261129T100000Z-00zz"):
        (tmp_path / other).mkdir()
    (tmp_path / "20261129T100000Z-000f").symlink_to("/etc")
    (tmp_path / "20261129T100000Z-0010").write_text("a file")
    assert names(list_runs(tmp_path)) == ["000a"]
    assert list_runs(tmp_path / "gone") == ()


def run(number: int, state: RunState = RunState.DONE, days: int = 0) -> ListedRun:
    started = NOW - timedelta(days=days, minutes=number)
    return ListedRun(
        id=f"20261129T100000Z-{number:04x}",
        path="x",
        started=started.isoformat(),
        state=state,
        cells=3,
        done=1,
        bytes=10,
        images=(),
    )


RUNS = (run(1), run(2, RunState.RESUMABLE), run(3, days=10), run(4, RunState.LIVE, 40), run(5, days=40))


@pytest.mark.parametrize(
    ("asked", "gone", "kept"),
    [
        ({"keep": 5}, [], []),
        ({"keep": 2}, ["0003", "0005"], ["0004"]),
        ({"keep": 0}, ["0001", "0003", "0005"], ["0002", "0004"]),
        ({"keep": 0, "force": True}, ["0001", "0002", "0003", "0005"], ["0004"]),
        ({"max_age": timedelta(days=30)}, ["0005"], ["0004"]),
        ({"max_age": timedelta(days=5), "keep": 4}, ["0003", "0005"], ["0004"]),
    ],
)
def test_old_runs_go_and_those_that_somebody_needs_stay(
    asked: dict[str, Any], gone: list[str], kept: list[str]
) -> None:
    chosen = choose(RUNS, NOW, **{"keep": None, "max_age": None, "force": False, **asked})
    assert names(chosen.removed) == gone
    assert [each.run.id[-4:] for each in chosen.kept] == kept
    assert chosen.bytes == 10 * len(gone)
    whys = {each.run.id[-4:]: each.why for each in chosen.kept}
    assert whys.get("0002", "2 of 3 cells can still be run: --force") == "2 of 3 cells can still be run: --force"
    assert whys.get("0004", "a process is writing it") == "a process is writing it"


def test_a_removed_run_takes_nothing_with_it_that_it_only_names(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    runs = tmp_path / "runs"
    place = made(runs, "20261129T100000Z-000a", "pass", done=1, summary=True)
    (place / "cells" / "link").symlink_to(outside, target_is_directory=True)
    (place / "precious").symlink_to(outside / "precious")
    os.mkfifo(place / "fifo")
    (runs / "notes").mkdir()
    done = clear(runs, choose(list_runs(runs), NOW, keep=0, max_age=None, force=False))
    assert names(done.removed) == ["000a"]
    assert sorted(path.name for path in runs.iterdir()) == ["notes"]
    assert (outside / "precious").read_text() == "x"


def test_what_an_earlier_try_left_goes_too_and_no_link_of_its_name(tmp_path: Path) -> None:
    (tmp_path / ".going-20261129T100000Z-000a" / "cells").mkdir(parents=True)
    (tmp_path / ".going-20261129T100000Z-000b").symlink_to("/etc")
    clear(tmp_path, choose([], NOW, keep=0, max_age=None, force=False))
    assert [path.name for path in tmp_path.iterdir()] == [".going-20261129T100000Z-000b"]


def test_a_real_run_is_done_and_can_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from planned_run import HOST, TINY

    from orchestrator.running.run import run_plan
    from orchestrator.settings import load_site

    monkeypatch.setattr(folder, "MIN_FREE", 0)
    out = new_run(tmp_path)
    site = load_site({"HOME": "/nonexistent"})
    run_plan(plan_of((planned("pass", 0),)), site, HereEngine(), out, host=HOST, suites=TINY, say=lambda _: None)
    (found,) = list_runs(tmp_path)
    assert (found.state, found.cells, found.done) == (RunState.DONE, 1, 1)
    clear(tmp_path, choose([found], NOW, keep=0, max_age=None, force=False))
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_ours_or_cannot_be_read_goes_by_force_only(tmp_path: Path) -> None:
    foreign = tmp_path / "20260101T000000Z-aaaa"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("mine")
    (made(tmp_path, "20260102T000000Z-bbbb", "pass") / "plan.json").write_text("{")
    (tmp_path / "20260103T000000Z-cccc").mkdir()
    found = list_runs(tmp_path)
    now = datetime(2026, 11, 29, tzinfo=UTC)
    assert names(choose(found, now, keep=0, max_age=None, force=False).removed) == ["cccc"]
    assert names(choose(found, now, keep=0, max_age=None, force=True).removed) == ["cccc", "bbbb", "aaaa"]


def test_a_name_with_a_day_that_never_was_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "20269999T000000Z-cccc").mkdir()
    assert list_runs(tmp_path) == ()


def fifo(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def nested(place: Path) -> None:
    place.write_text("[" * 100_000)


def huge(place: Path) -> None:
    place.write_text("")
    os.truncate(place, 1 << 40)


@pytest.mark.parametrize("spoil", [fifo, nested, huge])
@pytest.mark.parametrize("name", ["plan.json", "attempt.json"])
def test_a_run_with_a_file_that_cannot_be_read_is_listed_beside_the_others(
    spoil: Callable[[Path], None], name: str, tmp_path: Path
) -> None:
    run = made(tmp_path, "20261129T100000Z-000a", "pass", done=1, summary=True)
    made(tmp_path, "20261129T110000Z-000b", "pass", done=1, summary=True)
    (file,) = run.rglob(name)
    spoil(file)
    states = [each.state for each in list_runs(tmp_path)]
    assert states == [RunState.DONE, RunState.DAMAGED if name == "plan.json" else RunState.RESUMABLE]


@pytest.mark.parametrize("spoilt", ["cells", "cells/*"])
def test_a_run_whose_attempts_cannot_be_listed_is_damaged_and_the_others_go_on(spoilt: str, tmp_path: Path) -> None:
    run = made(tmp_path, "20261129T100000Z-000a", "pass", done=1, summary=True)
    made(tmp_path, "20261129T090000Z-000b", "pass", done=1, summary=True)
    (place,) = run.glob(spoilt)
    shutil.rmtree(place)
    place.write_text("a file")
    found = list_runs(tmp_path)
    assert [each.state for each in found] == [RunState.DAMAGED, RunState.DONE]
    done = clear(tmp_path, choose(found, NOW, keep=0, max_age=None, force=False))
    assert names(done.removed) == ["000b"]


def test_a_run_that_vanishes_while_it_is_looked_at_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(tmp_path, "20261129T100000Z-000a", "pass", done=1)
    made(tmp_path, "20261129T090000Z-000b", "pass", done=1)
    committed = attempts.committed

    def removed_before(place: Path, cell: str) -> Any:
        shutil.rmtree(run, ignore_errors=True)
        return committed(place, cell)

    monkeypatch.setattr(attempts, "committed", removed_before)
    assert names(list_runs(tmp_path)) == ["000b"]


def test_what_another_has_removed_is_neither_removed_nor_kept(tmp_path: Path) -> None:
    gone, live = made(tmp_path, "20261129T100000Z-000a", "pass"), made(tmp_path, "20261129T090000Z-000b", "pass")
    chosen = choose(list_runs(tmp_path), NOW, keep=0, max_age=None, force=True)
    kept = choose([run(2, RunState.LIVE)], NOW, keep=0, max_age=None, force=True).kept
    shutil.rmtree(gone)
    done = clear(tmp_path, msgspec.structs.replace(chosen, kept=kept))
    assert names(done.removed) == ["000b"]
    assert done.kept == ()
    assert not live.exists()


def test_many_that_clear_at_once_remove_each_run_once_and_have_nothing_to_say(tmp_path: Path) -> None:
    for number in range(40):
        made(tmp_path, f"20261129T1000{number:02}Z-{number:04x}", "pass", "pass", done=2, summary=True)

    def cleared(_: int) -> Any:
        return clear(tmp_path, choose(list_runs(tmp_path), NOW, keep=0, max_age=None, force=False))

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(cleared, range(4)))
    assert [each.kept for each in done] == [()] * 4
    assert len([run for each in done for run in each.removed]) == 40
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_removed_is_told_when_all_others_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        (tmp_path / f".going-20261129T100000Z-000{name}").mkdir()
    remove = shutil.rmtree

    def refused(place: Path) -> None:
        if place.name.endswith("a"):
            raise PermissionError(errno.EACCES, "Permission denied", str(place))
        remove(place)

    monkeypatch.setattr(shutil, "rmtree", refused)
    with pytest.raises(InfrastructureError, match="000a: Permission denied"):
        clear(tmp_path, choose([], NOW, keep=0, max_age=None, force=False))
    assert [path.name[-4:] for path in tmp_path.iterdir()] == ["000a"]


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (Path.mkdir, "it is not a regular file"),
        (os.mkfifo, "it is not a regular file"),
        (lambda path: path.symlink_to("/nowhere"), "Too many levels of symbolic links"),
        (lambda path: path.write_text("mine"), "something else is written in it"),
    ],
)
def test_a_run_whose_lock_is_none_is_told_and_goes_by_force(
    tmp_path: Path, make: Callable[[Path], object], why: str
) -> None:
    make(made(tmp_path, "20260101T000000Z-aaaa", "pass") / "lock")
    (found,) = list_runs(tmp_path)
    assert (found.state, found.damage) == (RunState.DAMAGED, f"its lock is none of ours: {why}")
    (kept,) = choose([found], NOW, keep=0, max_age=None, force=False).kept
    assert kept.why == f"its lock is none of ours: {why}: --force"
    done = clear(tmp_path, choose([found], NOW, keep=0, max_age=None, force=True))
    assert (names(done.removed), done.kept) == (["aaaa"], ())
    assert list(tmp_path.iterdir()) == []
