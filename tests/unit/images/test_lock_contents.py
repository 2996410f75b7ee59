"""What a lock holds against what its image is asked to hold: gutted, edited or merged, it is refused with the fact."""

import hashlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from orchestrator.images.locked import unfit
from orchestrator.images.locks import LockedBase, LockedWheel, held_in, parse, render
from orchestrator.images.recipe import checked

ROOT = Path(__file__).resolve().parents[3]
SYMPY = f"""
[[wheels.torch]]
name = "sympy"
version = "1.14.0"
file = "sympy-1.14.0-py3-none-any.whl"
sha256 = "{hashlib.sha256(b"sympy-1.14.0-py3-none-any.whl").hexdigest()}"
"""


def why(lock, axes):
    """As `lock --check` and a build read it: from its bytes."""
    return unfit(parse(render(lock).encode()), lock.image, checked(axes))


def edited(lock, old, new):
    content = render(lock)
    assert old in content
    return parse(content.replace(old, new).encode())


def without(lock, *names):
    def kept(wheels):
        return tuple(wheel for wheel in wheels if wheel.name not in names)

    held = lock.wheels
    return replace(
        lock,
        wheels=replace(held, torch=kept(held.torch), companions=kept(held.companions), tools=kept(held.tools)),
    )


def test_a_lock_that_fits_has_no_contradiction(fitting, cpu):
    assert why(fitting, cpu) == ()


def test_the_locks_of_the_project_fit_their_own_images():
    held = held_in(ROOT / "images" / "locks").locks

    assert len(held) >= 7
    assert {image: unfit(lock, image, checked(lock.axes)) for image, lock in held.items()} == dict.fromkeys(held, ())


def test_a_gutted_lock_has_nothing_of_what_is_asked_for(fitting, cpu):
    assert why(without(fitting, "torch", "numpy", "pytest", "sympy"), cpu) == (
        "it has no wheel of torch, and torch==2.13.0 is asked for",
        "it has no wheel of numpy, and numpy is asked for",
        "it has no wheel of pytest, and pytest is asked for",
    )


@pytest.mark.parametrize(
    ("old", "new", "fact"),
    [
        ("2.13.0+cpu", "2.14.1+cpu", "it has torch 2.14.1+cpu, and torch==2.13.0 is asked for"),
        ("2.13.0+cpu", "2.13.0+cu130", "torch 2.13.0+cu130 is built for cu130, and cpu is asked for"),
        ("2.13.0+cpu", "2.13.0+local", "torch 2.13.0+local is built for local, and cpu is asked for"),
        ("2.13.0+cpu", "2.13.0", "torch 2.13.0 is built for it is not said what, and cpu is asked for"),
        ("torch-2.13.0+cpu-cp311-cp311", "torch-2.13.0+cpu-cp312-cp312", "cannot be installed on Python 3.11"),
        ("torch-2.13.0+cpu-cp311-cp311", "torch-2.13.0+cpu-cp311-cp311t", "cannot be installed on Python 3.11"),
        ("manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "on x86_64 with glibc 2.36"),
        ("manylinux_2_28_x86_64", "manylinux_2_39_x86_64", "on x86_64 with glibc 2.36"),
        ("manylinux_2_28_x86_64", "musllinux_1_2_x86_64", "cannot be installed"),
        ("manylinux_2_28_x86_64", "win_amd64", "cannot be installed"),
        (
            'file = "numpy-2.4.6',
            'file = "numpy-2.4.5',
            "numpy-2.4.5-cp311-cp311-manylinux_2_28_x86_64.whl is not numpy",
        ),
        ('file = "numpy', 'file = "nunpy', "is not numpy 2.4.6"),
        ("-py3-none-any.whl", ".whl", "pytest-9.1.0.whl is no name of a wheel"),
        ('name = "numpy"', 'name = "torch"', "it has the wheel of torch 2 times"),
        ('name = "debian12"', 'name = "debian13"', "its base is debian13, and debian12 is asked for"),
        ("bookworm", "trixie", "its base is trixie for amd64, and bookworm for amd64 is asked for"),
        ("amd64", "arm64", "its base is bookworm for arm64, and bookworm for amd64 is asked for"),
        ('    "g++=4:12.2.0-3",\n', "", "it has no distribution package g++, which is asked for"),
        ('    "g++",\n', "", "and is made with python3, ca-certificates, g++"),
        ("python3=3.11.2", "python3=3.13.5", "its python3 is 3.13.5-1+b1, and python 3.11 is asked for"),
        ("libpython3-dev=1", "python3=3.11.3", "it has the package python3 2 times"),
        ('suite = "bookworm"', 'digest = "sha256:' + "a" * 64 + '"', "by digest and bootstrapped too"),
        ('suite = "bookworm"', "", "its distribution packages are of no suite"),
        ('python = "3.11"', 'python = "3.12"', "python is 3.12, not 3.11"),
        ('image = "torch2', 'image = "torch3', "it is of torch3"),
    ],
)
def test_what_cannot_be_of_these_axes_is_named(fitting, cpu, old, new, fact):
    lock = edited(fitting, old, new)

    assert fact in "; ".join(unfit(lock, fitting.image, checked(cpu)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SYMPY, ""),
        ('date = "2026-07-11"', 'date = "2026-07-12"'),
        ("g++=4:12.2.0-3", "g++=4:12.2.0-4"),
        ('digest = "', '# digest = "'),
    ],
)
def test_what_nobody_asked_for_by_name_is_missed_by_the_digest(fitting, cpu, old, new):
    lock = edited(fitting, old, new)

    assert unfit(lock, fitting.image, checked(cpu)) == ("it is not as it was written: its digest is of something else",)


def test_a_file_or_a_hash_of_two_wheels_is_named(fitting, cpu):
    (numpy,) = fitting.wheels.companions
    (pytest_,) = fitting.wheels.tools
    again = LockedWheel(name="pytest", version="9.1.0", file=numpy.file, sha256=numpy.sha256)
    facts = why(replace(fitting, wheels=replace(fitting.wheels, tools=(again,))), cpu)

    assert f"it has the file {numpy.file} 2 times" in facts
    assert f"it has the SHA-256 {numpy.sha256} 2 times" in facts
    assert f"{numpy.file} is not pytest 9.1.0" in facts
    assert pytest_.sha256 not in facts


def test_torch_outside_of_its_layer_would_not_be_looked_at_again(fitting, cpu):
    held = fitting.wheels
    moved = replace(fitting, wheels=replace(held, torch=held.torch[:1], companions=held.torch[1:] + held.companions))

    assert why(moved, cpu) == (f"{held.torch[1].file} is not in the layer of torch",)


@pytest.mark.parametrize(("old", "new"), [("", ""), ("2026.0.0", "2025.4.1")])
def test_a_companion_is_there_in_the_version_that_is_asked_for(lock_for, cpu, old, new):
    axes = {**cpu, "openvino": "2026.0.0"}
    lock = lock_for(axes)
    assert why(lock, axes) == ()
    wrong = edited(lock, f'version = "{old}"', f'version = "{new}"') if old else without(lock, "openvino")
    said = f"it has openvino {new}" if new else "it has no wheel of openvino"

    assert f"{said}, and openvino==2026.0.0 is asked for" in unfit(wrong, lock.image, checked(axes))


@pytest.mark.parametrize(
    ("base", "fact"),
    [
        ({"packages": ()}, "no distribution package of bookworm is locked any more"),
        ({"packages": (), "date": ""}, "no distribution package of bookworm is locked any more"),
        ({"packages": (), "date": "", "release": ""}, ""),  # where it was made there were none to be had
    ],
)
def test_a_base_whose_packages_were_taken_out_is_not_one_that_never_had_any(fitting, cpu, base, fact):
    assert why(replace(fitting, base=replace(fitting.base, **base)), cpu) == ((fact,) if fact else ())


def test_a_base_that_says_nothing_is_one_that_only_a_site_can_name(fitting, cpu):
    gutted = replace(fitting, base=LockedBase(name="debian12"))
    assert why(gutted, cpu) == ("it says nothing of its base, and debian12 is bootstrapped",)


def locked(row):
    (found,) = (lock for lock in held_in(ROOT / "images" / "locks").locks.values() if row in lock.image)
    return found


def test_torch_of_a_distribution_is_one_of_its_packages(fitting):
    lock = locked("torch1.13-cpu-distribution")
    torch = next(entry for entry in lock.base.packages if entry.startswith("python3-torch="))

    def facts(*packages):
        return why(replace(lock, base=replace(lock.base, packages=packages)), lock.axes)

    rest = [entry for entry in lock.base.packages if entry != torch]
    assert facts(*rest) == ("it has no distribution package python3-torch, which is asked for",)
    assert facts(*rest, "python3-torch=2.6.0+dfsg-7") == (
        "its python3-torch is 2.6.0+dfsg-7, and torch 1.13 is asked for",
    )
    never = replace(lock, base=replace(lock.base, packages=(), release="", date=""))
    assert why(never, lock.axes) == ("no distribution package of bookworm is locked, and torch is one of them",)
    beside = replace(lock, wheels=replace(lock.wheels, torch=fitting.wheels.torch[1:]))
    assert "and torch is to be the distribution's" in why(beside, lock.axes)[0]


def test_wheels_of_cuda_builds_need_not_say_their_build_and_what_they_say_counts():
    lock = locked("torch2.14.1-cu130")
    (torch,) = (wheel for wheel in lock.wheels.torch if wheel.name == "torch")
    rest = tuple(wheel for wheel in lock.wheels.torch if wheel != torch)

    def facts(version):
        other = replace(torch, version=version, file=torch.file.replace(torch.version, version))
        return why(replace(lock, wheels=replace(lock.wheels, torch=(*rest, other))), lock.axes)

    assert facts("2.14.1") == facts("2.14.1+cu130") == facts("2.14.1+ours") == ()
    assert facts("2.14.1+cu126") == ("torch 2.14.1+cu126 is built for cu126, and cu130 is asked for",)
    assert facts("2.14.1+cpu") == ("torch 2.14.1+cpu is built for cpu, and cu130 is asked for",)
