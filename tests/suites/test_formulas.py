"""Conventions, held to figures worked out by hand and to published ones; the source stands beside each."""

import pytest

from suites import formulas, peaks
from suites.formulas import algorithm_bandwidth, attainable, attention_flops, bus_bandwidth, fraction, matmul_flops


def test_matmul_counts_two_for_each_product() -> None:
    assert matmul_flops(1, 2, 3, 4) == 48
    assert matmul_flops(8, 64, 64, 64) == 4_194_304


def test_attention_is_two_products_and_half_of_it_when_causal() -> None:
    # flash-attention, benchmarks/benchmark_flash_attention.py: `flops` there halves under a causal mask
    assert attention_flops(2, 4, 128, 64, causal=False) == 33_554_432
    assert attention_flops(2, 4, 128, 64, causal=True) == 16_777_216


@pytest.mark.parametrize(
    ("length", "keys", "causal", "expected"),
    [
        # flash-attention, hopper/benchmark_attn.py: batch * nheads * 2 * seqlen_q * avg_seqlen * (headdim + headdim_v),
        # avg_seqlen = (max(0, seqlen_k - seqlen_q) + seqlen_k) / 2 under a causal mask, else seqlen_k
        (1, 1024, False, 2 * 1 * 1024 * 128),
        (1, 1024, True, 2 * 1 * (1023 + 1024) // 2 * 128),
        (1024, 4096, True, 2 * 1024 * (3072 + 4096) // 2 * 128),
        (4096, 1024, True, 2 * 4096 * 1024 // 2 * 128),
    ],
)
def test_attention_of_two_lengths(length: int, keys: int, causal: bool, expected: int) -> None:
    assert attention_flops(1, 1, length, 64, causal, keys=keys) == expected


def test_attention_with_other_values_and_its_backward_pass() -> None:
    assert attention_flops(1, 1, 8, 192, False, value_width=128) == 2 * 8 * 8 * (192 + 128)
    assert formulas.BACKWARD == {"matmul": 2.0, "attention": 2.5}  # forward and backward: 3 and 3.5 times the forward


@pytest.mark.parametrize(
    ("m", "n", "k", "intensity"),
    [
        # NVIDIA, Matrix Multiplication Background User's Guide: MNK / (MK + NK + MN) operations a byte of fp16; its
        # examples are 8192 x 128 x 8192 (124.1, bound by memory on a V100) and 8192^3 (2730)
        (8192, 128, 8192, 124.1),
        (8192, 8192, 8192, 2730.7),
    ],
)
def test_a_product_reads_both_operands_and_writes_the_result(m: int, n: int, k: int, intensity: float) -> None:
    moved = formulas.matmul_traffic(1, m, n, k, 2, 2)
    assert matmul_flops(1, m, n, k) / moved == pytest.approx(intensity, abs=0.05)
    assert formulas.matmul_traffic(3, m, n, k, 2, 2) == 3 * moved


def test_a_product_of_narrow_numbers_writes_wider_ones() -> None:
    assert formulas.matmul_traffic(1, 2, 3, 4, 1, 2) == (8 + 12) * 1 + 6 * 2


@pytest.mark.parametrize(
    ("queries", "keys", "key_heads", "expected"),
    [
        # FlashInfer, testing/utils.py:attention_tb_per_sec: query, key, value and result, in bf16
        (1024, 1024, 8, 4 * 1024 * 8 * 64 * 2),
        (1, 1024, 8, (2 * 1 * 8 + 2 * 1024 * 8) * 64 * 2),
        (1024, 1024, 2, (2 * 1024 * 8 + 2 * 1024 * 2) * 64 * 2),
    ],
)
def test_attention_reads_three_and_writes_one(queries: int, keys: int, key_heads: int, expected: int) -> None:
    assert formulas.attention_traffic(1, 8, queries, 64, 2, keys=keys, key_heads=key_heads) == expected


def test_the_backward_pass_moves_twice_as_much() -> None:
    m, n, k = 5, 7, 11
    two_products = formulas.matmul_traffic(1, m, k, n, 4, 4) + formulas.matmul_traffic(1, k, n, m, 4, 4)
    assert two_products == formulas.BACKWARD_TRAFFIC * formulas.matmul_traffic(1, m, n, k, 4, 4)


def test_algorithm_bandwidth_is_in_billions() -> None:
    assert algorithm_bandwidth(2_000_000_000, 0.5) == 4.0


@pytest.mark.parametrize(
    ("operation", "ranks", "expected"),
    [
        # NVIDIA/nccl-tests doc/PERFORMANCE.md; for gather, scatter and sendrecv the GetBw functions of src
        ("all_reduce", 2, 1.0),
        ("all_reduce", 8, 1.75),
        ("all_gather", 2, 0.5),
        ("all_gather", 8, 0.875),
        ("reduce_scatter", 4, 0.75),
        ("all_to_all", 8, 0.875),
        ("gather", 8, 0.875),
        ("scatter", 4, 0.75),
        ("broadcast", 8, 1.0),
        ("reduce", 8, 1.0),
        ("sendrecv", 8, 1.0),
        ("all_reduce", 1, 0.0),
        ("broadcast", 1, 0.0),
    ],
)
def test_bus_bandwidth_has_the_factors_of_nccl_tests(operation: str, ranks: int, expected: float) -> None:
    assert bus_bandwidth(operation, ranks, 10**9, 1.0) == pytest.approx(expected)


def test_a_training_step_by_the_token() -> None:
    # GPT-2 124M as nanoGPT counts it (model.py:estimate_mfu): 12 layers, 12 heads of 64, T = 1024
    per_token = formulas.training_flops(124_000_000, 12, 12, 64, 1024)
    assert per_token == 6 * 124_000_000 + 12 * 12 * 12 * 64 * 1024 == 857_246_208


def mfu(flops: float, peak: float) -> float:
    """As `roofline` has it of a model: of operations that a device does in a second."""
    return fraction(attainable(flops, 0, peak, None), 1.0)[0]


MPT = {"7b": (32, 32, 128), "125m": (12, 12, 64)}
"""Layers, heads and their width: mosaicml/llm-foundry, scripts/train/yamls/pretrain/mpt-7b.yaml and mpt-125m.yaml."""


@pytest.mark.parametrize(
    ("name", "model", "parameters", "length", "devices", "tokens", "published"),
    [
        # mosaicml/llm-foundry, scripts/train/benchmarking/README.md @ 061f2c7c: tokens a second as measured, MFU in per
        # cent as published
        ("NVIDIA H100 80GB HBM3", "7b", 6_658_859_008, 2048, 8, 85_144, 46.44),
        ("NVIDIA H100 80GB HBM3", "7b", 6_654_664_704, 1024, 8, 81_628, 42.83),
        ("NVIDIA A100-SXM4-80GB", "125m", 125_311_488, 2048, 8, 1_142_641, 44.79),
        ("NVIDIA A100-SXM4-40GB", "7b", 6_658_859_008, 2048, 8, 29_436, 50.92),
        ("NVIDIA A100-SXM4-40GB", "7b", 6_717_579_264, 16384, 8, 17_998, 47.65),
    ],
)
def test_published_utilisation(
    name: str, model: str, parameters: int, length: int, devices: int, tokens: int, published: float
) -> None:
    layers, heads, width = MPT[model]
    peak = peaks.find(name).tflops["bf16"]
    counted = formulas.training_flops(parameters, layers, heads, width, length)
    assert mfu(counted * tokens / devices, peak) * 100 == pytest.approx(published, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "units", "tokens", "expected"),
    [
        # Of these no published figure with its tokens was found: by hand, 857,246,208 operations a token of GPT-2 over
        # the dense bf16 peak (121, 1307.4 and 989 * 16 / 132 TFLOP/s)
        ("NVIDIA L4", None, 60_000, 0.42508),
        ("AMD Instinct MI300X", 304, 600_000, 0.39342),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", 16, 60_000, 0.42906),
    ],
)
def test_mfu_is_of_the_dense_peak(name: str, units: int | None, tokens: int, expected: float) -> None:
    peak = peaks.find(name, units).tflops["bf16"]
    assert mfu(857_246_208 * tokens, peak) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "units", "ridge"),
    [
        # the intensity (operations a byte) at which both roofs meet: dense bf16 peak over bandwidth
        ("NVIDIA H100 80GB HBM3", 132, 989e12 / 3350e9),
        ("NVIDIA A100-SXM4-80GB", 108, 312e12 / 2039e9),
        ("NVIDIA L4", None, 121e12 / 300e9),
        ("AMD Instinct MI300X", 304, 1307.4e12 / 5300e9),
        # 16 of the 132 SMs, and one of the eight parts of the memory
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", 16, (989e12 * 16 / 132) / (3350e9 / 8)),
    ],
)
def test_the_roofline_has_two_sides(name: str, units: int | None, ridge: float) -> None:
    peak = peaks.find(name, units)
    assert peak.gbps is not None
    moved = 10**9
    seconds = moved / (peak.gbps * 1e9)
    below = attainable(ridge / 2 * moved, moved, peak.tflops["bf16"], peak.gbps)
    above = attainable(ridge * 2 * moved, moved, peak.tflops["bf16"], peak.gbps)
    assert below == pytest.approx(seconds), "memory bound"
    assert above == pytest.approx(2 * seconds), "compute bound"


def test_what_is_not_known_leaves_the_other_roof() -> None:
    assert attainable(10**12, 10**9, None, 1000.0) == 1e-3
    assert attainable(10**12, 10**9, 1.0, None) == 1.0
    assert attainable(10**12, 0, None, 1000.0) == 0.0


@pytest.mark.parametrize(("seconds", "said"), [(2.0, False), (1.0, False), (0.985, False), (0.97, True)])
def test_more_than_is_attainable_is_an_error_in_the_data(seconds: float, said: bool) -> None:
    share, why = fraction(1.0, seconds)
    assert share == pytest.approx(1 / seconds)
    assert why.startswith("data error: ") is said
