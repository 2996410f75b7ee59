"""How work and traffic are counted. A figure is worth nothing without its convention: each is written here once."""

from __future__ import annotations

from typing import Callable, Dict

_BUS_FACTOR: Dict[str, Callable[[int], float]] = {
    # nccl-tests, doc/PERFORMANCE.md: what the slowest link must carry, in units of the size.
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "broadcast": lambda _: 1.0,
}


def matmul_flops(batch: int, m: int, n: int, k: int) -> int:
    """A multiplication and an addition for each product."""
    return 2 * batch * m * n * k


def attention_flops(batch: int, heads: int, length: int, width: int, causal: bool) -> int:
    """Two matrix products, forward. Causal attention counts half, as flash-attention does and torch does not."""
    whole = 4 * batch * heads * length * length * width
    return whole // 2 if causal else whole


def algorithm_bandwidth(total: int, seconds: float) -> float:
    """GB/s (1e9): `total` is the bytes of the whole result, over all ranks for all_gather and reduce_scatter."""
    return total / seconds / 1e9


def bus_bandwidth(operation: str, ranks: int, total: int, seconds: float) -> float:
    """GB/s that the links carried, comparable between operations and numbers of ranks; 0 for one rank."""
    return algorithm_bandwidth(total, seconds) * _BUS_FACTOR[operation](ranks)
