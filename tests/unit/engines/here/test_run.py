import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from orchestrator.engines.here.run import HereEngine
from orchestrator.engines.task import Task
from orchestrator.vocabulary import Step


def test_our_own_interpreter_runs_the_cell(make_task: Callable[..., Task]) -> None:
    steps = []

    @contextmanager
    def log(step: Step) -> Iterator[None]:
        steps.append(step)
        yield

    attempt = HereEngine().run(make_task("import sys; print(sys.executable)", ref="not run"), log)
    assert attempt.engine == "here"
    assert attempt.exit.log.head == f"{sys.executable}\n"
    assert steps == [Step.CREATE, Step.START, Step.WAIT, Step.COLLECT, Step.REMOVE]


def test_nothing_is_left_of_a_run_that_ended() -> None:
    assert HereEngine().sweep("a run that never was") == ()
