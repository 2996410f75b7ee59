"""The engine of last resort and of CI jobs: our own interpreter, otherwise as the process engine."""

import sys

from orchestrator.engines.engine import StepLog
from orchestrator.engines.process.run import ProcessEngine, run_process
from orchestrator.engines.stop import Stop
from orchestrator.engines.task import Task
from orchestrator.model import Attempt


class HereEngine:
    """Runs cells with the Python that runs us."""

    name = "here"

    def __init__(self) -> None:
        self._stop = Stop()

    def run(self, task: Task, step: StepLog) -> Attempt:
        """One attempt in a fresh folder; the task's image is what is observed, not what is run."""
        return run_process(self.name, sys.executable, task, step, self._stop)

    has = ProcessEngine.has
    sweep = ProcessEngine.sweep

    def stop_all(self) -> None:
        """See `Engine.stop_all`."""
        self._stop.request()
