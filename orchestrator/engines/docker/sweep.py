"""What dead owners left in the engine, found by label and removed. Never a prune: others use the engine too."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from orchestrator.engines.docker.answers import FoundContainer, asked
from orchestrator.engines.docker.container import remove, remove_volume, volumes
from orchestrator.engines.docker.labels import OBSERVE, RUN, owner_of
from orchestrator.engines.owner import is_gone

if TYPE_CHECKING:
    from docker import APIClient


def sweep(client: "APIClient", run_id: str) -> tuple[str, ...]:
    """Remove the run's containers and volumes whose owner is gone; the names of what was removed.

    So are the containers that ask images what they have, of whatever run or build: none of those looks for them.
    """
    containers = [each for label in (f"{RUN}={run_id}", OBSERVE) for each in _containers(client, label)]
    left = [each.name for each in containers if _is_orphan(each.labels)]
    for name in left:
        remove(client, name)
    orphans = [each.name for each in volumes(client, {RUN: run_id}) if _is_orphan(each.labels)]
    return (*left, *(name for name in orphans if remove_volume(client, name)))


def _containers(client: "APIClient", label: str) -> tuple[FoundContainer, ...]:
    return asked(
        "listing containers",
        tuple[FoundContainer, ...],
        lambda: client.containers(all=True, filters={"label": label}),
    )


def _is_orphan(labels: Mapping[str, str] | None) -> bool:
    owner = owner_of(labels or {})
    return owner is not None and is_gone(owner)
