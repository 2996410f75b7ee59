from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.support.check import Support
from orchestrator.support.question import Question
from orchestrator.support.rows import AmdgpuRelease


@pytest.fixture
def support(world: SimpleNamespace) -> Support:
    facts = world.facts(
        devices=(
            world.device("H100", arch="sm_90", class_="datacenter", partitions=("1g.10gb", "7g.80gb")),
            world.device("GH200", arch="sm_90", host_arch="aarch64"),
            world.device("Arc", arch="arc_a|arc_b", vendor="intel"),
            world.device("RX 7900", arch="gfx1100", vendor="amd", class_="consumer"),
        ),
        derivations=(
            world.derivation({"distro": "ubuntu-*"}, {"libc": "glibc", "glibc": "2.30"}),
            world.derivation({"distro": "ubuntu-22.04"}, {"glibc": "2.35"}),
            world.derivation({"base": "alpine*"}, {"libc": "musl"}),
            world.derivation({"torch": ">=2.6", "host_arch": "x86_64"}, {"cxx11_abi": "true"}),
            world.derivation({"torch": "2.8"}, {"triton": "3.4"}),
            world.derivation({"triton": "3.4"}, {"nccl": "2.27"}),
        ),
        amdgpu_releases=(
            AmdgpuRelease(release="6.3.x", module="6.10.5", packages=("6.10.5-2084815",), source="doc"),
            AmdgpuRelease(release="30.10", module="6.14.14", source="doc"),
        ),
    )
    return Support(facts)


def texts(question: Question, *axes: str) -> tuple[str, ...]:
    return tuple(question.values[axis].text if axis in question.values else "" for axis in axes)


@pytest.mark.parametrize(
    ("asked", "axis", "follows"),
    [
        ({"torch_build": "cu128"}, "cuda_runtime", "12.8"),
        ({"torch_build": "rocm6.2.4"}, "rocm_userspace", "6.2.4"),
        ({"torch_build": "cu128"}, "gpu_vendor", "nvidia"),
        ({"torch_build": "rocm6.2"}, "gpu_vendor", "amd"),
        ({"torch_build": "xpu"}, "gpu_vendor", "intel"),
        ({"torch_build": "cpu"}, "gpu_vendor", ""),
        ({"gpu_arch": "sm_90"}, "gpu_vendor", "nvidia"),
        ({"gpu_arch": "gfx942"}, "gpu_vendor", "amd"),
        ({"gpu_arch": "xe_hpg"}, "gpu_vendor", "intel"),
        ({"gpu_class": "geforce"}, "gpu_vendor", "nvidia"),
        ({"driver_cuda": "12.4"}, "gpu_vendor", "nvidia"),
        ({"rocm_userspace": "6.2"}, "gpu_vendor", "amd"),
        ({}, "os", "linux"),
        ({}, "host_arch", "x86_64"),
        ({}, "torch_from", "wheel"),
        ({"os": "macos"}, "host_arch", ""),
        ({"gpu": "GH200"}, "host_arch", "aarch64"),
        ({"gpu": "NVIDIA H100 PCIe"}, "gpu_arch", "sm_90"),
        ({"gpu": "NVIDIA H100 PCIe"}, "gpu", "H100"),
        ({"gpu": "H100"}, "gpu_class", "datacenter"),
        ({"container_cuda": "12.8"}, "cuda_runtime", "12.8"),
        ({"container_cuda": "12.8", "torch": "2.8.0"}, "cuda_runtime", ""),
        ({"container_cuda": "12.8", "torch_build": "cu126"}, "cuda_runtime", "12.6"),
        ({"gpu": "RX 7900"}, "gpu_vendor", "amd"),
        ({"gpu": "RX 7900"}, "gfx_as", "gfx1100"),
        ({"gpu": "RX 7900", "driver": "6.10.5"}, "amdgpu_driver", "6.3"),
        ({"amdgpu_driver": "6.14.14"}, "amdgpu_driver", "30.10"),
        ({"amdgpu_driver": "5.0"}, "amdgpu_driver", "5.0"),
        ({"distro": "ubuntu-24.04"}, "glibc", "2.30"),
        ({"distro": "ubuntu-22.04"}, "glibc", "2.35"),
        ({"distro": "ubuntu-22.04"}, "libc", "glibc"),
        ({"torch": "2.8.0"}, "nccl", "2.27"),
        ({"torch": "2.8.0"}, "cxx11_abi", "true"),
        ({"torch": "2.8.0", "host_arch": "aarch64"}, "cxx11_abi", ""),
        ({"gpu": "H100", "partition": "1g.10gb"}, "partition_known", "yes"),
        ({"gpu": "H100", "partition": "whole"}, "partition_known", "yes"),
        ({"gpu": "H100", "partition": "3g.40gb"}, "partition_known", "no"),
        ({"gpu": "GH200", "partition": "1g.10gb"}, "partition_known", "unlisted"),
    ],
)
def test_what_follows(support: Support, asked: dict[str, Any], axis: str, follows: str) -> None:
    assert texts(support.question(asked), axis) == (follows,)


@pytest.mark.parametrize(
    ("asked", "axis"),
    [
        ({"torch_build": "cu128", "cuda_runtime": "12.6"}, "cuda_runtime"),
        ({"distro": "ubuntu-22.04", "glibc": "2.28"}, "glibc"),
        ({"gpu": "H100", "gpu_arch": "sm_80"}, "gpu_arch"),
        ({"gpu": "GH200", "host_arch": "x86_64"}, "host_arch"),
        ({"gpu": "H100", "gpu_class": "geforce"}, "gpu_class"),
    ],
)
def test_what_was_given_is_never_changed(support: Support, asked: dict[str, str], axis: str) -> None:
    question = support.question(asked)
    assert question.values[axis].text == asked[axis]
    assert axis not in question.origin


def test_what_follows_names_what_it_follows_from(support: Support) -> None:
    question = support.question({"torch": "2.8.0", "distro": "ubuntu-22.04"})
    assert question.given(["nccl"]) == ("torch",)
    assert question.given(["glibc"]) == ("distro",)
    assert question.given(["host_arch"]) == ()


def test_a_range_derives_nothing_that_only_a_part_of_it_has(support: Support) -> None:
    assert texts(support.question({"torch": ">=2.5"}), "cxx11_abi", "triton") == ("", "")
    assert texts(support.question({"torch": ">=2.7"}), "cxx11_abi", "triton") == ("true", "")


def test_a_family_of_several_architectures_is_any_of_them(support: Support) -> None:
    assert support.question({"gpu": "Intel Arc"}).values["gpu_arch"].words == ("arc_a", "arc_b")


def test_a_device_that_nobody_knows_is_named_unless_its_architecture_is(support: Support) -> None:
    assert support.question({"gpu": "Wonder 9000"}).ignored == ("gpu",)
    assert support.question({"gpu": "Wonder 9000", "gpu_arch": "sm_90"}).ignored == ()


def test_windows_has_no_distribution(support: Support) -> None:
    question = support.question({"os": "windows", "distro": "ubuntu-22.04"})
    assert texts(question, "distro", "glibc", "os") == ("", "", "windows")


@pytest.mark.parametrize(
    ("override", "claims", "family"),
    [
        ("11.0.0", "gfx1100", "itself"),
        ("11.0.2", "gfx1102", "same"),
        ("11.5.1", "gfx1151", "other-minor"),
        ("10.3.0", "gfx1030", "other-major"),
        ("9.0.10", "gfx90a", "other-major"),
        ("11", "gfx1100", "itself"),
    ],
)
def test_an_override_makes_a_card_claim_another_architecture(
    support: Support, override: str, claims: str, family: str
) -> None:
    question = support.question({"gpu": "RX 7900", "env": f"HSA_OVERRIDE_GFX_VERSION={override}"})
    assert texts(question, "gfx_as", "override_family", "gpu_arch") == (claims, family, "gfx1100")
    assert question.given(["gfx_as"]) == ("env",)


def test_a_derivation_to_what_is_no_value_is_an_error(world: SimpleNamespace) -> None:
    with pytest.raises(ValueError, match="is no value of `glibc`"):
        world.facts(derivations=(world.derivation({"distro": "x"}, {"glibc": "old"}),))
