"""Nothing is called supported of which no fact speaks."""

from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.support.check import Support
from orchestrator.support.facts import Facts
from orchestrator.vocabulary import RuleKind, Verdict

YES, PART, OPEN = Verdict.SUPPORTED, Verdict.DEGRADED, Verdict.UNKNOWN


@pytest.fixture
def support(world: SimpleNamespace) -> Support:
    """A torch is published, one build holds code for one architecture; of all else nothing is known."""
    published = world.rule(
        world.row({"torch": "2.8"}, {"torch_build": ("cu128", "cpu", "rocm6.4")}),
        world.row({"numpy": "2"}, {"torch": ">=2.3"}),
    )
    arch = world.rule(
        world.row({"torch_build": "cu128"}, {"gpu_arch": ("sm_90",)}),
        name="arch",
        kind=RuleKind.BINARY_COMPATIBILITY,
        relation="cuda",
        mode="table",
    )
    floor = world.rule(
        world.row({"driver": ">=1"}, {"driver": ">=570"}),
        world.row({"amdgpu_driver": ">=1"}, {"amdgpu_driver": ">=6"}),
        name="floor",
    )
    slow = world.rule(
        world.row({"torch_build": "cu128", "python": "3.14"}, scope=("torch.compile",), otherwise=PART), name="compile"
    )
    refusing = world.rule(world.row({"triton": ">=1"}, {"triton": "<9"}), name="refusing", proves=False)
    devices = (world.device("H100", arch="sm_90"), world.device("Wonder", arch="sm_70"))
    return Support(world.facts(published, arch, floor, slow, refusing, devices=devices))


BUILD = {"torch": "2.8.0", "torch_build": "cu128"}


@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        (BUILD, YES),
        ({"torch": "2.8.0", "torch_build": "cpu"}, YES),
        ({**BUILD, "numpy": "2.1"}, YES),
        ({**BUILD, "numpy": "1.26"}, OPEN),  # of numpy 1 no row speaks
        ({**BUILD, "torchvision": "0.23"}, OPEN),
        ({**BUILD, "triton": "3.4"}, OPEN),  # the rule refuses only
        ({"torch": "2.9.0", "torch_build": "cu128"}, OPEN),
        ({**BUILD, "gpu": "H100"}, YES),
        ({**BUILD, "gpu": "Unheard of 7"}, OPEN),
        ({**BUILD, "gpu": "Unheard of 7", "gpu_arch": "sm_90"}, YES),
        ({"torch": "2.8.0", "torch_build": "rocm6.4", "gpu_arch": "gfx942"}, OPEN),
        ({**BUILD, "driver": "580"}, YES),
        ({**BUILD, "driver_cuda": "12.8"}, OPEN),
        ({"torch": "2.8.0", "torch_build": "cpu", "driver": "580"}, YES),
        ({**BUILD, "container_cuda": "13.0"}, YES),
        ({**BUILD, "partition": "1g.10gb"}, OPEN),
        ({**BUILD, "partition": "whole"}, YES),
        ({**BUILD, "scope": "multi-gpu"}, OPEN),
        ({**BUILD, "backend": "inductor"}, OPEN),
        ({**BUILD, "backend": "inductor", "python": "3.14"}, PART),
        ({**BUILD, "os": "beos"}, OPEN),
        ({**BUILD, "distro": "My Own Linux"}, OPEN),
        ({**BUILD, "distro": "ubuntu-30.04"}, OPEN),
        ({**BUILD, "distro": "ubuntu-30.04", "glibc": "2.50"}, YES),
        ({**BUILD, "color": "red"}, YES),
        ({}, OPEN),
        ({"python": "3.12"}, OPEN),
    ],
)
def test_a_silent_component_makes_unknown(support: Support, asked: dict[str, Any], verdict: Verdict) -> None:
    answer = support.answer(asked)
    assert answer.verdict is verdict
    if verdict is OPEN:
        assert answer.reasons[0].kind is RuleKind.NO_DATA


def test_the_silent_axes_are_named(support: Support) -> None:
    reason = support.answer({**BUILD, "torchvision": "0.23", "os": "beos"}).reasons[0]
    assert reason.axes == ("torchvision", "os")
    assert "torchvision 0.23, os" in reason.because


def test_a_refusal_needs_no_words_about_the_rest(support: Support) -> None:
    answer = support.answer({"torch": "2.8.0", "torch_build": "cu126", "torchvision": "0.23"})
    assert answer.verdict is Verdict.UNSUPPORTED


def test_what_is_in_a_ready_image_is_unknown_until_it_ran(real: Facts) -> None:
    image = {"image": f"nvcr.io/nvidia/pytorch@sha256:{'0' * 64}"}
    support = Support(real)
    for beside in ({}, {"backend": "eager"}, {"gpu": "H100", "driver": "580"}):
        assert support.answer({**image, **beside}).verdict is OPEN
    assert support.answer({**image, "torch": "2.13.0", "torch_build": "cu130", "python": "3.9"}).verdict is not OPEN
