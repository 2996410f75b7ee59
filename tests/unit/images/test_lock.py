"""What goes into an image's layers, asked of the real resolver against an index of tiny wheels."""

import pytest

from orchestrator.axes import image_axes
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.images.lock import companions, lock
from orchestrator.vocabulary import Cause


def names(wheels):
    return [f"{wheel.name}=={wheel.version}" for wheel in wheels]


def test_layers_hold_torch_then_companions_then_tools(cpu, site, commands):
    made = lock(image_axes(cpu), site, commands)

    assert names(made.torch) == ["sympy==1.14.0", "torch==2.13.0+cpu"]
    assert names(made.companions) == ["numpy==2.4.6"]
    assert names(made.tools) == ["packaging==26.0", "pytest==9.1.0"]
    assert all(len(wheel.sha256) == 64 for wheel in made.wheels)


def test_cells_with_the_same_torch_have_the_same_first_layer(cpu, site, commands):
    plain = lock(image_axes(cpu), site, commands)
    beside = lock(image_axes({**cpu, "openvino": "2025.4.1"}), site, commands)

    assert plain.torch == beside.torch
    assert names(beside.companions) == ["numpy==2.2.4", "openvino==2025.4.1", "packaging==26.0"]
    assert names(beside.tools) == ["pytest==9.1.0"]


def test_a_companion_that_does_not_fit_the_pins_moves_torchs_layer_but_not_torch(cpu, site, commands):
    made = lock(image_axes({**cpu, "onnxscript": "0.7.2"}), site, commands)

    assert names(made.torch) == ["sympy==1.13.0", "torch==2.13.0+cpu"]
    assert "onnxscript==0.7.2" in names(made.companions)


def test_a_companion_that_wants_another_torch_is_a_version_mismatch_that_names_both(cpu, site, commands):
    with pytest.raises(StageFailed) as caught:
        lock(image_axes({**cpu, "torchvision": "0.29.1"}), site, commands)

    assert caught.value.why is Cause.VERSION_MISMATCH
    assert str(caught.value) == "torchvision==0.29.1 wants torch 2.14.1+cpu, but torch 2.13.0 was asked for"


def test_a_torch_that_no_index_has_is_a_missing_package_in_the_resolvers_words(cpu, site, commands):
    with pytest.raises(StageFailed) as caught:
        lock(image_axes({**cpu, "torch": "2.12.0"}), site, commands)

    assert caught.value.stage is Stage.WHEELS
    assert caught.value.why is Cause.MISSING_PACKAGE
    assert "torch==2.12.0+cpu" in caught.value.log


def test_a_distributions_torch_brings_no_wheel_of_it_and_keeps_its_numpy(trixie, site, commands):
    made = lock(image_axes({**trixie, "openvino": "2025.4.1"}), site, commands)

    assert made.torch == ()
    assert names(made.companions) == ["openvino==2025.4.1", "packaging==26.0"]


def test_a_companion_that_brings_a_torch_wheel_cannot_stand_beside_a_distributions_torch(trixie, site, commands):
    with pytest.raises(StageFailed, match=r"wants torch 2\.14\.1\+cpu, but torch 2\.6\.0 of debian13") as caught:
        lock(image_axes({**trixie, "torchvision": "0.29.1"}), site, commands)

    assert caught.value.why is Cause.VERSION_MISMATCH


def test_numpy_is_the_one_asked_for(cpu, site, commands):
    assert names(lock(image_axes({**cpu, "numpy": "2.2.4"}), site, commands).companions) == ["numpy==2.2.4"]


def test_an_old_torch_stands_beside_the_numpy_that_it_was_compiled_against(cpu, site, wheels, wheel_maker, commands):
    wheel_maker(wheels, "torch", "2.2.0+cpu")

    assert names(lock(image_axes({**cpu, "torch": "2.2.0"}), site, commands).companions) == ["numpy==1.26.4"]


def test_pypis_cuda_wheel_is_taken_where_no_index_names_the_build(site, wheels, wheel_maker, commands):
    wheel_maker(wheels, "torch", "2.13.1")
    axes = image_axes({"torch": "2.13.1", "torch_build": "cu130", "python": "3.11"})

    assert names(lock(axes, site, commands).torch) == ["torch==2.13.1"]


def test_companions_are_the_packages_of_their_axes(cpu):
    axes = {**cpu, "ipex": "2.8.0", "torch_tensorrt": "2.13.0", "backend": "inductor"}

    assert companions(axes) == {"intel-extension-for-pytorch": "2.8.0", "torch-tensorrt": "2.13.0"}
