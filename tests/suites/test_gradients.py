"""Gradients of inputs: those that autograd gives, in a form that every load can be held to."""

import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch


def test_the_result_and_one_gradient_for_each_input(snippet: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = snippet("""
import torch
from suites import gradients
left, right = torch.randn(4, 5), torch.randn(5, 7)
with torch.no_grad():
    result, of_left, of_right = gradients.of_inputs(torch.matmul, None)(left, right)
assert torch.equal(result, left @ right)
flowing = gradients._upstream(result)
assert set(flowing.flatten().tolist()) == {-1.0, 0.5, 1.0}
assert torch.allclose(of_left, flowing @ right.T) and torch.allclose(of_right, left.T @ flowing)
assert not left.requires_grad
""")
    assert done.returncode == 0, done.stderr
