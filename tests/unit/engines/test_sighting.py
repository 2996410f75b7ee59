from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from orchestrator.engines.sighting import Sighting
from orchestrator.engines.task import Task
from orchestrator.errors import InfrastructureError
from orchestrator.vocabulary import Step


def test_the_first_problem_is_told_with_its_step(make_task: Callable[..., Task]) -> None:
    seen = Sighting(make_task(), lambda _: nullcontext())
    for step, fact in ((Step.START, "first"), (Step.REMOVE, "second")):
        with pytest.raises(InfrastructureError), seen.during(step):
            raise InfrastructureError(fact)
    exit_ = seen.attempt("docker").exit
    assert (exit_.problem, exit_.step) == ("first", Step.START)


def test_a_full_disk_is_a_problem_with_its_place(make_task: Callable[..., Task]) -> None:
    seen = Sighting(make_task(), lambda _: nullcontext())
    with pytest.raises(InfrastructureError), seen.during(Step.COLLECT):
        raise OSError(28, "No space left on device", "/out/junit.xml")
    assert seen.attempt("docker").exit.problem.startswith("/out/junit.xml: No space left on device")


def test_each_step_is_entered_in_the_log(make_task: Callable[..., Task]) -> None:
    entered = []

    @contextmanager
    def log(step: Step) -> Iterator[None]:
        entered.append(f"+{step}")
        yield
        entered.append(f"-{step}")

    seen = Sighting(make_task(), log)
    with seen.during(Step.WAIT):
        pass
    assert entered == ["+wait", "-wait"]


def test_an_attempt_has_the_facts(make_task: Callable[..., Task], tmp_path: Path) -> None:
    task = make_task(number=3, devices=("0",))
    task.out.mkdir()
    seen = Sighting(task, lambda _: nullcontext())
    seen.begin()
    seen.log.feed(b"hello")
    seen.end(139, oom=False)
    attempt = seen.attempt("here")
    assert (attempt.cell, attempt.number, attempt.engine, attempt.devices) == ("cell-1", 3, "here", ("0",))
    assert (attempt.exit.code, attempt.exit.signal, attempt.exit.log.head) == (139, 11, "hello")
    assert attempt.exit.started
    assert (tmp_path / "out" / "log.txt").read_text() == "hello"


def test_an_attempt_that_never_began_has_no_code(make_task: Callable[..., Task]) -> None:
    exit_ = Sighting(make_task(), lambda _: nullcontext()).attempt("here").exit
    assert (exit_.code, exit_.signal) == (None, None)
