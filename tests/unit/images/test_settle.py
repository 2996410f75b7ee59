"""Images locked together: two differ only in what a rule forces. The real resolver, an index of tiny wheels."""

import pytest

from orchestrator.axes import image_axes, image_id
from orchestrator.images.failure import StageFailed
from orchestrator.images.lock import lock, lock_with
from orchestrator.images.resolve import asked_anew
from orchestrator.images.settle import reason, settle
from orchestrator.vocabulary import Cause


@pytest.fixture
def ask(site, commands):
    return asked_anew(site, commands)


def settled(ask, *each, neighbours=None):
    wanted = {image_id(axes): image_axes(axes) for axes in each}
    said: list[str] = []
    done = settle(wanted, neighbours or {}, ask, said.append)
    assert len(said) == len(wanted)
    assert list(done.made) == list(wanted)
    return list(done.made.values()), list(done.apart.values())


def versions(lock, *names):
    held = {wheel.name: wheel.version for wheel in lock.wheels}
    return tuple(held[name] for name in names)


def test_two_openvino_images_have_the_same_numpy_though_one_could_have_a_newer(cpu, ask, site, commands):
    """The wanted axis moves, and nothing else: alone, each would have the newest numpy that it can have."""
    older, newer = ({**cpu, "openvino": version} for version in ("2025.4.1", "2026.0.0"))
    alone = [versions(lock(image_axes(axes), site, commands), "numpy") for axes in (older, newer)]
    assert alone == [("2.2.4",), ("2.4.6",)]

    made, apart = settled(ask, cpu, older, newer)

    assert [versions(one, "numpy") for one in made] == [("2.2.4",)] * 3
    one, other = ({wheel.name: wheel for wheel in lock.wheels} for lock in made[1:])
    assert {name for name in one | other if one.get(name) != other.get(name)} == {"openvino"}
    assert apart == [(), (), ()]


def test_where_a_rule_demands_it_an_image_is_apart_and_the_rule_is_told(cpu, ask, wheels, wheel_maker):
    wheel_maker(wheels, "openvino", "2026.4.1", ("numpy>=2.3", "packaging"))
    made, apart = settled(ask, *({**cpu, "openvino": version} for version in ("2025.4.1", "2026.0.0", "2026.4.1")))

    assert [versions(one, "numpy") for one in made] == [("2.2.4",), ("2.4.6",), ("2.4.6",)]
    assert [[one.package for one in each] for each in apart] == [["numpy"], [], []]
    assert (apart[0][0].version, apart[0][0].others) == ("2.2.4", "2.4.6")
    assert "openvino<=2025.4.1 depends on numpy<2.4" in apart[0][0].why


def test_what_is_locked_already_stays_and_is_preferred(cpu, ask):
    plain = image_axes(cpu)
    neighbours = {"locked": (plain, {"numpy": "2.2.4", "torch": "2.13.0+cpu", "sympy": "1.13.0"})}
    (made,), (apart,) = settled(ask, {**cpu, "openvino": "2026.0.0"}, neighbours=neighbours)

    assert versions(made, "numpy", "sympy") == ("2.2.4", "1.13.0")
    assert apart == ()


def test_a_preference_that_cannot_be_is_given_up(cpu, ask):
    prefer = {"numpy": "2.4.6", "sympy": "1.13.0", "unknown": "1.0"}

    assert versions(lock_with(ask, image_axes({**cpu, "openvino": "2025.4.1"}), prefer), "numpy", "sympy") == (
        "2.2.4",
        "1.13.0",
    )


def test_an_axis_that_asks_for_a_version_sets_no_example(cpu, ask):
    made, apart = settled(ask, cpu, {**cpu, "numpy": "1.26.4"}, {**cpu, "numpy": "2.2.4", "openvino": "2025.4.1"})

    assert versions(made[1], "numpy") == ("1.26.4",)
    assert apart[1:] == [(), ()]


def test_a_companion_that_wants_another_torch_is_refused_and_the_others_are_locked(cpu, ask):
    made, _ = settled(ask, {**cpu, "torchvision": "0.29.1"}, cpu)

    assert isinstance(made[0], StageFailed)
    assert made[0].why is Cause.VERSION_MISMATCH
    assert str(made[0]) == "torchvision==0.29.1 wants torch 2.14.1+cpu, but torch 2.13.0 was asked for"
    assert versions(made[1], "torch") == ("2.13.0+cpu",)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("", ""),
        (
            "  \u2717 None:\n  ╰─▶ Because a==1 depends on\n      b<2 and you require a==1, we can conclude that",
            "a==1 depends on b<2",
        ),
        ("error\n  cause: Because there is no version of b==9, we can conclude", "there is no version of b==9"),
        ("something else", "something else"),
    ],
)
def test_the_resolvers_words_are_cut_to_the_rule(log, said):
    assert reason(log) == said
