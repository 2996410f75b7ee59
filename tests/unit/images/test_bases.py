import pytest

from orchestrator.axes import image_axes
from orchestrator.images.bases import RELEASES, find_base, glibc, holding
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.vocabulary import Cause

DIGEST = f"registry.example/debian@sha256:{'ab' * 32}"


def axes(**changes):
    return image_axes({"torch": "2.13.0", "torch_build": "cpu", "python": "3.11", **changes})


def test_debian_is_bootstrapped_with_what_its_torch_needs():
    wheel, trixie = (
        find_base(axes(), {}),
        find_base(axes(torch_from="distribution", base="debian13", python="3.13"), {}),
    )

    assert wheel.packages == ("python3", "ca-certificates", "g++", "libpython3-dev")
    assert (trixie.suite, trixie.architecture) == ("trixie", "amd64")
    assert {"python3-torch", "libtorch-dev", "python3-setuptools", "g++"} <= set(trixie.packages)
    assert wheel.ref == f"torchmatrix/base-debian12:{wheel.key[:12]}"


def test_what_goes_into_a_base_is_its_key():
    keys = {
        find_base(each, {}).key
        for each in (
            axes(),
            axes(host_arch="aarch64"),
            axes(torch_from="distribution"),
            axes(base="debian13", python="3.13"),
        )
    }

    assert len(keys) == 4
    assert find_base(axes(torch="2.14.1", openvino="2026.0.0"), {}).key == find_base(axes(), {}).key


def test_the_sites_image_is_taken_the_one_for_the_python_first():
    named = {"debian12": DIGEST, "debian12-py3.12": DIGEST.replace("debian", "python")}

    assert find_base(axes(), named).ref == DIGEST
    assert find_base(axes(python="3.12"), named).ref == named["debian12-py3.12"]
    assert find_base(axes(), named).packages == ()


def test_a_local_image_gets_a_name_that_buildkit_takes():
    found = find_base(axes(), {"debian12": f"sha256:{'cd' * 32}"})

    assert found.image == f"sha256:{'cd' * 32}"
    assert found.ref == "torchmatrix/base-debian12:cdcdcdcdcdcd"


@pytest.mark.parametrize(
    ("changes", "fact", "hint"),
    [
        (
            {"python": "3.12"},
            "`debian12` as bootstrapped here has Python 3.11, not 3.12",
            "set bases: {debian12-py3.12: repo@sha256:…} in site.yaml",
        ),
        (
            {"base": "ubuntu24.04", "python": "3.12"},
            "base `ubuntu24.04` is not one that is bootstrapped here",
            "set bases: {ubuntu24.04: repo@sha256:…} in site.yaml",
        ),
        (
            {"base": "ubuntu24.04"},
            "base `ubuntu24.04` is not one that is bootstrapped here",
            "set bases: {ubuntu24.04-py3.11: repo@sha256:…} in site.yaml",
        ),
        (
            {"base": "rocky9"},
            "base `rocky9` is not one that is bootstrapped here",
            "set bases: {rocky9-py3.11: repo@sha256:…} in site.yaml",
        ),
    ],
)
def test_a_base_is_never_swapped_for_another_but_says_what_to_set(changes, fact, hint):
    with pytest.raises(StageFailed) as caught:
        find_base(axes(**changes), {"debian13": DIGEST})

    assert (caught.value.stage, caught.value.fact, caught.value.hint) == (Stage.BASE, fact, hint)
    assert caught.value.why in {Cause.BUILD, Cause.MISSING_PACKAGE}


def test_a_python_patch_level_is_the_same_python():
    assert find_base(axes(python="3.11.2"), {}).suite == "bookworm"


def test_the_c_library_is_known_or_taken_to_be_old():
    assert (glibc("debian12"), glibc("rocky9")) == ("2.36", "2.28")


def test_every_bootstrapped_release_has_a_torch_of_its_own():
    assert all(release.torch_packages and release.numpy for release in RELEASES.values() if release.bootstrapped)


def test_what_a_lock_says_of_a_base_is_its_key_and_no_lock_changes_none():
    base = find_base(axes(), {})
    keys = [holding(base, locked).key for locked in ((), ("a=1",), ("a=2",), ("a=1", "b=1"))]

    assert keys[0] == base.key
    assert len(set(keys)) == 4
    assert holding(base, ("a=1",)).ref == f"torchmatrix/base-debian12:{keys[1][:12]}"
