"""Locks against the matrix, and against what the site still has."""

import hashlib
import lzma

import pytest
from msgspec.structs import replace

from orchestrator.axes import image_id
from orchestrator.images.lock import Lock
from orchestrator.images.lock_check import check_locks
from orchestrator.images.locks import LockedBase, lock_file, place_of_lock, write_lock
from orchestrator.images.recipe import checked
from orchestrator.images.resolve import Wheel
from orchestrator.vocabulary import LockState

INCLUDE = ("python3", "ca-certificates", "g++", "libpython3-dev")
PACKAGES = ("adduser=3.134", "ca-certificates=1", "g++=1", "libpython3-dev=1", "python3=3.11.2-1")
BASE = LockedBase(
    name="debian12",
    suite="bookworm",
    architecture="amd64",
    release="12.15",
    date="2026-07-11",
    include=INCLUDE,
    packages=PACKAGES,
)


def wheel_of(path):
    name, version = path.name.split("-")[:2]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Wheel(name=name, version=version, file=path.name, sha256=digest, url="")


LISTED = "".join("Package: {}\nVersion: {}\n\n".format(*entry.split("=")) for entry in PACKAGES)


@pytest.fixture
def mirrored(with_site, tmp_path):
    """The site with a mirror of its own, which has adduser 3.134."""
    folder = tmp_path / "mirror/dists/bookworm/main/binary-amd64"
    folder.mkdir(parents=True)
    (folder / "Packages.xz").write_bytes(lzma.compress(LISTED.encode()))
    return with_site(apt_mirror=(tmp_path / "mirror").as_uri())


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "locks"


@pytest.fixture
def write(folder, wheels):
    def write(axes, base=BASE, numpy="2.4.6"):
        full = checked(axes)

        def held(*names):
            return tuple(wheel_of(wheels / f"{name}-py3-none-any.whl") for name in names)

        beside = [f"openvino-{axes['openvino']}"] if "openvino" in axes else []
        lock = Lock(
            torch=held("torch-2.13.0+cpu"),
            companions=held(f"numpy-{numpy}", *beside),
            tools=held("packaging-26.0", "pytest-9.1.0"),
        )
        write_lock(folder, lock_file(image_id(full), full, base, lock))

    return write


@pytest.fixture
def check(folder, mirrored):
    def check(*each, ask=False, needed=(), strangers=(), site=mirrored):
        wanted = {image_id(axes): axes for axes in each}
        return check_locks(wanted, frozenset(needed), strangers, folder, site, ask=ask)

    return check


def states(found):
    return [one.state for one in found.locks]


def test_a_lock_that_fits_is_good_and_asks_nothing_of_anybody(cpu, check, write, with_site):
    write(cpu)
    found = check(cpu, site=with_site(find_links=(), apt_mirror="http://mirror.example"))

    assert found.good
    assert not found.asked
    assert states(found) == [LockState.GOOD]


def test_no_lock_at_all_is_a_failure(cpu, check):
    found = check(cpu)

    assert not found.good
    assert states(found) == [LockState.MISSING]


def test_a_missing_lock_counts_where_its_build_is_locked_or_it_runs_here(cpu, check, write):
    write(cpu)
    cuda = {**cpu, "torch_build": "cu126"}
    beside = {**cpu, "openvino": "2025.4.1"}

    assert states(check(cpu, beside)) == [LockState.GOOD, LockState.MISSING]
    found = check(cpu, cuda)
    assert (found.good, states(found)) == (True, [LockState.GOOD, LockState.NONE])
    assert "cu126" in found.locks[1].because[0]
    assert states(check(cpu, cuda, needed=[image_id(cuda)])) == [LockState.GOOD, LockState.MISSING]


@pytest.mark.parametrize(
    ("old", "new", "state", "why"),
    [
        ('python = "3.11"', 'python = "3.12"', LockState.OTHER, "python is 3.12, not 3.11"),
        ('    "g++",\n', "", LockState.OTHER, "is made with python3, ca-certificates, g++"),
        ("schema = 1", "schema = 9", LockState.UNREADABLE, "its schema is 9"),
        ("[axes]", "=======", LockState.UNREADABLE, "is no lock"),
    ],
)
def test_a_lock_that_does_not_fit_fails_with_its_reason(cpu, check, write, folder, old, new, state, why):
    write(cpu)
    place = place_of_lock(folder, image_id(cpu))
    assert old in place.read_text()
    place.write_text(place.read_text().replace(old, new))
    found = check(cpu, ask=True)

    assert (found.good, states(found)) == (False, [state])
    assert why in found.locks[0].because[0]


def test_a_lock_that_no_image_has_any_more_fails(cpu, check, write):
    write(cpu)
    found = check(cpu, strangers=("torch1.0",))

    assert (found.good, states(found)) == (False, [LockState.GOOD, LockState.LEFT_OVER])


def test_what_the_site_still_has_is_good(cpu, check, write):
    write(cpu)
    found = check(cpu, ask=True)

    assert (found.good, found.asked, found.notes) == (True, True, ())


def test_a_wheel_and_a_package_that_are_gone_are_named(cpu, check, write, wheels):
    write(cpu, replace(BASE, packages=("adduser=3.135", "bash=5", *PACKAGES[1:-1], "python3=3.11.3")))
    (wheels / "numpy-2.4.6-py3-none-any.whl").unlink()
    found = check(cpu, ask=True)

    assert (found.good, states(found)) == (False, [LockState.STALE])
    assert found.locks[0].because == (
        "numpy 2.4.6 is locked, and this site has no numpy-2.4.6-py3-none-any.whl any more",
        "the mirror of bookworm has no adduser 3.135, bash 5, python3 3.11.3 any more",
    )


def test_only_the_locks_that_name_it_are_stale(cpu, check, write, wheels, folder):
    other = {**cpu, "openvino": "2025.4.1"}
    write(cpu)
    write(other, numpy="2.2.4")
    (wheels / "numpy-2.4.6-py3-none-any.whl").unlink()

    assert states(check(cpu, other, ask=True)) == [LockState.STALE, LockState.GOOD]


def test_a_source_that_does_not_answer_leaves_it_open_and_is_told_without_its_login(cpu, check, write, with_site):
    write(cpu)
    silent = "http://me:secret@127.0.0.1:9"
    found = check(cpu, ask=True, site=with_site(find_links=(), indexes={"": f"{silent}/simple"}, apt_mirror=silent))

    assert (found.good, found.answered, states(found)) == (False, False, [LockState.UNANSWERED])
    wheels, packages = found.locks[0].because
    assert wheels.startswith("http://127.0.0.1:9/simple/ did not answer: ")
    assert wheels.endswith(": asked for torch 2.13.0+cpu, numpy 2.4.6, packaging 26.0, pytest 9.1.0")
    assert packages.startswith("http://127.0.0.1:9 did not answer for bookworm: ")
    assert "secret" not in str(found)


def test_what_is_gone_is_stale_whatever_else_did_not_answer(cpu, check, write, wheels, with_site, mirrored):
    write(cpu)
    (wheels / "numpy-2.4.6-py3-none-any.whl").unlink()
    found = check(cpu, ask=True, site=replace(mirrored, apt_mirror="http://127.0.0.1:9"))

    assert (found.good, found.answered, states(found)) == (False, False, [LockState.STALE])
    assert len(found.locks[0].because) == 2


def test_a_mirror_without_the_suite_has_answered_and_one_that_is_not_mounted_has_not(
    cpu, check, write, with_site, wheels
):
    write(cpu)
    (there := wheels.parent / "empty").mkdir()

    assert states(check(cpu, ask=True, site=with_site(apt_mirror=there.as_uri()))) == [LockState.STALE]
    nowhere = with_site(apt_mirror=(there / "nowhere").as_uri())
    assert states(check(cpu, ask=True, site=nowhere)) == [LockState.UNANSWERED]


def test_a_site_that_names_no_mirror_asks_none_and_says_so(cpu, check, write, with_site):
    write(cpu)
    found = check(cpu, ask=True, site=with_site(apt_mirror=""))

    assert (found.good, found.answered) == (True, True)
    assert "names no mirror of Debian" in found.notes[0]


def test_each_bad_lock_is_told_and_hides_no_other(cpu, check, write, folder):
    every = [cpu, *({**cpu, "openvino": version} for version in ("2025.4.1", "2026.0.0"))]
    for axes in every:
        write(axes)
    first, second, _ = (place_of_lock(folder, image_id(axes)) for axes in every)
    first.write_bytes(b"\xff")
    second.write_text(second.read_text().replace("openvino", "openvine"))
    place_of_lock(folder, "stranger").write_text("x")
    found = check(*every, ask=True, strangers=("stranger",))

    assert states(found) == [LockState.UNREADABLE, LockState.UNREADABLE, LockState.GOOD, LockState.UNREADABLE]
    assert found.locks[0].because[0].startswith(f"{first.name}: is no lock: ")
    assert found.locks[0].because[0].endswith("(edited by hand, or merged by git, perhaps)")
    assert "no axis is named `openvine`" in found.locks[1].because[0]
    assert found.locks[3].because[1] == "no image of the matrix has this name: remove the file"


def test_a_lock_under_the_name_of_another_image_does_not_fit(cpu, check, write, folder):
    other = {**cpu, "openvino": "2026.0.0"}
    write(cpu)
    write(other)
    place_of_lock(folder, image_id(other)).replace(place_of_lock(folder, image_id(cpu)))
    found = check(cpu)

    assert states(found) == [LockState.OTHER]
    assert found.locks[0].because == (f"{image_id(cpu)}.lock.toml: it is of {image_id(other)}",)


def test_a_base_that_nobody_could_lock_is_good_and_told(cpu, check, write):
    write(cpu, replace(BASE, release="", date="", packages=()))
    found = check(cpu)

    assert states(found) == [LockState.GOOD]
    assert found.locks[0].because[0].startswith("no distribution package of bookworm is locked: ")


def test_a_site_that_cannot_make_the_base_has_no_quarrel_with_the_lock(cpu, check, write):
    axes = {**cpu, "base": "ubuntu24.04"}
    write(axes, LockedBase(name="ubuntu24.04"))

    assert check(axes).good
