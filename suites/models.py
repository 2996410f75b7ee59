"""The small real models: a convolution net and a transformer block, and a training step for either."""

from __future__ import annotations

from typing import Any, Callable, Tuple

import torch
from torch import nn

from suites.formulas import matmul_flops, training_flops

VERSION = "1"  # raise when anything here changes: figures of two versions are not comparable
HEADS = 4


def convnet() -> nn.Module:
    """Convolution, norm, pooling and a linear layer: each kind once, since a compiler takes seconds for each kernel.

    Takes n x 3 x 16 x 16.
    """
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1, bias=False),  # the norm takes a bias out again
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.AvgPool2d(4),
        nn.Flatten(),
        nn.Linear(256, 10),
    )


class TransformerBlock(nn.Module):
    """Pre-norm attention and a feed-forward net around residual paths, written out so that every torch runs it."""

    def __init__(self, width: int = 64, heads: int = HEADS) -> None:
        super().__init__()
        self.heads = heads
        self.norm_in = nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.norm_mid = nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Batch x length x width in and out."""
        batch, length, width = tokens.shape
        normed = self.norm_in(tokens)
        query, key, value = (
            project(normed).view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )
        scores = query @ key.transpose(-2, -1) * (width // self.heads) ** -0.5
        seen = torch.softmax(scores, dim=-1) @ value
        tokens = tokens + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        fed: torch.Tensor = self.feed(self.norm_mid(tokens))
        return tokens + fed


def convnet_flops(images: int, *, training: bool) -> int:
    """Of a step: its convolution and its linear layer as products. No gradient goes on to the images."""
    convolution = matmul_flops(images, 16, 16 * 16, 3 * 3 * 3)
    linear = matmul_flops(1, images, 10, 256)
    return 2 * convolution + 3 * linear if training else convolution + linear


def transformer_flops(shape: Tuple[int, int, int], heads: int, *, training: bool) -> int:
    """Of a step of the block on batch x length x width: `training_flops` for each token, a third of it forward."""
    batch, length, width = shape
    parameters = 12 * width * width  # four projections, and four times the width up and down again
    whole = batch * length * training_flops(parameters, 1, heads, width // heads, length)
    return whole if training else whole // 3


def training_step(forward: Callable[..., Any], module: nn.Module) -> Callable[..., Tuple[torch.Tensor, ...]]:
    """A step of gradient descent; it returns the loss and the gradient of each parameter."""

    def step(inputs: torch.Tensor) -> Tuple[torch.Tensor, ...]:
        module.zero_grad(set_to_none=True)
        with torch.enable_grad():
            loss = forward(inputs).square().mean()
            loss.backward()
        gradients: Tuple[Any, ...] = tuple(parameter.grad for parameter in module.parameters())
        with torch.no_grad():
            for parameter, gradient in zip(module.parameters(), gradients):  # noqa: B905 - strict= is not in Python 3.9
                parameter.sub_(gradient, alpha=1e-3)
        return (loss, *gradients)

    return step
