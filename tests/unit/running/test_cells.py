from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from planned_run import HOST, TINY, planned

from orchestrator.engines.engine import StepLog
from orchestrator.engines.task import Task
from orchestrator.errors import InfrastructureError
from orchestrator.formats import CELL
from orchestrator.images.failure import BuildFailure, Stage
from orchestrator.model import Attempt, Exit, Image
from orchestrator.running import attempts, cells, journal
from orchestrator.running.schedule import Turn
from orchestrator.vocabulary import Cause, Purpose, Status, Step

TURN = Turn(cell=planned("pass", 1), devices=("0",))
IMAGE = Image(id="image", name="torchmatrix/image:1", ref="sha256:1", axes={}, observed={})


class Scripted:
    """An engine whose runs end as told, one after another."""

    name = "scripted"

    def __init__(self, *exits: Exit | InfrastructureError) -> None:
        self._exits = iter(exits)
        self.tasks: list[Task] = []

    def run(self, task: Task, step: StepLog) -> Attempt:
        self.tasks.append(task)
        made = next(self._exits)
        if isinstance(made, InfrastructureError):
            raise made
        with step(Step.WAIT):
            return Attempt(cell=task.cell.id, number=task.number, devices=task.devices, exit=made)

    def has(self, image: Image) -> bool:
        raise NotImplementedError

    def sweep(self, run_id: str) -> tuple[str, ...]:
        raise NotImplementedError

    def stop_all(self) -> None:
        raise NotImplementedError


@contextmanager
def setting(out: Path, engine: Scripted) -> Iterator[cells.Setting]:
    with journal.opened(out, {}) as log:
        yield cells.Setting(out=out, engine=engine, host=HOST, suites=TINY, journal=log)


def go(
    out: Path, engine: Scripted, image: Image | BuildFailure = IMAGE, stopped: Callable[[], bool] = lambda: False
) -> tuple[tuple[Attempt, ...], list[str]]:
    said: list[str] = []
    with setting(out, engine) as given:
        cells.run_cell(TURN, lambda: image, given, stopped, said.append)
    return attempts.committed(out, TURN.cell.id), said


BROKEN = Exit(problem="the engine is gone\nhint: start it", step=Step.WAIT)


def test_one_attempt_with_everything_that_the_suite_needs(tmp_path: Path) -> None:
    engine = Scripted(Exit(code=1))
    (made,), said = go(tmp_path, engine)
    assert (made.number, made.purpose, made.host, made.engine, made.devices) == (
        1,
        Purpose.RUN,
        "here",
        "scripted",
        ("0",),
    )
    (task,) = engine.tasks
    assert task.run_id == tmp_path.name
    assert task.argv == ("-m", "suites", "--cell", "{inputs}/cell.json", "--out", "{results}")
    assert task.inputs == {CELL: attempts.cell_file(TURN.cell)}
    assert task.env == {"DOES": "pass", "CELL": "1"}
    assert task.deadline_s == TURN.cell.limits.timeout_s
    assert task.out == tmp_path / "cells" / TURN.cell.id / "attempt-1"
    assert said == []
    assert cells.is_done(tmp_path, TURN.cell)


def test_infrastructure_is_tried_once_more_and_both_attempts_stay(tmp_path: Path) -> None:
    made, said = go(tmp_path, Scripted(BROKEN, Exit(code=0)))
    assert [(attempt.number, attempt.purpose) for attempt in made] == [(1, Purpose.RUN), (2, Purpose.RETRY)]
    assert said == [f"{TURN.cell.id} the engine is gone hint: start it: trying once more"]


def test_an_engine_that_raises_is_told_as_one_that_says_so(tmp_path: Path) -> None:
    made, _ = go(tmp_path, Scripted(InfrastructureError("no space"), InfrastructureError("no space")))
    assert [attempt.exit.problem for attempt in made] == ["no space", "no space"]
    assert all(attempt.exit.started for attempt in made)
    assert cells.is_done(tmp_path, TURN.cell)


def test_a_failure_of_our_own_is_not_taken_for_the_engines(tmp_path: Path) -> None:
    engine = Scripted()
    with pytest.raises(StopIteration):
        go(tmp_path, engine)
    assert attempts.committed(tmp_path, TURN.cell.id) == ()


def test_an_image_that_failed_is_one_attempt_that_says_why(tmp_path: Path) -> None:
    failure = BuildFailure(
        id="image",
        stage=Stage.WHEELS,
        reason="wheels: none of them",
        log_tail="  | tried\n",
        cause=Cause.MISSING_PACKAGE,
    )
    (made,), _ = go(tmp_path, Scripted(), failure)
    assert (made.exit.step, made.exit.problem) == (Step.PREPARE, "missing package: wheels: none of them")
    assert (tmp_path / "cells" / TURN.cell.id / "attempt-1" / "log.txt").read_text() == "  | tried\n"
    became = cells.result(tmp_path, TURN.cell)
    assert (became.status, became.cause) == (Status.ERROR, Cause.MISSING_PACKAGE)


def test_an_image_that_is_not_there_is_not_told_as_a_build(tmp_path: Path) -> None:
    failure = BuildFailure(
        id="image", stage=Stage.READY, reason="ready image: this engine has none", log_tail="", cause=Cause.BUILD
    )
    (made,), _ = go(tmp_path, Scripted(), failure)
    assert made.exit.problem == "ready image: this engine has none"
    became = cells.result(tmp_path, TURN.cell)
    assert (became.status, became.cause, became.reason) == (Status.ERROR, Cause.BUILD, f"prepare: {made.exit.problem}")


def test_a_stopped_run_begins_nothing(tmp_path: Path) -> None:
    assert go(tmp_path, Scripted(), stopped=lambda: True) == ((), [])


def test_a_stop_during_the_first_attempt_leaves_the_second_to_a_resumed_run(tmp_path: Path) -> None:
    asked: list[None] = []
    made, _ = go(tmp_path, Scripted(BROKEN), stopped=lambda: asked.append(None) or len(asked) > 1)  # type: ignore[func-returns-value]
    assert len(made) == 1
    assert not cells.is_done(tmp_path, TURN.cell)
    made, _ = go(tmp_path, Scripted(Exit(code=0)))
    assert [attempt.purpose for attempt in made] == [Purpose.RUN, Purpose.RETRY]


def test_the_steps_of_the_engine_and_the_commit_are_journalled_for_the_cell(tmp_path: Path) -> None:
    go(tmp_path, Scripted(Exit(code=0)))
    lines = [
        (line.step, line.state) for line in journal.read(tmp_path) if (line.cell, line.attempt) == (TURN.cell.id, 1)
    ]
    assert lines == [(Step.WAIT, "begin"), (Step.WAIT, "end"), (Step.COMMIT, "begin"), (Step.COMMIT, "end")]
