"""What dead owners left in the engine, found by label and removed. Never a prune: others use the engine too."""

from typing import TYPE_CHECKING, Any

from orchestrator.engines.docker.calls import calling
from orchestrator.engines.docker.container import remove, remove_volume, volumes
from orchestrator.engines.docker.labels import OBSERVE, RUN, owner_of
from orchestrator.engines.owner import is_gone

if TYPE_CHECKING:
    from docker import APIClient


def sweep(client: "APIClient", run_id: str) -> tuple[str, ...]:
    """Remove the run's containers and volumes whose owner is gone; the names of what was removed.

    So are the containers that ask images what they have, of whatever run or build: none of those looks for them.
    """
    with calling("listing containers"):
        labels = (f"{RUN}={run_id}", OBSERVE)
        containers = [item for label in labels for item in client.containers(all=True, filters={"label": label})]
        left = [item["Names"][0].lstrip("/") for item in containers if _is_orphan(item)]
    for name in left:
        remove(client, name)
    orphans = [item["Name"] for item in volumes(client, {RUN: run_id}) if _is_orphan(item)]
    return (*left, *(name for name in orphans if remove_volume(client, name)))


def _is_orphan(item: dict[str, Any]) -> bool:
    owner = owner_of(item.get("Labels") or {})
    return owner is not None and is_gone(owner)
