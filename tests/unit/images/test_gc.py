from typing import Any

import pytest
from docker.errors import APIError, ImageNotFound
from hypothesis import given
from hypothesis import strategies as st

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
    def __init__(self, **failing: Exception) -> None:
        self.failing, self.removed = failing, []

    def remove_image(self, name: str) -> None:
        if error := self.failing.get(name.removeprefix("torchmatrix/").removesuffix(":1")):
            raise error
        self.removed.append(name)


def error(status: int) -> APIError:
    class Answer:
        status_code = status
        reason = "in use"
        url = ""

    return (ImageNotFound if status == 404 else APIError)("conflict", Answer())  # type: ignore[arg-type]


def test_what_somebody_began_to_use_meanwhile_stays() -> None:
    engine = Engine(old=error(409), middle=error(404))
    done = clear(engine, ALL, choose(ALL, 149, {}))  # type: ignore[arg-type]
    assert engine.removed == []
    assert names(done.removed) == ["middle"]  # somebody else removed it
    assert [(each.image.id, each.why) for each in done.kept] == [("sha256:old", "it is in use now")]
    assert (done.before, done.after) == (160, 140)


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
