from types import SimpleNamespace

import pytest

from orchestrator.support.conditions import Value
from orchestrator.support.question import Question


@pytest.fixture
def question() -> Question:
    build, os = Value("cu128", words=("cu128",)), Value("linux", words=("linux",))
    return Question(values={"torch_build": build, "os": os}, origin={"os": ()}, scope=frozenset(), ignored=())


def test_what_follows_is_told_by_what_it_follows_from(question: Question) -> None:
    question.derive("cuda_runtime", Value("12.8"), ("torch_build",))
    question.derive("gpu_vendor", Value("nvidia"), ("cuda_runtime", "os"))
    assert question.given(["gpu_vendor", "cuda_runtime", "torch_build"]) == ("torch_build",)


def test_what_was_given_stays(question: Question) -> None:
    question.derive("torch_build", Value("cu126"), ("os",))
    assert question.values["torch_build"].text == "cu128"
    assert question.given(["torch_build"]) == ("torch_build",)


def test_a_default_was_not_told(question: Question) -> None:
    question.derive("libc", Value("glibc"), ("os",))
    question.close()
    assert question.told == {"torch_build"}
    assert question.given(["os", "libc", "python"]) == ()


def test_closed_it_tells_the_text_of_each_value(question: Question) -> None:
    question.close()
    assert question.texts == {"torch_build": "cu128", "os": "linux"}


@pytest.mark.parametrize(
    ("asked", "axis", "may"),
    [
        ({}, "torch", True),
        ({}, "numpy", False),
        ({"gpu_vendor": "nvidia"}, "cuda_runtime", True),
        ({"gpu_vendor": "amd"}, "cuda_runtime", False),
        ({"gpu_vendor": "amd"}, "rocm_userspace", True),
        ({"gpu_vendor": "nvidia"}, "gfx_as", False),
        ({"gpu_vendor": "nvidia"}, "cuda_compat", False),
    ],
)
def test_what_every_installation_has_may_be_there(
    world: SimpleNamespace, asked: dict[str, str], axis: str, may: bool
) -> None:
    assert world.question(asked).may_have(axis) is may
