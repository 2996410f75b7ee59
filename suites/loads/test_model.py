"""A small real model: a convolution net and a transformer block, in inference and in training.

The two are apart, so that a backend that breaks on the one still answers for the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Tuple

import pytest

from suites import models
from suites.backends import INFERENCE_ONLY
from suites.work import Work

if TYPE_CHECKING:
    from torch import nn

    from suites.bench import Bench

_IMAGE = (1, 3, 16, 16)
_TOKENS = (2, 32, 64)


def test_convnet_inference(bench: Bench) -> None:
    """The convolution net, forward."""
    _model(bench, "convnet", models.convnet, _IMAGE, training=False)


def test_convnet_training(bench: Bench) -> None:
    """The convolution net, a step with gradients."""
    _model(bench, "convnet", models.convnet, (8, *_IMAGE[1:]), training=True)


def test_transformer_inference(bench: Bench) -> None:
    """The transformer block, forward."""
    _model(bench, "transformer", models.TransformerBlock, _TOKENS, training=False)


@pytest.mark.compiled_from("standard")
def test_transformer_training(bench: Bench) -> None:
    """The transformer block, a step with gradients."""
    _model(bench, "transformer", models.TransformerBlock, _TOKENS, training=True)


def _model(bench: Bench, name: str, make: Callable[[], nn.Module], shape: Tuple[int, ...], *, training: bool) -> None:
    if training and bench.backend in INFERENCE_ONLY:
        pytest.skip(f"not applicable: {bench.backend} compiles inference only")
    bench.run(
        Work(
            load=f"model.{name}.{'training' if training else 'inference'}",
            compute=bench.module(make).train(training),
            inputs=(bench.random(*shape, salt=4),),
            shapes="x".join(map(str, shape)),
            precision="fp32",
            model=name,
            version=models.VERSION,
            drive=models.training_step if training else None,
        )
    )
