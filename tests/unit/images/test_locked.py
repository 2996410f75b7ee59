"""What is locked is what is built: never something else that the index has by now."""

import pytest
from msgspec.structs import replace

from orchestrator.axes import image_id
from orchestrator.errors import InputError
from orchestrator.images.bases import find_base
from orchestrator.images.failure import StageFailed
from orchestrator.images.lock import lock
from orchestrator.images.locked import base_of, identified, lock_of, other_base, other_image, wheels_of
from orchestrator.images.locks import LockedBase, lock_file, place_of_lock, write_lock
from orchestrator.images.prepare import make_recipe
from orchestrator.images.recipe import checked
from orchestrator.images.wheelhouse import place_of
from orchestrator.vocabulary import Cause

PACKAGES = ("adduser=3.134", "ca-certificates=1", "g++=1", "libpython3-dev=1", "python3=3.11.2-1+b1")


@pytest.fixture
def locked(site, tmp_path):
    """The site with a folder for locks beside its matrix."""
    return replace(site, locks=tmp_path / "locks")


@pytest.fixture
def write(locked, commands):
    """Locks an image as the index is now."""

    def write(axes, **base):
        full = checked(axes)
        known = replace(identified(find_base(full, locked.bases)), **base)
        made = lock_file(image_id(full), full, known, lock(full, locked, commands))
        write_lock(locked.locks, made)
        return made

    return write


def held_by(recipe):
    return {wheel.name: wheel.version for wheel in recipe.wheels}


def test_a_locked_image_is_not_resolved_again(cpu, locked, write, wheels, wheel_maker, commands):
    write(cpu)
    wheel_maker(wheels, "numpy", "2.5.0")
    for kept in (locked.cache / "locks").iterdir():
        kept.unlink()
    said: list[str] = []
    recipe = make_recipe(cpu, locked, commands, said.append)

    assert held_by(recipe)["numpy"] == "2.4.6"
    assert all(place_of(wheel, locked).is_file() for wheel in recipe.wheels)
    assert not any("no lock" in line for line in said)
    assert list((locked.cache / "locks").iterdir()) == []  # the resolver was not asked


def test_an_image_without_a_lock_is_resolved_and_that_is_said(cpu, locked, commands):
    said: list[str] = []
    recipe = make_recipe(cpu, locked, commands, said.append)

    assert held_by(recipe)["numpy"] == "2.4.6"
    assert said[0] == f"image {image_id(cpu)}: no lock, so its wheels are resolved anew: `torchmatrix lock` makes one"


def test_where_no_matrix_is_at_hand_nothing_is_said_of_locks(cpu, site):
    said: list[str] = []

    assert lock_of(checked(cpu), site, said.append) is None
    assert said == []


def test_a_wheel_that_is_gone_is_a_stale_lock_though_another_version_would_do(cpu, locked, write, wheels, commands):
    write(cpu)
    (wheels / "numpy-2.4.6-py3-none-any.whl").unlink()
    with pytest.raises(StageFailed) as caught:
        make_recipe(cpu, locked, commands, print)

    failure = caught.value.of("x")
    assert failure.cause is Cause.LOCK_STALE
    assert "numpy 2.4.6 is locked, and this site has no numpy-2.4.6-py3-none-any.whl any more" in failure.reason
    assert "`torchmatrix lock --upgrade`" in failure.reason


def test_a_wheel_that_was_replaced_is_a_stale_lock(cpu, locked, write, wheels, wheel_maker, commands):
    write(cpu)
    wheel_maker(wheels, "numpy", "2.4.6", files={"numpy.py": "another"})
    with pytest.raises(StageFailed, match=r"numpy-2\.4\.6-py3-none-any\.whl is not the file that was locked") as caught:
        make_recipe(cpu, locked, commands, print)

    assert caught.value.why is Cause.LOCK_STALE


def test_what_is_here_already_needs_no_index(cpu, locked, write, wheels, commands):
    write(cpu)
    make_recipe(cpu, locked, commands, print)
    for wheel in wheels.iterdir():
        wheel.unlink()

    assert held_by(make_recipe(cpu, locked, commands, print))["numpy"] == "2.4.6"


def test_a_lock_that_is_no_lock_is_an_error_with_its_place(cpu, locked):
    path = place_of_lock(locked.locks, image_id(cpu))
    path.parent.mkdir()
    path.write_text("<<<<<<< HEAD")

    with pytest.raises(InputError, match="is no lock") as caught:
        lock_of(checked(cpu), locked, print)
    assert str(path) in str(caught.value)


def test_a_lock_of_another_image_is_not_built(cpu, locked, write):
    made = write(cpu)
    place = place_of_lock(locked.locks, image_id(cpu))
    place.write_text(place.read_text().replace('python = "3.11"', 'python = "3.12"'))

    with pytest.raises(StageFailed, match=r"does not fit the matrix: python is 3\.12, not 3\.11") as caught:
        lock_of(checked(cpu), locked, print)
    assert caught.value.why is Cause.LOCK_STALE
    assert place.name in caught.value.fact
    assert other_image(made, "another", made.axes) == f"it is of {made.image}"


def test_a_gutted_lock_is_not_built(cpu, locked, write, commands):
    made = write(cpu)
    write_lock(locked.locks, replace(made, wheels=replace(made.wheels, torch=(), companions=(), tools=())))
    with pytest.raises(StageFailed, match=r"it has no wheel of torch, and torch==2\.13\.0 is asked for") as caught:
        make_recipe(cpu, locked, commands, print)

    assert caught.value.why is Cause.LOCK_STALE
    assert caught.value.hint.startswith("`torchmatrix lock` writes it anew")


def test_the_versions_of_distribution_packages_are_part_of_the_image(cpu, locked, write, commands):
    digests = set()
    for packages in ((), PACKAGES, (*PACKAGES, "zlib1g=1.2")):
        write(cpu, packages=packages)
        digests.add(make_recipe(cpu, locked, commands, print).digest)

    assert len(digests) == 3


def test_a_base_is_held_to_its_packages_under_a_name_of_its_own(cpu, write):
    base = find_base(checked(cpu), {})
    held = base_of(write(cpu, packages=PACKAGES), base)

    assert held.locked == PACKAGES
    assert held.ref != base.ref
    assert held.ref == f"torchmatrix/base-debian12:{held.key[:12]}"
    assert base_of(None, base) == base
    assert base_of(write(cpu), base) == base


IMAGE = f"registry.example/debian@sha256:{'a' * 64}"


@pytest.mark.parametrize(
    ("changes", "named", "why"),
    [
        (
            {"packages": PACKAGES},
            {"debian12": IMAGE},
            f"locked as bootstrapped from bookworm, and this site has {IMAGE}",
        ),
        ({"digest": f"sha256:{'b' * 64}", "packages": ()}, {"debian12": IMAGE}, f"locked as sha256:{'b' * 64}"),
        ({"digest": f"sha256:{'b' * 64}"}, {}, "and this site has one of its own making"),
        ({"packages": PACKAGES, "include": ("python3",)}, {}, "is locked with python3, and is made with python3, ca-"),
        ({"digest": f"sha256:{'a' * 64}"}, {"debian12": IMAGE}, ""),
        ({"packages": PACKAGES}, {}, ""),
        ({"include": ("python3",)}, {}, ""),
    ],
)
def test_another_base_than_the_locked_one_is_a_stale_lock(cpu, changes, named, why):
    full = checked(cpu)
    known = replace(identified(find_base(full, {})), **changes)
    base = find_base(full, named)

    assert why in other_base(known, base)
    assert bool(why) is bool(other_base(known, base))


def test_an_images_digest_is_all_that_is_known_of_a_base_by_digest(cpu):
    assert identified(find_base(checked(cpu), {"debian12": IMAGE})) == LockedBase(
        name="debian12", digest=f"sha256:{'a' * 64}"
    )


def test_the_process_engine_takes_the_same_wheels(cpu, locked, write, wheels, wheel_maker, commands):
    held = write(cpu)
    wheel_maker(wheels, "numpy", "2.5.0")

    assert {
        wheel.name: wheel.version for wheel in wheels_of(held, checked(cpu), locked, commands).wheels
    } == held.versions
