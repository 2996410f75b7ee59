from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.axes import AXES
from orchestrator.support import reading

LEAVES = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats() | st.text(max_size=200)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=6,
)
COMBINATIONS = st.dictionaries(st.sampled_from(list(AXES)) | st.text(max_size=80), JSON, max_size=5)


def texts(combination: dict[str, Any]) -> dict[str, str]:
    return {axis: value.text for axis, value in reading.read(combination).values.items()}


@given(COMBINATIONS)
def test_nothing_that_is_written_is_an_error_and_what_is_ignored_is_named(combination: dict[str, Any]) -> None:
    question = reading.read(combination)
    assert len(question.ignored) >= len([axis for axis in combination if axis not in AXES])
    assert all("\n" not in name and len(name) <= 61 for name in question.ignored)


@given(st.sampled_from(["torch", "python", "driver", "numpy", "glibc", "torch_build", "distro", "gpu_arch"]), JSON)
def test_a_value_is_read_or_named_or_says_that_there_is_none(axis: str, raw: Any) -> None:
    question = reading.read({axis: raw})
    if axis not in question.values and axis not in question.ignored:
        plain = ", ".join(map(str, raw)) if isinstance(raw, list) else str(raw)
        assert raw is None or plain.strip().lower() in {
            *("", "none", "no", "n/a", "null", "absent", "not installed", "-"),
            *("any", "all", "*", "unknown", "?"),
        }


@pytest.mark.parametrize(
    ("combination", "values"),
    [
        ({"torch": "2.8.0+cu128"}, {"torch": "2.8.0", "torch_build": "cu128"}),
        ({"torch": 2.8}, {"torch": "2.8"}),
        ({"gpu": "8x H100"}, {"gpu": "H100", "gpus": "8"}),
        ({"gpu": "NVIDIA H100 MIG 1g.10gb"}, {"gpu": "NVIDIA H100", "partition": "1g.10gb"}),
        ({"os": "Ubuntu 22.04"}, {"os": "linux", "distro": "ubuntu-22.04"}),
        ({"distro": "Windows 11"}, {"os": "windows"}),
        ({"base": "ubuntu22.04"}, {"base": "ubuntu22.04", "distro": "ubuntu-22.04"}),
        ({"base": "my-image"}, {"base": "my-image"}),
        ({"python": ["3.11", "3.12"]}, {"python": "3.11|3.12"}),
        ({"cuda_compat": "no"}, {"cuda_compat": "none"}),
        ({"cuda_compat": False}, {"cuda_compat": "none"}),
        ({"cuda_compat": True}, {"cuda_compat": "active"}),
        ({"cuda_compat": "cuda-compat-12-8"}, {"cuda_compat": "12.8"}),
        ({"numpy": None}, {}),
        ({"numpy": "not installed"}, {}),
        ({"numpy": "any"}, {}),
        ({"env": {"NVIDIA_DISABLE_REQUIRE": "1"}}, {"env": "NVIDIA_DISABLE_REQUIRE=1", "require_check": "skipped"}),
        ({"env": "NCCL_NVLS_ENABLE=0"}, {"env": "NCCL_NVLS_ENABLE=0", "nccl_nvls": "off"}),
        (
            {"nccl_installed": ["nvidia-nccl-cu12==2.27.3", "nvidia-nccl-cu13"]},
            {"nccl_installed": "nvidia-nccl-cu12==2.27.3, nvidia-nccl-cu13", "nccl_packages": "several"},
        ),
        (
            {"nccl_installed": "nvidia-nccl-cu12==2.27.3"},
            {"nccl_installed": "nvidia-nccl-cu12==2.27.3", "nccl_packages": "one", "nccl_cuda": "12", "nccl": "2.27.3"},
        ),
        ({"torch_arch_list": "sm_80 sm_90 compute_90"}, {"torch_arch_list": "sm_80 sm_90 ptx_90"}),
        ({"torch_arch_list": ["gfx90a", "gfx942"]}, {"torch_arch_list": "gfx90a gfx942"}),
        ({"torch_arch_list": "8.0, 9.0"}, {"torch_arch_list": "sm_80 sm_90"}),
    ],
)
def test_what_people_write(combination: dict[str, Any], values: dict[str, str]) -> None:
    assert texts(combination) == values
    assert reading.read(combination).ignored == ()


@pytest.mark.parametrize(
    "combination",
    [
        {"color": "red"},
        {"torch": "the newest"},
        {"os": "beos"},
        {"distro": {"name": "ubuntu"}},
        {"nccl_installed": "nothing"},
        {"torch_arch_list": "all of them"},
        {"env": "it is a cluster"},
        {"ext": "my kernels"},
        {"torch": "2" * 500},
    ],
)
def test_what_cannot_be_read_is_named(combination: dict[str, Any]) -> None:
    assert reading.read(combination).ignored == tuple(combination)


@pytest.mark.parametrize(
    ("combination", "given_axis"),
    [
        ({"torch": "2.8.0+cu126", "torch_build": "cu128"}, "torch_build"),
        ({"os": "Ubuntu 22.04", "distro": "debian-12"}, "distro"),
        ({"base": "ubuntu22.04", "distro": "debian-12"}, "distro"),
        ({"gpu": "8x H100", "gpus": "2"}, "gpus"),
        ({"gpu": "NVIDIA H100 MIG 1g.10gb", "partition": "7g.80gb"}, "partition"),
        ({"env": "NVIDIA_DISABLE_REQUIRE=1", "require_check": "enforced"}, "require_check"),
    ],
)
def test_what_is_given_outweighs_what_follows_in_any_order(combination: dict[str, str], given_axis: str) -> None:
    for order in permutations(combination.items()):
        question = reading.read(dict(order))
        assert question.values[given_axis].text == combination[given_axis]
        assert given_axis not in question.origin


def test_what_follows_from_a_system_is_told_by_it() -> None:
    assert reading.read({"os": "Ubuntu 22.04"}).origin == {"distro": ("os",)}


@pytest.mark.parametrize(
    ("combination", "scope"),
    [
        ({}, set()),
        ({"backend": "eager"}, set()),
        ({"backend": "inductor"}, {"torch.compile"}),
        ({"scope": "eager"}, set()),
        ({"scope": ["torch.compile", "multi-gpu"]}, {"torch.compile", "multi-gpu"}),
        ({"scope": "multi-gpu", "backend": "inductor"}, {"torch.compile", "multi-gpu"}),
    ],
)
def test_the_scope_that_is_asked(combination: dict[str, Any], scope: set[str]) -> None:
    assert reading.read(combination).scope == scope


def test_a_nightly_is_of_no_release() -> None:
    assert reading.read({"torch": "2.9.0.dev20250801+cu128"}).nightly
    assert not reading.read({"torch": "2.9.0+cu128"}).nightly


def test_only_so_many_values_are_read() -> None:
    combination = {f"axis{number}": "x" for number in range(1000)} | {"torch": "2.8.0"}
    assert texts(combination) == {"torch": "2.8.0"}
