"""The table of what backends take."""

import pytest

from suites.expected import least


@pytest.mark.parametrize(
    ("backend", "load", "count"),
    [
        ("eager", "model.convnet.inference", 0),
        ("inductor", "matmul.square", 1),
        ("inductor", "attention.sdpa.full", 1),
        ("openvino", "attention.sdpa.causal", 0),
        ("openvino", "attention.formula.full", 1),
        ("openvino", "model.convnet.inference", 1),
        ("openvino", "model.transformer.inference", 1),
        ("a_new_one", "elementwise.chain", 1),
    ],
)
def test_what_is_expected(backend: str, load: str, count: int) -> None:
    assert least(backend, load) == count
