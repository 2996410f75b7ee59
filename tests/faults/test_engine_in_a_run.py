"""What can happen to an engine, its containers and its images while a run lasts: the run goes on, or it ends with 4."""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from threading import Thread, Timer

import psutil
import pytest
from cell_engine import IMAGE, CellEngine, cell_engine
from crash_matrix import contents
from engine_api import CONFLICT, DROP, GARBAGE, HALF, HANG, REFUSE
from planned_run import HOST, TINY, check, ended, new_run, only_run, paused, plan_of, planned, started, statuses, until

from orchestrator.engines.docker import watch
from orchestrator.engines.docker.run import DockerEngine
from orchestrator.errors import InfrastructureError
from orchestrator.model import Axes, Image
from orchestrator.results.merge import read_plan
from orchestrator.running import attempts, folder, stock
from orchestrator.running import run as running
from orchestrator.running.run import run_plan
from orchestrator.settings import load_site

# docker-py leaves a socket that it could not connect to the collector of garbage.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

CALL_S = 1.0
BACK_S = 0.4  # longer than one attempt's calls, shorter than our patience
PAIR = ("pass", "pass")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[CellEngine]:
    with cell_engine(tmp_path) as engine:
        yield engine


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return new_run(tmp_path / "runs")


@pytest.fixture(autouse=True)
def made(engine: CellEngine, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of the images that were made, each time; nothing else that takes long is waited for long."""
    keys: list[str] = []

    def supply(_name: str, wanted: Mapping[str, Axes], *_: object, **__: object) -> Mapping[str, Image]:
        keys.extend(wanted)
        engine.images.add(IMAGE)
        return {key: Image(id=key, name="image:1", ref=IMAGE, axes={}, observed={}) for key in wanted}

    monkeypatch.setattr(running, "supply", supply)
    monkeypatch.setattr(folder, "MIN_FREE", 0)
    monkeypatch.setattr(stock, "PATIENCE_S", 0.3)
    monkeypatch.setattr(stock, "_LOOK_S", 0.02)
    monkeypatch.setattr(watch, "LOOK_S", 0.1)
    return keys


@cache
def docker_of(engine: CellEngine) -> DockerEngine:
    """One for the run and what resumes it: this process lives on, and what it owns is no orphan."""
    return DockerEngine(engine.environ, CALL_S)


def go(
    engine: CellEngine, run: Path, *does: str, heard: Callable[[str], None] = lambda _: None, resume: bool = False
) -> list[str]:
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        heard(line)

    cells = tuple(planned(what, number, image=IMAGE) for number, what in enumerate(does))
    plan = read_plan(run / "plan.json") if resume else plan_of(cells)
    run_plan(plan, load_site({}), docker_of(engine), run, host=HOST, suites=TINY, say=say, resume=resume)
    return said


def problems(run: Path) -> list[list[str]]:
    """What the engine did to each attempt of each cell."""
    cells = read_plan(run / "plan.json").cells
    return [[attempt.exit.problem for attempt in attempts.committed(run, cell.id)] for cell in cells]


def at(words: str, act: Callable[[], object]) -> Callable[[str], None]:
    """Acts once, when a line with these words is said."""
    left = [act]

    def heard(line: str) -> None:
        if words in line and left:
            left.pop()()

    return heard


# --- the engine -------------------------------------------------------------------------------------------------------


def test_an_engine_that_is_restarted_between_two_calls_loses_no_cell(engine: CellEngine, run: Path) -> None:
    def restart() -> None:
        engine.stop()
        engine.start()

    go(engine, run, "pass", "fail", "pass", heard=at("[1/3]", restart))
    assert statuses(run) == ["passed", "failed", "passed"]
    check(run)
    assert engine.containers == {}


def test_an_engine_that_is_restarted_in_the_middle_of_a_cell(
    engine: CellEngine, run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stock, "PATIENCE_S", 30.0)

    def restart() -> None:
        until((tmp_path / "flag").exists)
        engine.stop()
        Timer(BACK_S, engine.start).start()

    restarting = Thread(target=restart)
    restarting.start()
    said = go(engine, run, f"hang:{tmp_path}/flag", "pass")
    restarting.join()
    assert statuses(run) == ["passed", "passed"]
    (first, second), _ = problems(run)
    assert first
    assert second == ""
    assert any("waiting up to 30 s" in line for line in said)
    assert engine.containers == {}  # the one that could not be removed too, before anything else was run
    check(run, attempts={"0-hang": 2})


def test_an_engine_that_stays_away_ends_the_run_and_all_of_it_can_be_resumed(engine: CellEngine, run: Path) -> None:
    with pytest.raises(InfrastructureError, match="no container engine") as caught:
        go(engine, run, "pass", "fail", "pass", heard=at("[1/3]", engine.stop))
    assert caught.value.exit_code == 4
    assert statuses(run) == ["passed", "not-run", "not-run"]
    engine.start()
    go(engine, run, resume=True)
    assert statuses(run) == ["passed", "failed", "passed"]
    check(run)


FAULTS = [
    ("create", HANG),
    ("create", CONFLICT),
    ("put", REFUSE),
    ("attach", GARBAGE),
    ("start", DROP),
    ("inspect", HALF),
    ("inspect", GARBAGE),
    ("collect", HALF),
    ("remove", REFUSE),
    ("remove", HANG),
    ("version", HANG),
    ("version", GARBAGE),
]


@pytest.mark.parametrize(("route", "fault"), FAULTS, ids=["-".join(pair) for pair in FAULTS])
def test_an_engine_that_answers_wrongly_for_a_while(
    engine: CellEngine, run: Path, route: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cell is an error that says what was being done, or the run ends; what comes after it is as it should be."""
    monkeypatch.setattr("orchestrator.engines.docker.connection.PROBE_S", 0.3)

    def well(_: str = "") -> None:
        engine.faults.clear()

    engine.faults[route] = fault
    try:
        go(engine, run, *PAIR, heard=at("[1/2]", well))
    except InfrastructureError:
        well()
        go(engine, run, resume=True)
    assert statuses(run)[1] == "passed"
    first, second = problems(run)
    assert (statuses(run)[0] == "error") == bool(first[-1])
    assert second == [""]
    assert all("engine" in problem for problem in first if problem)
    assert engine.containers == {}


# --- its containers ---------------------------------------------------------------------------------------------------


def _pause(engine: CellEngine, name: str) -> None:
    engine.containers[name].paused = True


def _kill(engine: CellEngine, name: str) -> None:
    engine.containers[name].kill(signal.SIGKILL)


def _remove(engine: CellEngine, name: str) -> None:
    engine.containers.pop(name).remove()


@pytest.mark.parametrize(("act", "said"), [(_pause, "paused"), (_kill, "killed"), (_remove, "removed")])
def test_a_container_touched_by_hand_is_told_and_its_cell_is_run_again(
    engine: CellEngine, run: Path, tmp_path: Path, act: Callable[[CellEngine, str], None], said: str
) -> None:
    def touch() -> None:
        until((tmp_path / "flag").exists)
        (name,) = engine.containers
        act(engine, name)

    touching = Thread(target=touch)
    touching.start()
    go(engine, run, f"hang:{tmp_path}/flag", "pass")
    touching.join()
    (first, second), _ = problems(run)
    assert f"the container was {said} while the cell ran (by somebody else)" in first
    assert second == ""
    assert statuses(run) == ["passed", "passed"]
    assert engine.containers == {}


def test_a_kill_of_which_the_event_was_lost_is_never_a_pass(
    engine: CellEngine, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cell_engine.CellHandler.on_events", lambda handler, _: handler.answer(200, b""))

    def touch() -> None:
        until((tmp_path / "flag").exists)
        _kill(engine, *engine.containers)

    touching = Thread(target=touch)
    touching.start()
    go(engine, run, f"hang:{tmp_path}/flag")
    touching.join()
    assert statuses(run) == ["crashed"]


# --- its images -------------------------------------------------------------------------------------------------------


def test_an_image_that_is_removed_is_made_once_more_and_a_running_cell_does_not_notice(
    engine: CellEngine, run: Path, made: list[str], tmp_path: Path
) -> None:
    def remove() -> None:
        until((tmp_path / "flag").exists)
        engine.images.clear()

    removing = Thread(target=remove)
    removing.start()
    said = go(engine, run, f"slow:{tmp_path}/flag", "pass", "pass")
    removing.join()
    assert statuses(run) == ["passed", "passed", "passed"]
    assert len(made) == 2
    assert sum("image:1 was removed by somebody: making it once more" in line for line in said) == 1
    check(run)


def test_an_image_that_is_removed_again_and_again_is_an_error_of_its_cells(
    engine: CellEngine, run: Path, made: list[str]
) -> None:
    go(engine, run, "pass", "pass", "pass", heard=lambda _: engine.images.clear())
    assert statuses(run) == ["passed", "passed", "error"]
    assert len(made) == 2
    assert [("No such image" in problem) for problem in problems(run)[2]] == [True, True]


def test_a_container_is_made_of_the_image_by_id_whatever_its_tag_is_now(engine: CellEngine, run: Path) -> None:
    go(engine, run, *PAIR)
    assert engine.asked == [IMAGE, IMAGE]


# --- we are stopped ---------------------------------------------------------------------------------------------------


def _begun_by(process: subprocess.Popen[str], engine: CellEngine, name: str) -> list[psutil.Process]:
    """What runs of the cell; one that has ended stays until its parent has seen it, and can be stopped as any other."""
    if name == "here":
        return psutil.Process(process.pid).children(recursive=True)
    (container,) = engine.containers.values()
    assert container.process is not None
    return [psutil.Process(container.process.pid)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["docker", "here"])
@pytest.mark.parametrize(("does", "may_be"), [("pass", {"passed", "timeout"}), ("hang", {"timeout"})])
@pytest.mark.parametrize("cells_too", [False, True], ids=["", "and its cell"])
def test_a_process_that_was_stopped_for_longer_than_the_deadline(
    engine: CellEngine, tmp_path: Path, does: str, may_be: set[str], name: str, cells_too: bool
) -> None:
    """Alone, or as where the machine was suspended, with all that the cell began; their clock went on."""
    environ = engine.environ if name == "docker" else {}
    process = started("run", tmp_path / "r", does, "pass", fault="wait:begin=pause", TIMEOUT_S="2", **environ)
    assert paused(process)
    stopped = _begun_by(process, engine, name) if cells_too else []
    for each in stopped:
        each.suspend()
    time.sleep(2.5)
    for each in stopped:
        each.resume()
    process.send_signal(signal.SIGCONT)
    ended(process, 0)
    run = only_run(tmp_path / "r")
    assert statuses(run)[0] in may_be
    assert statuses(run)[1] in {"passed", "timeout"}
    check(run)
    assert engine.containers == {}
    files = contents(run)
    ended(started("resume", run, **environ), 0)
    assert contents(run) == files
