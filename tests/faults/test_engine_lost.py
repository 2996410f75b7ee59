"""An engine that fails in the middle of a cell: the Exit names the step, nothing raises, nothing hangs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Thread, Timer

import pytest
from engine_api import DROP, FAULTS, FLOOD, GARBAGE, HALF, HANG, MISSING, TRICKLE, FakeEngine, Handler, fake_engine

from orchestrator.engines.docker.run import DockerEngine
from orchestrator.engines.task import Task
from orchestrator.model import Exit
from orchestrator.vocabulary import Step

CALL_S = 0.3


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[FakeEngine]:
    with fake_engine(tmp_path) as engine:
        yield engine


def run(engine: FakeEngine, task: Task) -> Exit:
    return DockerEngine(engine.environ, CALL_S).run(task, lambda _: nullcontext()).exit


def test_an_engine_that_works(engine: FakeEngine, make_task: Callable[..., Task]) -> None:
    seen = run(engine, make_task())
    assert (seen.code, seen.problem, seen.step) == (0, "", None)
    assert seen.files == ("cell.json",)
    assert seen.log.head == "hello\n"
    assert engine.calls[-1] == "remove"


STEPS = {
    "version": Step.CREATE,
    "create": Step.CREATE,
    "put": Step.CREATE,
    "attach": Step.START,
    "start": Step.START,
    "inspect": Step.WAIT,
    "collect": Step.COLLECT,
    "remove": Step.REMOVE,
}
# These answers carry nothing that we read: an answer of any kind is a success.
UNREAD = {
    ("put", "garbage"),
    ("start", "garbage"),
    ("remove", "garbage"),
    ("put", "half"),
    ("start", "half"),
    ("remove", "half"),
}
CASES = [(route, fault) for route in STEPS for fault in FAULTS if (route, fault) not in UNREAD]


@pytest.mark.parametrize(("route", "fault"), CASES, ids=[f"{route}-{fault}" for route, fault in CASES])
def test_a_call_fails(engine: FakeEngine, make_task: Callable[..., Task], route: str, fault: str) -> None:
    engine.faults[route] = fault
    seen = run(engine, make_task())
    assert seen.problem
    assert seen.step is STEPS[route]
    assert (engine.calls[-1] == "remove") == (route != "version")


def test_an_answer_without_end_is_not_taken(
    engine: FakeEngine, make_task: Callable[..., Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.engines.docker.bounded.ANSWER_BYTES", 4 << 20)
    engine.faults["inspect"] = FLOOD
    seen = DockerEngine(engine.environ, 30.0).run(make_task(), lambda _: nullcontext()).exit
    assert "Message too long: over 4 MiB" in seen.problem
    assert seen.step is Step.WAIT


def test_an_output_that_is_longer_than_an_answer_is_a_stream(
    engine: FakeEngine, make_task: Callable[..., Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.engines.docker.bounded.ANSWER_BYTES", 1 << 15)
    engine.output = b"x" * 100_000
    engine.results = {"cell.json": b"{" + b" " * 100_000 + b"}"}
    seen = run(engine, make_task())
    assert (seen.problem, seen.log.bytes, seen.files) == ("", 100_000, ("cell.json",))


def test_a_failed_removal_leaves_the_results(engine: FakeEngine, make_task: Callable[..., Task]) -> None:
    engine.faults["remove"] = HANG
    seen = run(engine, make_task())
    assert (seen.code, seen.files) == (0, ("cell.json",))
    assert "removing the container" in seen.problem


def test_an_image_that_is_gone_is_named(engine: FakeEngine, make_task: Callable[..., Task]) -> None:
    engine.faults["create"] = MISSING
    seen = run(engine, make_task())
    assert "No such image" in seen.problem
    assert seen.code is None


def test_the_output_breaks_off(engine: FakeEngine, make_task: Callable[..., Task]) -> None:
    engine.output, engine.output_is_cut = b"x" * 100, True
    engine.faults["inspect"] = DROP
    seen = run(engine, make_task())
    assert seen.step is Step.WAIT
    assert set(seen.log.head) == {"x"}


def test_the_engine_goes_away_while_the_cell_runs(engine: FakeEngine, make_task: Callable[..., Task]) -> None:
    engine.runs_until_killed = True
    engine.faults["inspect"] = HALF
    Timer(0.1, engine.killed.set).start()
    seen = run(engine, make_task())
    assert seen.step is Step.WAIT
    assert "looking at the container" in seen.problem


@pytest.mark.parametrize(
    ("state", "said"),
    [({"Paused": True, "Running": True}, "paused"), ({"Running": "yes"}, "did not answer as it should")],
)
def test_a_state_that_it_should_not_have(
    engine: FakeEngine, make_task: Callable[..., Task], state: dict[str, object], said: str
) -> None:
    engine.state = state
    assert said in run(engine, make_task()).problem


def test_a_container_removed_by_somebody(engine: FakeEngine, make_task: Callable[..., Task]) -> None:
    engine.faults["inspect"] = MISSING
    assert "removed while the cell ran" in run(engine, make_task()).problem


@pytest.mark.parametrize(
    ("events", "killed"),
    [
        (b'{"Action": "kill"}\n{"Action": "die"}\n', True),
        (b'{"Action": "die"}\n{"Action": "kill"}\n', False),
        (b"", False),
    ],
)
def test_a_container_killed_by_somebody(
    engine: FakeEngine, make_task: Callable[..., Task], events: bytes, killed: bool
) -> None:
    engine.exit_code, engine.events = 137, events
    seen = run(engine, make_task())
    assert (seen.code, seen.signal) == (137, 9)
    assert ("killed while the cell ran" in seen.problem) == killed


@pytest.mark.parametrize("fault", [HANG, HALF, GARBAGE, TRICKLE, FLOOD])
def test_an_engine_that_does_not_say_what_killed_a_container(
    engine: FakeEngine, make_task: Callable[..., Task], fault: str
) -> None:
    engine.exit_code, engine.faults["events"] = 137, fault
    seen = run(engine, make_task())
    assert seen.code == 137
    assert "while asking what killed the container" in seen.problem
    assert engine.calls[-1] == "remove"


def test_the_deadline_is_kept_when_the_engine_does_not_kill(
    engine: FakeEngine, make_task: Callable[..., Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.engines.ending.GRACE_S", 0.05)
    monkeypatch.setattr("orchestrator.engines.ending.GIVE_UP_S", 0.05)
    monkeypatch.setattr(
        FakeEngine, "container_state", lambda _: {"Running": True, "Paused": False, "ExitCode": 0, "OOMKilled": False}
    )
    engine.runs_until_killed = True
    seen = run(engine, make_task(deadline_s=0.05))
    assert seen.timed_out
    assert "still runs" in seen.problem
    assert engine.calls.count("kill") == 2
    assert engine.calls[-1] == "remove"


def test_a_stop_from_a_signal_handler(
    engine: FakeEngine, make_task: Callable[..., Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.engines.ending.GRACE_S", 0.05)
    engine.runs_until_killed = True
    docker = DockerEngine(engine.environ, CALL_S)
    stopper = Thread(target=lambda: (engine.started.wait(10), docker.stop_all()))
    stopper.start()
    seen = docker.run(make_task(), lambda _: nullcontext()).exit
    stopper.join()
    assert seen.cancelled
    assert not seen.timed_out
    assert engine.calls[-1] == "remove"


def test_an_interrupt_in_any_step_still_removes(engine: FakeEngine, make_task: Callable[..., Task]) -> None:
    for interrupted in (Step.CREATE, Step.START, Step.WAIT, Step.COLLECT):
        engine.calls.clear()

        @contextmanager
        def log(step: Step, interrupted: Step = interrupted) -> Iterator[None]:
            yield
            if step is interrupted:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            DockerEngine(engine.environ, CALL_S).run(make_task(), log)
        assert engine.calls[-1] == "remove", interrupted


def test_no_room_for_the_results(engine: FakeEngine, make_task: Callable[..., Task], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    seen = run(engine, make_task(out=tmp_path / "file" / "out"))
    assert seen.step is Step.CREATE
    assert "Not a directory" in seen.problem


def test_a_large_foreign_file_does_not_take_the_others_with_it(
    engine: FakeEngine, make_task: Callable[..., Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.engines.docker.collect.SKIPPED_BYTES", 10_000)
    engine.results = {"core": b"x" * 20_000, "cell.json": b"{}", "junit.xml": b"<testsuites/>"}
    seen = run(engine, make_task())
    assert seen.files == ("cell.json", "junit.xml")
    assert seen.refused == ("core: not a file of a bundle",)
    assert seen.problem == ""


def test_results_that_are_no_archive(
    engine: FakeEngine, make_task: Callable[..., Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeEngine, "archive", lambda *_: b"not a tar archive")
    seen = run(engine, make_task())
    assert seen.step is Step.COLLECT
    assert "not an archive" in seen.problem


def test_somebody_else_removes_it_too(
    engine: FakeEngine, make_task: Callable[..., Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([(409, b'{"message": "removal is in progress"}'), (404, b'{"message": "No such container"}')])
    volumes = b'{"Volumes": [{"Name": "left"}]}'
    monkeypatch.setattr(Handler, "on_remove", lambda self, _: self.answer(*next(answers, (204, b""))))
    monkeypatch.setattr(Handler, "on_volumes", lambda self, _: self.answer(200, volumes))
    assert run(engine, make_task()).problem == ""
    assert engine.calls[-4:] == ["remove", "remove", "volumes", "remove"]


def test_after_a_stop_nothing_is_begun(engine: FakeEngine, make_task: Callable[..., Task]) -> None:
    docker = DockerEngine(engine.environ, CALL_S)
    docker.stop_all()
    assert docker.run(make_task(), lambda _: nullcontext()).exit.cancelled
    assert engine.calls == []
