"""What an engine has seen of one attempt so far; it becomes the Exit at the end, however the end comes."""

import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from orchestrator.engines.codes import signal_of
from orchestrator.engines.ending import Ending
from orchestrator.engines.engine import StepLog
from orchestrator.engines.intake import Intake
from orchestrator.engines.log import LogKeeper, write_log
from orchestrator.engines.task import Task
from orchestrator.errors import InfrastructureError
from orchestrator.model import Attempt, Exit
from orchestrator.vocabulary import Step


@contextmanager
def _disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        fact = error.strerror or type(error).__name__
        raise InfrastructureError(fact, place=str(error.filename or ""), hint="see `df -h` and `df -i`") from error


class Sighting:
    """The facts of one attempt, filled in as it goes through its steps."""

    def __init__(self, task: Task, step: StepLog) -> None:
        self.log = LogKeeper(masker=task.masker)
        self.intake = Intake(task.out, masker=task.masker)
        self.ending = Ending(task.deadline_s)
        self.code: int | None = None
        self.oom = False
        self.relaxed: tuple[str, ...] = ()
        self._task = task
        self._enter = step
        self._problem = ""
        self._step: Step | None = None
        self._started = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._begun = time.monotonic()
        self._duration_s = 0.0

    @contextmanager
    def during(self, step: Step) -> Iterator[None]:
        """One step; the first InfrastructureError of all steps is kept with its step, and goes on up.

        A disk that is full or a folder that cannot be written to is one too.
        """
        try:
            with self._enter(step), self._unspoken(), _disk():
                yield
        except InfrastructureError as lost:
            if not self._problem:
                self._problem, self._step = str(lost), step
            raise

    @contextmanager
    def _unspoken(self) -> Iterator[None]:
        """Masks what an error says before it is written anywhere: names of what a cell left may stand in it."""
        try:
            yield
        except InfrastructureError as lost:
            mask = self._task.masker.text
            lost.fact, lost.place, lost.cause = mask(lost.fact), mask(lost.place), mask(lost.cause)
            raise

    def begin(self) -> None:
        """The cell starts now: its time and its deadline count from here."""
        self.ending = Ending(self._task.deadline_s)
        self._begun = time.monotonic()

    def end(self, code: int, *, oom: bool) -> None:
        """The cell has ended."""
        self.code, self.oom = code, oom
        self._duration_s = time.monotonic() - self._begun

    def attempt(self, engine: str) -> Attempt:
        """The finished attempt; `log.txt` is written with it."""
        log = self.log.log()
        if self._task.out.is_dir():
            self.intake.settle()
            write_log(log, self._task.out, self.log.left_out)
        return Attempt(
            cell=self._task.cell.id,
            number=self._task.number,
            host=platform.node(),
            engine=engine,
            devices=self._task.devices,
            image=self._task.image.name,
            relaxed=self.relaxed,
            exit=Exit(
                code=self.code,
                signal=None if self.code is None else signal_of(self.code),
                oom=self.oom,
                timed_out=self.ending.timed_out,
                cancelled=self.ending.cancelled,
                problem=self._problem,
                step=self._step,
                started=self._started,
                duration_s=round(self._duration_s or time.monotonic() - self._begun, 3),
                files=self.intake.files,
                refused=tuple(map(self._task.masker.text, self.intake.refused)),
                log=log,
            ),
        )
