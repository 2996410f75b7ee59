"""Conventions, held to figures worked out by hand."""

import pytest

from suites.formulas import algorithm_bandwidth, attention_flops, bus_bandwidth, matmul_flops


def test_matmul_counts_two_for_each_product() -> None:
    assert matmul_flops(1, 2, 3, 4) == 48
    assert matmul_flops(8, 64, 64, 64) == 4_194_304


def test_attention_is_two_products_and_half_of_it_when_causal() -> None:
    assert attention_flops(2, 4, 128, 64, causal=False) == 33_554_432
    assert attention_flops(2, 4, 128, 64, causal=True) == 16_777_216


def test_algorithm_bandwidth_is_in_billions() -> None:
    assert algorithm_bandwidth(2_000_000_000, 0.5) == 4.0


@pytest.mark.parametrize(
    ("operation", "ranks", "expected"),
    [
        ("all_reduce", 2, 1.0),
        ("all_reduce", 8, 1.75),
        ("all_gather", 2, 0.5),
        ("reduce_scatter", 4, 0.75),
        ("all_to_all", 8, 0.875),
        ("broadcast", 8, 1.0),
        ("all_reduce", 1, 0.0),
    ],
)
def test_bus_bandwidth_has_the_factors_of_nccl_tests(operation: str, ranks: int, expected: float) -> None:
    assert bus_bandwidth(operation, ranks, 10**9, 1.0) == pytest.approx(expected)
