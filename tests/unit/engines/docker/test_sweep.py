from typing import Any, cast

from msgspec.structs import replace

from orchestrator.engines.docker.labels import OBSERVE, OWNER, RUN
from orchestrator.engines.docker.sweep import sweep
from orchestrator.engines.owner import Owner, this_process

DEAD = replace(this_process(), started=0)


class Client:
    """As much of docker-py's client as a sweep uses."""

    timeout = 1.0

    def __init__(self, **owners: Owner | None) -> None:
        self.items = [
            {"name": name, "Labels": {OWNER: str(owner)} if owner else None} for name, owner in owners.items()
        ]
        self.asked: list[object] = []
        self.removed: list[str] = []

    def containers(self, *, all: bool, filters: object) -> list[dict[str, Any]]:  # noqa: A002 - its name there
        self.asked.append(filters)
        asks = filters == {"label": OBSERVE}
        return [
            {"Id": "1", "Names": [f"/{item['name']}"], **item}
            for item in self.items
            if asks == item["name"].startswith("asks")
        ]

    def volumes(self, filters: object) -> dict[str, Any]:
        self.asked.append(filters)
        return {
            "Volumes": [
                {"Name": f"{item['name']}-volume", **item} for item in self.items if not item["name"].startswith("asks")
            ]
            or None
        }

    def remove_container(self, name: str, *, v: bool, force: bool) -> None:
        assert v
        assert force
        self.removed.append(name)

    def remove_volume(self, name: str) -> None:
        self.removed.append(name)


def swept(client: Client) -> tuple[str, ...]:
    return sweep(cast("Any", client), "run-1")


def test_only_what_a_dead_owner_left_is_removed() -> None:
    client = Client(dead=DEAD, alive=this_process(), foreign=None)
    assert swept(client) == ("dead", "dead-volume")
    assert client.removed == ["dead", "dead-volume"]


def test_so_is_what_asks_an_image_of_whatever_run() -> None:
    client = Client(asks_dead=DEAD, asks_alive=this_process(), asks_foreign=None)
    assert swept(client) == ("asks_dead",)


def test_only_the_run_is_asked_for() -> None:
    client = Client()
    assert swept(client) == ()
    assert client.asked == [{"label": f"{RUN}=run-1"}, {"label": OBSERVE}, {"label": [f"{RUN}=run-1"]}]


def test_a_volume_that_went_with_its_container_is_no_error() -> None:
    class Late(Client):
        def remove_volume(self, name: str) -> None:
            import requests
            from docker.errors import APIError

            answer = requests.Response()
            answer.status_code = 404
            raise APIError("gone", answer)

    assert swept(Late(dead=DEAD)) == ("dead",)
