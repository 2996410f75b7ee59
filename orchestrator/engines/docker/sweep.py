"""What dead owners left in the engine, found by label and removed. Never a prune: others use the engine too."""

from typing import TYPE_CHECKING, Any

from orchestrator.engines.docker.connection import Gone, calling
from orchestrator.engines.docker.container import remove
from orchestrator.engines.docker.labels import RUN, owner_of
from orchestrator.engines.owner import is_gone

if TYPE_CHECKING:
    from docker import APIClient


def sweep(client: "APIClient", run_id: str) -> tuple[str, ...]:
    """Remove the run's containers and volumes whose owner is gone; the names of what was removed."""
    ours = {"label": f"{RUN}={run_id}"}
    with calling("listing containers"):
        containers = [(item["Names"][0].lstrip("/"), item) for item in client.containers(all=True, filters=ours)]
    left = [name for name, item in containers if _is_orphan(item)]
    for name in left:
        remove(client, name)
    with calling("listing volumes"):
        volumes = [(item["Name"], item) for item in client.volumes(filters=ours)["Volumes"] or ()]
    for name, item in volumes:
        if _is_orphan(item) and _removed_volume(client, name):
            left.append(name)
    return tuple(left)


def _is_orphan(item: dict[str, Any]) -> bool:
    owner = owner_of(item.get("Labels") or {})
    return owner is not None and is_gone(owner)


def _removed_volume(client: "APIClient", name: str) -> bool:
    try:
        with calling("removing a volume"):
            client.remove_volume(name)
    except Gone:
        return False
    return True
