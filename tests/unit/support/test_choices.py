from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.support import choices
from orchestrator.support.check import Support


@pytest.fixture
def support(world: SimpleNamespace) -> Support:
    rule = world.rule(
        *(world.row({"torch": torch}) for torch in ("2.6.0", "2.7.0", "2.7.1", "2.8.0", "2.8", ">=2.9.0")),
        world.row({"python": ("3.11", "3.12", "3.13", "3.13t", "3.14t")}),
        world.row({"driver": (">=535.54", "570", "580.65.06")}),
        world.row({"torch_build": ("cpu", "cu118", "cu126", "cu128", "cu130", "rocm6.2", "rocm6.10", "xpu")}),
        world.row({"distro": ("ubuntu-24.04", "ubuntu-22.04", "debian-12", "rhel-*")}),
        world.row({"cudnn_runtime": ("9.0", "8.9"), "wheel_platform": ("manylinux2014", "manylinux_2_28")}),
    )
    return Support(world.facts(rule))


@pytest.mark.parametrize(
    ("axis", "asked", "values"),
    [
        ("torch", {"torch": "2.7.1"}, ["2.8.0", "2.7.0", "2.9.0", "2.6.0"]),
        ("torch", {"torch": "2.6.0"}, ["2.7.0", "2.7.1", "2.8.0", "2.9.0"]),
        ("torch", {}, ["2.9.0", "2.8.0", "2.7.1", "2.7.0", "2.6.0"]),
        ("python", {"python": "3.12"}, ["3.13", "3.11"]),
        ("python", {"python": "3.13t"}, ["3.14t"]),
        ("driver", {"driver": "570"}, ["580.65.06", "535.54"]),
        ("torch_build", {"torch_build": "cu126"}, ["cu128", "cu118", "cu130"]),
        ("torch_build", {"torch_build": "rocm6.2"}, ["rocm6.10"]),
        ("torch_build", {"torch_build": "cu126", "gpu_vendor": "amd"}, ["rocm6.10", "rocm6.2"]),
        ("distro", {"distro": "Ubuntu 20.04"}, ["ubuntu-22.04", "ubuntu-24.04", "debian-12"]),
        ("channel", {"channel": "pypi"}, ["pytorch-index"]),
        ("wheel_platform", {"wheel_platform": "manylinux2014"}, ["manylinux_2_28"]),
        (
            "nccl_installed",
            {"nccl_installed": ["nvidia-nccl-cu13", "nvidia-nccl-cu12"], "torch_build": "cu128"},
            ["nvidia-nccl-cu12", "nvidia-nccl-cu13"],
        ),
        ("cudnn_runtime", {"cudnn_runtime": "8.9", "cudnn_compiled": "cuDNN 9.1.0 (cu12)"}, ["9.0", "9.1.0"]),
        ("cudnn_runtime", {"cudnn_runtime": "8.9", "cudnn_compiled": "recent"}, ["9.0"]),
    ],
)
def test_the_other_values_from_the_nearest_on(
    support: Support, axis: str, asked: dict[str, Any], values: list[str]
) -> None:
    assert list(choices.values(support, asked, axis)) == values


@pytest.mark.parametrize(
    ("asked", "deciding", "axes"),
    [
        (["torch", "gpu"], ["gpu"], []),
        (["torch", "gpu", "torch_build"], ["torch", "gpu"], ["torch_build", "torch"]),
        (["torch", "channel"], ["torch_build"], ["torch_build", "torch", "channel"]),
        (["driver", "driver_cuda"], ["driver", "driver_cuda"], ["driver"]),
        (["driver_cuda"], ["driver_cuda"], ["driver_cuda"]),
        (["numpy", "host_arch"], ["numpy", "host_arch"], ["numpy"]),
    ],
)
def test_what_a_user_can_change(asked: list[str], deciding: list[str], axes: list[str]) -> None:
    assert choices.changeable(dict.fromkeys(asked, "x"), deciding) == axes


def test_together_with_another_axis_each_minor_of_torch_is_its_last_patch() -> None:
    assert choices.apart("torch", ["2.8.0", "2.7.0", "2.7.1", "2.6.0"]) == ["2.8.0", "2.7.1", "2.6.0"]
    assert choices.apart("python", ["3.12", "3.11"]) == ["3.12", "3.11"]
