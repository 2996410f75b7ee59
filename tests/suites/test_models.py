"""The models' operations, beside what torch's own counter sees of them."""

import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch

COUNTED = """
import torch
from suites import models
try:
    from torch.utils.flop_counter import FlopCounterMode
except ImportError:
    raise SystemExit(77)
def counted(module, shape, training):
    step = models.training_step(module, module) if training else module
    with FlopCounterMode(display=False) as counter:
        step(torch.randn(*shape))
    return counter.get_total_flops()
for training in (False, True):
    assert counted(models.convnet(), (8, 3, 16, 16), training) == models.convnet_flops(8, training=training)
    shape = (2, 32, 64)
    told = models.transformer_flops(shape, models.HEADS, training=training)
    assert counted(models.TransformerBlock(), shape, training) == told
"""


def test_they_are_counted_as_torch_counts_them(snippet: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = snippet(COUNTED)
    if done.returncode == 77:
        pytest.skip("this torch has no flop counter")
    assert done.returncode == 0, done.stderr
