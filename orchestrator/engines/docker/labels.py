"""The labels that everything we make in an engine carries: what it belongs to and who made it."""

from collections.abc import Mapping

from orchestrator.engines.owner import Owner, parse
from orchestrator.engines.task import Task

RUN = "org.torchmatrix.run"
CELL = "org.torchmatrix.cell"
ATTEMPT = "org.torchmatrix.attempt"
OWNER = "org.torchmatrix.owner"
OBSERVE = "org.torchmatrix.observe"  # of a container that asks an image what it has: it belongs to no run


def labels(task: Task, owner: Owner) -> dict[str, str]:
    """The labels of a task's container and volume."""
    return {RUN: task.run_id, CELL: task.cell.id, ATTEMPT: str(task.number), OWNER: str(owner)}


def owner_of(labelled: Mapping[str, str]) -> Owner | None:
    """The owner that the labels name, if they name one."""
    return parse(labelled.get(OWNER, ""))
