"""What every engine can do."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from orchestrator.engines.task import Task
from orchestrator.model import Attempt, Image
from orchestrator.vocabulary import Step

# Entered around each of create, start, wait, collect and remove: the caller journals there.
StepLog = Callable[[Step], AbstractContextManager[None]]


class Engine(Protocol):
    """Runs one task at a time in each thread that calls it."""

    @property
    def name(self) -> str:
        """The engine's name in `registry.ENGINES`."""

    def run(self, task: Task, step: StepLog) -> Attempt:
        """Make one attempt; whatever goes wrong is told in its Exit and leaves nothing running."""

    def has(self, image: Image) -> bool:
        """Whether the image is there; InfrastructureError when no cell can be run now, in whatever image."""

    def sweep(self, run_id: str) -> tuple[str, ...]:
        """Remove what a dead owner left of this run, and what we could not; the names of what was removed.

        Never what another live process owns.
        """

    def stop_all(self) -> None:
        """Make every `run` return soon, with `cancelled` set. Safe in a signal handler; there is no way back."""
