"""Gradients: a step that returns a result together with the gradients of its inputs, for loads that are no model."""

from __future__ import annotations

from typing import Any, Callable, Tuple

import torch

_UPSTREAM = (-1.0, 0.5, 1.0)  # what flows back, in turn: exact in every precision, so the reference has the same


def of_inputs(forward: Callable[..., Any], _: Any) -> Callable[..., Tuple[torch.Tensor, ...]]:
    """The `drive` of a work: its step gives the forward result and the gradient of each input."""

    def step(*inputs: torch.Tensor) -> Tuple[torch.Tensor, ...]:
        with torch.enable_grad():
            leaves = [one.detach().requires_grad_() for one in inputs]
            result = forward(*leaves)
            gradients = torch.autograd.grad(result, leaves, _upstream(result))
        return (result, *gradients)

    return step


def _upstream(result: torch.Tensor) -> torch.Tensor:
    pattern = torch.tensor(_UPSTREAM, dtype=result.dtype, device=result.device)
    times = -(-result.numel() // len(_UPSTREAM))
    return pattern.repeat(times)[: result.numel()].reshape(result.shape)
