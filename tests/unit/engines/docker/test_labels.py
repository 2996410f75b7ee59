from collections.abc import Callable

from orchestrator.engines.docker.labels import labels, owner_of
from orchestrator.engines.owner import Owner
from orchestrator.engines.task import Task

OWNER = Owner(boot="b", namespace="1", pid=2, started=3)


def test_labels_say_what_it_belongs_to_and_who_made_it(make_task: Callable[..., Task]) -> None:
    made = labels(make_task(run_id="r", number=2), OWNER)
    assert made == {
        "org.torchmatrix.run": "r",
        "org.torchmatrix.cell": "cell-1",
        "org.torchmatrix.attempt": "2",
        "org.torchmatrix.owner": "b/1/2/3",
    }
    assert owner_of(made) == OWNER


def test_what_has_no_owner_label_has_no_owner() -> None:
    assert owner_of({"com.example": "x"}) is None
