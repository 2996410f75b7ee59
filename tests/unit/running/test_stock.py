import pytest

from orchestrator.errors import InfrastructureError
from orchestrator.images.failure import BuildFailure, Stage
from orchestrator.model import Image
from orchestrator.running import stock
from orchestrator.running.stock import Stock
from orchestrator.vocabulary import Cause

IMAGE = Image(id="a", name="torchmatrix/a:1", ref="sha256:1", axes={}, observed={})
AGAIN = Image(id="a", name="torchmatrix/a:1", ref="sha256:2", axes={}, observed={})
NONE = BuildFailure(id="a", stage=Stage.BUILD, reason="no", log_tail="", cause=Cause.BUILD)
LOST = InfrastructureError("the container engine is not running", place="unix:///x")


class Engine:
    """An engine that answers as told."""

    def __init__(self, *answers: bool | InfrastructureError) -> None:
        self._answers = iter(answers)
        self.asked: list[str] = []

    def has(self, image: Image) -> bool:
        self.asked.append(image.ref)
        answer = next(self._answers)
        if isinstance(answer, InfrastructureError):
            raise answer
        return answer


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stock, "_LOOK_S", 0.001)


def made(engine: Engine, said: list[str], *remade: Image | BuildFailure, first: Image | BuildFailure = IMAGE) -> Stock:
    anew = iter(remade)
    return Stock({"a": first}, engine, remake=lambda _: next(anew), stopped=lambda: False, say=said.append)  # type: ignore[arg-type]


def test_an_image_that_is_there_is_used(said: list[str]) -> None:
    assert made(Engine(True), said).image("a") == IMAGE
    assert said == []


def test_a_failure_is_not_looked_for(said: list[str]) -> None:
    assert made(Engine(), said, first=NONE).image("a") == NONE


@pytest.mark.parametrize("anew", [AGAIN, NONE])
def test_an_image_that_was_removed_is_made_once_more(said: list[str], anew: Image | BuildFailure) -> None:
    images = made(Engine(False, False), said, anew)
    assert [images.image("a"), images.image("a")] == [anew, anew]  # gone again: its cells say so
    assert said == ["torchmatrix/a:1 was removed by somebody: making it once more"]


def test_an_engine_that_comes_back_is_waited_for(said: list[str]) -> None:
    assert made(Engine(LOST, LOST, True), said).image("a") == IMAGE
    assert said == ["waiting up to 30 s: the container engine is not running"]


def test_an_engine_that_stays_away_ends_the_run(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stock, "PATIENCE_S", 0.0)
    with pytest.raises(InfrastructureError, match="not running"):
        made(Engine(*[LOST] * 100), said).image("a")


def test_a_stop_ends_the_wait(said: list[str]) -> None:
    engine = Engine(LOST, LOST)
    images = Stock({"a": IMAGE}, engine, remake=lambda _: NONE, stopped=lambda: bool(engine.asked), say=said.append)  # type: ignore[arg-type]
    assert images.image("a") == IMAGE
    assert len(engine.asked) == 1
