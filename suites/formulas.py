"""How work and traffic are counted. A figure is worth nothing without its convention: each is written here once.

The words in capitals are what a metric row's `formula` says: two figures of two formulas are not of one series.
"""

from __future__ import annotations

from typing import Callable, Dict, Optional, Tuple

MATMUL = "2mnk"
ATTENTION = "2BHS(D+Dv)T"
ATTENTION_CAUSAL = "2BHS(D+Dv)T, T of the mask's mean row"
TRAINING = "6N+12LHQT a token"
TRAFFIC = "read+written"
"""Each operand once and the result once: the least that memory must carry, whatever an implementation moves beside."""
COPIED = "copied"
"""Each byte that arrives, once."""
BUS = "nccl-tests busbw"

BACKWARD = {"matmul": 2.0, "attention": 2.5}
"""The backward pass in units of the forward: two products for each; flash-attention recomputes one of its two, so five
for two (benchmarks/benchmark_flash_attention.py)."""
BACKWARD_TRAFFIC = 2
"""The same of the traffic: of a product two more, each of which reads and writes three matrices of these shapes; of
attention the operands, the result and what flows back are read, and the gradients of all operands are written."""

TOO_GOOD = 1.02
"""A fraction of what is attainable above this is an error in the data (a peak, a count or a clock), not a result."""

_BUS_FACTOR: Dict[str, Callable[[int], float]] = {
    # nccl-tests, doc/PERFORMANCE.md and src/*.cu @ a0b82b22: what the slowest link must carry, in units of the size.
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "gather": lambda n: (n - 1) / n,
    "scatter": lambda n: (n - 1) / n,
    "broadcast": lambda _: 1.0,
    "reduce": lambda _: 1.0,
    "sendrecv": lambda _: 1.0,
}


def matmul_flops(batch: int, m: int, n: int, k: int) -> int:
    """A multiplication and an addition for each product."""
    return 2 * batch * m * n * k


def matmul_traffic(batch: int, m: int, n: int, k: int, element: int, result: int) -> int:
    """Bytes; `element` is the size of an operand's number, `result` that of a result's.

    NVIDIA's Matrix Multiplication Background User's Guide counts so: MNK / (MK + NK + MN) operations a byte in fp16.
    """
    return batch * ((m * k + k * n) * element + m * n * result)


def attention_traffic(
    batch: int, heads: int, length: int, width: int, element: int, *, keys: int, key_heads: int
) -> int:
    """Bytes: query, key, value and result, however many keys a mask hides (FlashInfer, testing/utils.py)."""
    return 2 * batch * width * element * (heads * length + key_heads * keys)


def attention_flops(
    batch: int,
    heads: int,
    length: int,
    width: int,
    causal: bool,
    *,
    keys: Optional[int] = None,
    value_width: Optional[int] = None,
) -> int:
    """Two matrix products, forward; `heads` are the query's, also where several share a key (grouped heads).

    A causal mask leaves on average (max(0, keys - length) + keys) / 2 keys to a query, as flash-attention's
    hopper/benchmark_attn.py counts it: half of them where both lengths are the same. torch's counter ignores the mask.
    """
    keys = length if keys is None else keys
    widths = width + (width if value_width is None else value_width)
    if causal:
        return batch * heads * length * (max(0, keys - length) + keys) * widths
    return 2 * batch * heads * length * keys * widths


def training_flops(parameters: int, layers: int, heads: int, width: int, length: int) -> int:
    """Of a training step, for each token: 6 for each parameter of a matrix product, and the attention's products.

    Karpathy's nanochat, gpt.py:estimate_flops; PaLM, appendix B. `parameters` leaves embeddings out.
    """
    return 6 * parameters + 12 * layers * heads * width * length


def attainable(flops: float, traffic: float, peak_tflops: Optional[float], gbps: Optional[float]) -> float:
    """The roofline, as the least seconds that the work can take: what its operations need, or what its bytes need.

    min(peak, intensity * bandwidth) is `flops` over these seconds. Where a rate or a count is missing, the other
    decides alone; 0 where neither is known.
    """
    computing = flops / (peak_tflops * 1e12) if flops and peak_tflops else 0.0
    moving = traffic / (gbps * 1e9) if traffic and gbps else 0.0
    return max(computing, moving)


def fraction(least: float, seconds: float) -> Tuple[float, str]:
    """The share of the attainable rate, and why it cannot be true, or an empty text."""
    share = least / seconds
    if share > TOO_GOOD:
        return share, f"data error: {share:.3g} of what is attainable, {TOO_GOOD} at most can be"
    return share, ""


def algorithm_bandwidth(total: int, seconds: float) -> float:
    """GB/s (1e9): `total` is the bytes of the whole result, over all ranks where each has a part."""
    return total / seconds / 1e9


def bus_bandwidth(operation: str, ranks: int, total: int, seconds: float) -> float:
    """GB/s that the links carried, comparable between operations and numbers of ranks; 0 for one rank."""
    if ranks < 2:
        return 0.0
    return algorithm_bandwidth(total, seconds) * _BUS_FACTOR[operation](ranks)
