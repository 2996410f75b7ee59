import pytest

from orchestrator.axes import AXES
from orchestrator.support.axes import COMPANIONS, INHERENT, VENDOR_OF, is_version, vendor_of_build


@pytest.mark.parametrize("axis", ["torch", "python", "driver", "cuda_compat", "cuda_runtime", "glibc", "nccl", "numpy"])
def test_these_are_compared_as_versions(axis: str) -> None:
    assert is_version(axis)


@pytest.mark.parametrize("axis", ["torch_build", "gpu", "gpu_arch", "distro", "os", "scope", "no axis at all"])
def test_these_are_compared_as_words(axis: str) -> None:
    assert not is_version(axis)


@pytest.mark.parametrize(
    ("build", "vendor"), [("cu128", "nvidia"), ("rocm6.4", "amd"), ("xpu", "intel"), ("cpu", None), ("mine", None)]
)
def test_a_build_is_for_one_vendors_devices(build: str, vendor: str | None) -> None:
    assert vendor_of_build(build) == vendor


def test_a_companion_is_a_package_that_need_not_be_there() -> None:
    assert {"numpy", "torchvision", "triton", "torch_tensorrt", "openvino", "ipex", "nccl", "ext"} <= COMPANIONS
    assert not COMPANIONS & INHERENT
    assert AXES.keys() >= COMPANIONS


def test_vendors_are_told_of_axes_that_there_are() -> None:
    assert VENDOR_OF.keys() <= AXES.keys() | {"gfx_as"}
