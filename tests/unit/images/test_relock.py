"""Locks made, kept and renewed: the real resolver, an index of tiny wheels, a mmdebstrap that is a script."""

import pytest
from msgspec.structs import replace

from orchestrator.axes import image_axes, image_id
from orchestrator.images.locks import place_of_lock, read_lock, write_lock
from orchestrator.images.relock import relock
from orchestrator.vocabulary import Cause, LockState

MMDEBSTRAP = r"""
import io, os, sys, tarfile
from pathlib import Path
state = Path(os.environ["FAKE_ENGINE"])
with (state / "bootstraps").open("a") as log:
    log.write(" ".join(sys.argv[1:]) + "\n")
if (state / "fail-bootstrap").exists():
    sys.exit(25)
version = (state / "version").read_text() if (state / "version").exists() else "3.11.2-1"
held = {"python3": version, "ca-certificates": "1", "g++": "1", "libpython3-dev": "1"}
if (state / "without").exists():
    del held[(state / "without").read_text()]
status = "".join(f"Package: {name}\nStatus: install ok installed\nVersion: {held[name]}\n\n" for name in held)
with tarfile.open(next(word for word in sys.argv if word.endswith(".tar")), "w") as tar:
    for name, text in (("./var/lib/dpkg/status", status), ("./etc/debian_version", "12.15\n")):
        member = tarfile.TarInfo(name)
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text.encode()))
"""

PACKAGES = ("ca-certificates=1", "g++=1", "libpython3-dev=1", "python3=3.11.2-1")


@pytest.fixture
def engine(engine):
    engine.client("mmdebstrap", MMDEBSTRAP)
    return engine


@pytest.fixture
def locking(engine, with_site, tmp_path):
    """Locks combinations into a folder; the lock files, and what was done."""
    site = with_site(apt_mirror=(tmp_path / "mirror").as_uri())
    folder = tmp_path / "locks"

    def lock(*each, upgrade=False, **changes):
        wanted = {image_id(axes): image_axes(axes) for axes in each}
        done = relock(wanted, folder, with_site(apt_mirror=site.apt_mirror, **changes), upgrade=upgrade, say=print)
        assert [one.image for one in done] == list(wanted)
        return [read_lock(folder, image) for image in wanted], list(done)

    lock.folder = folder
    return lock


def states(done):
    return [one.state for one in done]


def test_a_lock_names_the_wheels_the_base_and_its_packages_and_a_second_call_changes_nothing(cpu, locking, engine):
    beside = {**cpu, "openvino": "2025.4.1"}
    (plain, other), done = locking(cpu, beside)

    assert states(done) == [LockState.WRITTEN] * 2
    assert plain.versions == {
        "torch": "2.13.0+cpu", "sympy": "1.14.0", "numpy": "2.2.4", "packaging": "26.0", "pytest": "9.1.0",
    }  # fmt: skip
    assert plain.base.packages == PACKAGES
    assert (plain.base.suite, plain.base.release) == ("bookworm", "12.15")
    assert plain.base == other.base
    assert len(engine.bootstraps) == 1
    assert (done[0].wheels, done[0].packages) == (5, 4)
    assert len(engine.calls("import")) == 1  # what was made is kept for the builds to come

    assert states(locking(cpu, beside)[1]) == [LockState.UNCHANGED] * 2
    assert len(engine.bootstraps) == 1


def test_a_new_image_takes_what_its_neighbours_have_and_leaves_them_as_they_are(
    cpu, locking, engine, wheels, wheel_maker
):
    (before,), _ = locking(cpu)
    wheel_maker(wheels, "sympy", "1.15.0")
    (new,), done = locking({**cpu, "openvino": "2026.0.0"})

    assert new.versions["sympy"] == before.versions["sympy"] == "1.14.0"
    assert new.versions["numpy"] == before.versions["numpy"] == "2.4.6"
    assert new.base == before.base
    assert len(engine.bootstraps) == 1
    assert done[0].apart == ()


def test_a_neighbour_that_stays_and_could_not_follow_is_told_with_the_rule(cpu, locking, engine):
    locking(cpu)
    (new,), (done,) = locking({**cpu, "openvino": "2025.4.1"})

    assert new.versions["numpy"] == "2.2.4"
    assert len(done.apart) == 1
    assert done.apart[0].startswith("numpy 2.2.4, most have 2.4.6: openvino")
    assert "depends on numpy<2.4" in done.apart[0]


def test_an_upgrade_takes_the_newest_and_says_what_moved(cpu, locking, engine, wheels, wheel_maker):
    locking(cpu)
    wheel_maker(wheels, "sympy", "1.15.0")
    engine.set("version", "3.11.2-2")
    assert states(locking(cpu)[1]) == [LockState.UNCHANGED]
    (lock,), (done,) = locking(cpu, upgrade=True)

    assert done.state is LockState.WRITTEN
    assert done.moved == ("sympy: 1.14.0 -> 1.15.0", "python3: 3.11.2-1 -> 3.11.2-2")
    assert lock.base.packages == (*PACKAGES[:-1], "python3=3.11.2-2")


def test_an_upgrade_of_one_package_or_base_leaves_the_rest(cpu, locking, engine, wheels, wheel_maker):
    locking(cpu)
    for name, version in (("sympy", "1.15.0"), ("pytest", "9.2.0")):
        wheel_maker(wheels, name, version)
    engine.set("version", "3.11.2-2")

    assert locking(cpu, upgrade=frozenset({"sympy"}))[1][0].moved == ("sympy: 1.14.0 -> 1.15.0",)
    assert locking(cpu, upgrade=frozenset({"debian12"}))[1][0].moved == ("python3: 3.11.2-1 -> 3.11.2-2",)
    assert states(locking(cpu, upgrade=frozenset({"not-there"}))[1]) == [LockState.UNCHANGED]


def test_a_lock_that_is_made_anew_keeps_what_it_can(cpu, locking, engine, wheels, wheel_maker):
    locking(cpu)
    wheel_maker(wheels, "sympy", "1.15.0")
    place = place_of_lock(locking.folder, image_id(cpu))
    place.write_text(place.read_text().replace('"g++",', '"gcc",'))

    assert locking(cpu)[0][0].versions["sympy"] == "1.14.0"


def test_a_lock_that_does_not_fit_or_is_none_is_made_anew(cpu, locking, engine):
    locking(cpu)
    place = place_of_lock(locking.folder, image_id(cpu))
    for content in ("<<<<<<<", place.read_text().replace('python = "3.11"', 'python = "3.12"')):
        place.write_text(content)
        assert states(locking(cpu)[1]) == [LockState.WRITTEN]
        assert 'python = "3.11"' in place.read_text()


def test_one_that_cannot_be_locked_stops_no_other_and_keeps_what_it_had(cpu, locking, engine, wheels):
    locking(cpu)
    before = place_of_lock(locking.folder, image_id(cpu)).read_text()
    for wheel in wheels.glob("torch-2.13.0*"):
        wheel.unlink()
    other, swapped = {**cpu, "torch": "2.14.1"}, {**cpu, "torch": "2.14.1", "torchvision": "0.29.1", "openvino": "9.9"}
    locks, done = locking(cpu, other, swapped, upgrade=True)

    assert states(done) == [LockState.FAILED, LockState.WRITTEN, LockState.FAILED]
    assert [one.cause for one in done] == [Cause.MISSING_PACKAGE, Cause.NONE, Cause.MISSING_PACKAGE]
    assert done[0].reason.startswith("wheels: no wheels for torch==2.13.0")
    assert place_of_lock(locking.folder, image_id(cpu)).read_text() == before
    assert locks[2] is None


def test_a_companion_that_wants_another_torch_is_refused(cpu, locking, engine):
    (lock,), (done,) = locking({**cpu, "torchvision": "0.29.1"})

    assert lock is None
    assert done.cause is Cause.VERSION_MISMATCH
    assert "torchvision==0.29.1 wants torch 2.14.1+cpu, but torch 2.13.0 was asked for" in done.reason


def test_a_torch_of_another_build_is_refused(cpu, locking, engine, wheels, wheel_maker):
    wheel_maker(wheels, "torch", "2.12.0", files={"torch/version.py": "__version__ = '2.12.0+cu130'\n"})
    cuda = {"torch": "2.12.0", "python": "3.11"}
    (good, bad), done = locking({**cuda, "torch_build": "cu130"}, {**cuda, "torch_build": "cu126"})

    assert good.versions["torch"] == "2.12.0"
    assert bad is None
    assert "is built for cu130, but cu126 was asked for" in done[1].reason


def test_a_base_that_the_site_does_not_name_is_told_and_the_wheels_are_locked(cpu, locking, engine):
    (lock,), (done,) = locking({**cpu, "base": "ubuntu24.04"})

    assert (lock.base.name, lock.base.packages, lock.base.digest) == ("ubuntu24.04", (), "")
    assert done.notes == ("its base is any that a site names: base `ubuntu24.04` is not one that is bootstrapped here",)


def test_a_base_by_digest_is_locked_by_its_digest_and_without_its_registry(cpu, locking, engine):
    (lock,), (done,) = locking(cpu, bases={"debian12": f"registry.example/debian@sha256:{'a' * 64}"})

    assert lock.base.digest == f"sha256:{'a' * 64}"
    assert "registry.example" not in place_of_lock(locking.folder, lock.image).read_text()
    assert engine.bootstraps == []
    assert done.notes == ()


def test_a_base_that_cannot_be_made_keeps_the_packages_that_were_locked(cpu, locking, engine):
    engine.set("fail-bootstrap", "")
    (lock,), (done,) = locking(cpu)
    assert lock.base.packages == ()
    assert done.notes[0].startswith("no distribution package is locked: mmdebstrap ended with 25")

    place_of_lock(locking.folder, image_id(cpu)).unlink()
    (engine.state / "fail-bootstrap").unlink()
    locking(cpu)
    engine.set("fail-bootstrap", "")
    (lock,), (done,) = locking(cpu, upgrade=True)
    assert lock.base.packages == PACKAGES
    assert done.notes[0].startswith("its distribution packages stay as they were locked: ")


@pytest.mark.parametrize("newer", [0, 1])
def test_the_newest_of_two_bases_is_kept_whether_it_could_be_made_anew_or_not(cpu, locking, engine, newer):
    beside = {**cpu, "openvino": "2025.4.1"}
    had, _ = locking(cpu, beside)
    for place, lock in enumerate(had):
        version = "3.11.2-9" if place == newer else "3.11.2-1"
        base = replace(
            lock.base,
            packages=(*PACKAGES[:-1], f"python3={version}"),
            date="2026-09-01" if place == newer else "2026-03-01",
        )
        write_lock(locking.folder, replace(lock, base=base))
    third = {**cpu, "openvino": "2026.0.0"}
    engine.set("fail-bootstrap", "")

    (kept,), _ = locking(third)
    assert (kept.base.date, kept.base.packages[-1]) == ("2026-09-01", "python3=3.11.2-9")
    (failed,), (done,) = locking(third, upgrade=frozenset({"debian12"}))
    assert (failed.base.date, failed.base.packages[-1]) == ("2026-09-01", "python3=3.11.2-9")
    assert done.notes[0].startswith("its distribution packages stay as they were locked: ")


def test_a_machine_without_an_engine_locks_all_the_same(cpu, locking, engine):
    engine.set("down", "yes")
    (lock,), _ = locking(cpu)

    assert lock.base.packages == PACKAGES
    assert engine.calls("import") == []


def test_an_interruption_comes_through(cpu, locking, engine, tmp_path, site):
    def say(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        relock({image_id(cpu): image_axes(cpu)}, tmp_path / "locks", site, upgrade=False, say=say)
    assert list((tmp_path / "locks").iterdir()) == []
