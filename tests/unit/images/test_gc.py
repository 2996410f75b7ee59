from typing import Any

import pytest
from docker.errors import APIError, ImageNotFound
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.images import gc
from orchestrator.images.gc import choose, clear
from orchestrator.images.listing import ListedImage, disk_use


def image(name: str, *layers: tuple[str, int], base: bool = False, **more: Any) -> ListedImage:
    given: dict[str, Any] = {
        "id": f"sha256:{name}",
        "names": (f"torchmatrix/{name}:1",),
        "image_id": "" if base else name,
        "recipe": "" if base else name,
        "base": "debian12",
        "size": sum(size for _, size in layers),
        "used": "",
        "containers": (),
        "layers": layers,
    }
    return ListedImage(**{**given, **more})


BASE = image("base", ("b", 100), base=True)
OLD = image("old", ("b", 100), ("b/o", 10))
MIDDLE = image("middle", ("b", 100), ("b/m", 20))
NEW = image("new", ("b", 100), ("b/n", 30))
ALL = (BASE, OLD, MIDDLE, NEW)


def names(images: Any) -> list[str]:
    return [each.id.removeprefix("sha256:") for each in images]


@pytest.mark.parametrize(
    ("most", "gone", "after"),
    [
        (160, [], 160),
        (159, ["old"], 150),
        (150, ["old"], 150),
        (149, ["old", "middle"], 130),
        (129, ["old", "middle", "new"], 100),
        (0, ["old", "middle", "new", "base"], 0),
    ],
)
def test_the_least_recently_used_go_until_the_rest_fits(most: int, gone: list[str], after: int) -> None:
    chosen = choose(ALL, most, {})
    assert (names(chosen.removed), chosen.before, chosen.after, chosen.kept) == (gone, 160, after, ())


def test_what_is_needed_stays_and_the_next_goes() -> None:
    images = (
        image("running", ("b", 100), ("b/r", 1), containers=("cell-1",)),
        image("resumable", ("b", 100), ("b/s", 2)),
        image("named", ("b", 100), ("b/t", 3), names=("torchmatrix/named:1", "mine:1")),
        *ALL,
    )
    chosen = choose(images, 0, {"resumable": "run X needs it to be finished"})
    assert names(chosen.removed) == ["old", "middle", "new"]
    assert [(each.image.id, each.why) for each in chosen.kept] == [
        ("sha256:running", "container cell-1 is made of it"),
        ("sha256:resumable", "run X needs it to be finished"),
        ("sha256:named", "somebody named it mine:1"),
        ("sha256:base", "images stand on it"),
    ]


class Engine:
    """An engine with these images; a name in `failing` is not removed. `meanwhile` is what somebody else does."""

    def __init__(self, images: Any, **failing: Exception) -> None:
        self.named = {name: each.id for each in images for name in each.names}
        self.failing, self.asked = failing, []
        self.meanwhile: Any = lambda name: None

    def inspect_image(self, name: str) -> dict[str, Any]:
        if name not in self.named and name not in self.named.values():
            raise error(404)
        image = self.named.get(name, name)
        return {"Id": image, "RepoTags": [each for each, meant in self.named.items() if meant == image]}

    def remove_image(self, name: str) -> None:
        self.asked.append(name)
        self.meanwhile(name)
        if problem := self.failing.get(name.removeprefix("torchmatrix/").removesuffix(":1")):
            raise problem
        del self.named[name]

    def tag(self, image: str, repository: str, tag: str) -> None:
        self.named[f"{repository}:{tag}"] = image


def error(status: int) -> APIError:
    class Answer:
        status_code = status
        reason = "in use"
        url = ""

    return (ImageNotFound if status == 404 else APIError)("conflict", Answer(), "container 1 is using it")  # type: ignore[arg-type]


def cleared(engine: Engine, images: Any, most: int = 0) -> Any:
    return clear(engine, images, choose(images, most, {}))  # type: ignore[arg-type]


def told(kept: Any) -> list[tuple[str, str, bool]]:
    return [(each.image.id.removeprefix("sha256:"), each.why, each.failed) for each in kept]


def test_what_somebody_began_to_use_meanwhile_stays() -> None:
    engine = Engine(ALL, old=error(409), middle=error(404))
    engine.meanwhile = lambda name: engine.named.pop(name) if "middle" in name else None
    done = cleared(engine, ALL, 149)
    assert sorted(engine.named) == ["torchmatrix/base:1", "torchmatrix/new:1", "torchmatrix/old:1"]
    assert names(done.removed) == ["middle"]  # somebody else removed it
    assert told(done.kept) == [("old", "it is in use now: container 1 is using it", False)]
    assert (done.before, done.after) == (160, 140)


def test_what_stays_keeps_all_its_names() -> None:
    several = image("old", ("b", 10), names=("torchmatrix/a:1", "torchmatrix/b:2", "torchmatrix/c:1"))
    engine = Engine((several,), c=error(409))
    done = cleared(engine, (several,))
    assert engine.asked == list(several.names)  # one at a time
    assert sorted(engine.named) == sorted(several.names)
    assert told(done.kept) == [("old", "it is in use now: container 1 is using it", False)]


def test_a_name_that_another_image_has_now_is_not_taken() -> None:
    engine = Engine((OLD,))
    engine.named = {"torchmatrix/old:1": "sha256:newer"}
    assert names(cleared(engine, (OLD,)).removed) == ["old"]
    assert engine.named == {"torchmatrix/old:1": "sha256:newer"}


def test_what_somebody_named_meanwhile_is_not_told_to_be_gone() -> None:
    engine = Engine((OLD,))
    engine.named["mine:1"] = OLD.id
    done = cleared(engine, (OLD,))
    assert (done.removed, told(done.kept)) == ((), [("old", "it has another name now", False)])


class Stood(Engine):
    """An engine in which an image stands on each: taking the last name removes nothing; some names cannot be given."""

    def __init__(self, images: Any, *refused: str) -> None:
        super().__init__(images)
        self.there, self.refused = {each.id for each in images}, refused

    def inspect_image(self, name: str) -> dict[str, Any]:
        if name in self.there:
            return {"Id": name, "RepoTags": [each for each, meant in self.named.items() if meant == name]}
        return super().inspect_image(name)

    def remove_image(self, name: str) -> None:
        if name in self.there:
            raise error(409)
        super().remove_image(name)

    def tag(self, image: str, repository: str, tag: str) -> None:
        if f"{repository}:{tag}" in self.refused:
            raise error(500)
        super().tag(image, repository, tag)


@pytest.fixture
def _no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "_BETWEEN_S", 0.0)


@pytest.mark.usefixtures("_no_wait")
def test_an_image_on_which_another_stands_gets_its_names_back() -> None:
    several = image("old", ("b", 10), names=("torchmatrix/a:1", "torchmatrix/b:2"))
    engine = Stood((several,))
    done = cleared(engine, (several,))
    assert sorted(engine.named) == sorted(several.names)
    assert told(done.kept) == [("old", "an image that somebody made stands on it", False)]


@pytest.mark.usefixtures("_no_wait")
def test_a_name_that_cannot_be_given_back_costs_no_other_and_is_told() -> None:
    several = image("old", ("b", 10), names=("torchmatrix/a:1", "torchmatrix/b:2", "torchmatrix/c:3"))
    engine = Stood((several,), "torchmatrix/a:1")
    done = cleared(engine, (several,))
    assert sorted(engine.named) == ["torchmatrix/b:2", "torchmatrix/c:3"]
    assert told(done.kept) == [("old", "the engine failed while naming an image (container 1 is using it)", True)]


def test_one_without_a_name_is_removed_by_its_id() -> None:
    nameless = image("old", ("b", 10), names=())
    engine = Stood((nameless,))
    assert told(cleared(engine, (nameless,)).kept) == [("old", "it is in use now: container 1 is using it", False)]
    gone = Engine((nameless,))
    gone.named["sha256:old"] = "sha256:old"  # as little of an engine as knows an image by its id
    assert names(cleared(gone, (nameless,)).removed) == ["old"]


@pytest.mark.parametrize("status", [404, 409, 500])
def test_what_another_gc_removes_at_the_same_time_is_gone_whatever_the_engine_answers(status: int) -> None:
    engine = Engine(ALL, old=error(status))
    engine.meanwhile = lambda name: engine.named.pop(name) if "old" in name else None
    done = cleared(engine, ALL, 159)
    assert (names(done.removed), done.kept, done.after) == (["old"], (), 150)


def test_an_engine_that_fails_is_not_asked_for_the_rest() -> None:
    engine = Engine(ALL, old=error(500))
    done = cleared(engine, ALL, 149)
    assert engine.asked == ["torchmatrix/old:1"]
    said = "the engine failed while removing an image (container 1 is using it)"
    assert told(done.kept) == [("old", said, True), ("middle", said, True)]
    assert (done.removed, done.after) == ((), 160)


SIZES = st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 50)), min_size=1, max_size=6)


@given(SIZES, st.integers(0, 250), st.sets(st.integers(0, 5)))
def test_what_goes_is_never_needed_and_no_more_than_has_to(
    sizes: list[tuple[str, int]], most: int, busy: set[int]
) -> None:
    images = [
        image(f"i{n}", (shared, 10), (f"{shared}/{n}", size), containers=("c",) if n in busy else ())
        for n, (shared, size) in enumerate(sizes)
    ]
    chosen = choose(images, most, {})
    left = [each for each in images if each not in chosen.removed]
    assert not any(each.containers for each in chosen.removed)
    assert chosen.after == disk_use(left)
    assert chosen.after <= most or all(each.containers for each in left)
    if chosen.removed:  # without the last of them it would not have fitted
        assert disk_use([*left, chosen.removed[-1]]) > most
