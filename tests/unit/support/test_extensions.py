from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.support import extensions
from orchestrator.support.question import Question


def taken(raw: Any) -> tuple[bool, dict[str, str]]:
    """Whether something was read, and what of the axes that a wheel's name tells."""
    question = Question(values={}, origin={}, scope=frozenset(), ignored=())
    named = extensions.take(question, raw)
    return named, {axis: value.text for axis, value in question.values.items() if axis != "ext"}


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (
            "flash_attn-2.8.3+cu12torch2.8cxx11abiTRUE-cp312-cp312-linux_x86_64.whl",
            {"ext_cuda": "12", "ext_torch": "2.8", "ext_cxx11_abi": "true"},
        ),
        (
            "flash_attn-2.8.3+cu128torch2.8cxx11abiFALSE",
            {"ext_cuda": "12.8", "ext_torch": "2.8", "ext_cxx11_abi": "false"},
        ),
        ("torch_scatter-2.1.2+pt27cu126", {"ext_cuda": "12.6", "ext_torch": "2.7"}),
        ("mmcv built for torch 2.1", {"ext_torch": "2.1"}),
        ({"flash-attn": "2.8.3+cu126torch2.7"}, {"ext_cuda": "12.6", "ext_torch": "2.7"}),
        ({"a": "cu126", "b": "torch2.7"}, {"ext_cuda": "12.6", "ext_torch": "2.7"}),
    ],
)
def test_what_the_name_of_a_wheel_says(raw: Any, told: dict[str, str]) -> None:
    assert taken(raw) == (True, told)


@pytest.mark.parametrize("raw", ["my kernels", {}, {"vllm": "prebuilt wheel"}, 7, None, ["x"], "cu1"])
def test_a_name_that_says_nothing_is_told_so(raw: Any) -> None:
    assert taken(raw) == (False, {})


def test_cu12_is_any_cuda_12() -> None:
    question = Question(values={}, origin={}, scope=frozenset(), ignored=())
    extensions.take(question, "x+cu12torch2.8")
    assert question.values["ext_cuda"].spans == (((12,), (13,)),)
    assert question.origin["ext_cuda"] == ("ext",)


@given(
    st.recursive(
        st.text(max_size=60) | st.integers() | st.none(),
        lambda inner: st.dictionaries(st.text(max_size=9), inner, max_size=4),
        max_leaves=6,
    )
)
def test_nothing_that_is_told_is_an_error(raw: Any) -> None:
    taken(raw)
