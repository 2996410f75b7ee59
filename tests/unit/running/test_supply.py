import sys
from collections.abc import Callable, Mapping

import pytest

from orchestrator.images import prepare
from orchestrator.images.failure import BuildFailure, Stage
from orchestrator.model import Axes, Image
from orchestrator.running.supply import supply
from orchestrator.settings import load_site
from orchestrator.vocabulary import Cause

SITE = load_site({"HOME": "/nonexistent"})
WANTED: Mapping[str, Axes] = {"one": {"torch": "2.13.0"}, "two": {"torch": "2.6.0"}}


def image(name: str) -> Image:
    return Image(id=name, name=name, ref=name, axes={}, observed={})


def failure(name: str, cause: Cause) -> BuildFailure:
    return BuildFailure(id=name, stage=Stage.BUILD, reason="build: broken", log_tail="", cause=cause)


class Preparing:
    """Stands for `prepare_images`: the outcomes of one image after another call."""

    def __init__(self, *outcomes: Callable[[str], Image | BuildFailure]) -> None:
        self._outcomes = iter(outcomes)
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, wanted: Mapping[str, Axes], site: object, **_: object) -> Mapping[str, Image | BuildFailure]:
        assert site is SITE
        self.asked.append(tuple(wanted))
        return {name: next(self._outcomes)(name) for name in wanted}


def broken(cause: Cause) -> Callable[[str], BuildFailure]:
    return lambda name: failure(name, cause)


@pytest.fixture
def said() -> list[str]:
    return []


def test_here_is_the_interpreter_that_runs_us(said: list[str]) -> None:
    made = supply("here", WANTED, SITE, jobs=1, say=said.append)
    assert list(made) == ["one", "two"]
    assert made["one"] == Image(id="one", name="here", ref=sys.executable, axes=WANTED["one"], observed={})


@pytest.mark.parametrize(("engine", "maker"), [("docker", "prepare_images"), ("process", "prepare_venvs")])
def test_each_engine_has_its_maker(engine: str, maker: str, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, maker, Preparing(image, image))
    assert supply(engine, WANTED, SITE, jobs=1, say=said.append) == {"one": image("one"), "two": image("two")}
    assert said == []


def test_what_failed_is_tried_once_more_and_alone(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    preparing = Preparing(image, broken(Cause.ENGINE), image)
    monkeypatch.setattr(prepare, "prepare_images", preparing)
    assert supply("docker", WANTED, SITE, jobs=1, say=said.append) == {"one": image("one"), "two": image("two")}
    assert preparing.asked == [("one", "two"), ("two",)]
    assert said == ["two could not be prepared, trying once more"]


def test_what_fails_twice_says_so(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    preparing = Preparing(broken(Cause.BUILD), image, broken(Cause.BUILD))
    monkeypatch.setattr(prepare, "prepare_images", preparing)
    made = supply("docker", WANTED, SITE, jobs=1, say=said.append)
    assert made["two"] == image("two")
    assert isinstance(made["one"], BuildFailure)
    assert made["one"].reason == "build: broken (tried twice)"
    assert len(preparing.asked) == 2


@pytest.mark.parametrize("cause", [Cause.LOCK_STALE, Cause.OUT_OF_DISK, Cause.MISSING_PACKAGE])
def test_what_a_second_try_cannot_help_is_not_tried_again(
    cause: Cause, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    preparing = Preparing(broken(cause), image)
    monkeypatch.setattr(prepare, "prepare_images", preparing)
    assert supply("docker", WANTED, SITE, jobs=1, say=said.append)["one"] == failure("one", cause)
    assert len(preparing.asked) == 1


def test_a_recipe_that_is_refused_is_not_tried_again(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    preparing = Preparing(
        lambda name: BuildFailure(id=name, stage=Stage.RECIPE, reason="recipe: no", log_tail="", cause=Cause.BUILD),
        image,
    )
    monkeypatch.setattr(prepare, "prepare_images", preparing)
    supply("docker", WANTED, SITE, jobs=1, say=said.append)
    assert len(preparing.asked) == 1
    assert said == []
