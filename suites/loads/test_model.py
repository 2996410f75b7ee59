"""A small real model: a convolution net and a transformer block, in inference and in training.

The two are apart, so that a backend that breaks on the one still answers for the other.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Tuple

import pytest

from suites import models
from suites.backends import INFERENCE_ONLY
from suites.formulas import MATMUL, TRAINING
from suites.work import Work

if TYPE_CHECKING:
    from torch import nn

    from suites.bench import Bench

STANDARD = pytest.mark.profile("standard")
SIZES = ["small", pytest.param("large", marks=STANDARD)]
_IMAGE = (3, 16, 16)
_TOKENS = {"small": (2, 32, 64), "large": (4, 256, 512)}


def test_convnet_inference(bench: Bench) -> None:
    """The convolution net, forward."""
    _convnet(bench, 1, training=False)


def test_convnet_training(bench: Bench) -> None:
    """The convolution net, a step with gradients."""
    _convnet(bench, 8, training=True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("precision", ["fp32", pytest.param("bf16", marks=STANDARD)])
def test_transformer_inference(bench: Bench, precision: str, size: str) -> None:
    """The transformer block, forward."""
    _transformer(bench, size, precision, training=False)


@pytest.mark.compiled_from("standard")
@pytest.mark.parametrize(
    ("precision", "size"),
    [
        ("fp32", "small"),
        pytest.param("fp32", "large", marks=STANDARD),
        pytest.param("bf16", "small", marks=STANDARD),
    ],
)
def test_transformer_training(bench: Bench, precision: str, size: str) -> None:
    """The transformer block, a step with gradients.

    Not large and all in bf16: gradients that are zero by symmetry (the keys' bias) are noise of some per cent there.
    """
    _transformer(bench, size, precision, training=True)


def _convnet(bench: Bench, images: int, *, training: bool) -> None:
    flops = models.convnet_flops(images, training=training)
    _model(bench, "convnet", models.convnet, (images, *_IMAGE), training, flops=flops, formula=MATMUL)


def _transformer(bench: Bench, size: str, precision: str, *, training: bool) -> None:
    shape = _TOKENS[size]
    flops = models.transformer_flops(shape, models.HEADS, training=training)
    make = partial(models.TransformerBlock, shape[-1])
    _model(
        bench,
        "transformer",
        make,
        shape,
        training,
        precision=precision,
        flops=flops,
        formula=TRAINING if training else f"({TRAINING})/3",
    )


def _model(
    bench: Bench, name: str, make: Callable[[], nn.Module], shape: Tuple[int, ...], training: bool, **more: Any
) -> None:
    if training and bench.backend in INFERENCE_ONLY:
        pytest.skip(f"not applicable: {bench.backend} compiles inference only")
    precision = more.get("precision", "fp32")
    bench.run(
        Work(
            load=f"model.{name}.{'training' if training else 'inference'}",
            compute=bench.module(make, precision).train(training),
            inputs=(bench.random(*shape, precision=precision, salt=4),),
            shapes="x".join(map(str, shape)),
            model=name,
            version=models.VERSION,
            drive=models.training_step if training else None,
            **{"precision": "fp32", **more},
        )
    )
