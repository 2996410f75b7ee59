"""Names of devices."""

import pytest

from suites.devices.names import partition, short


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "A100"),
        ("NVIDIA GeForce RTX 4090", "RTX4090"),
        ("NVIDIA RTX A6000", "RTXA6000"),
        ("NVIDIA L4", "L4"),
        ("Tesla T4", "T4"),
        ("NVIDIA GH200 480GB", "GH200"),
        ("AMD Instinct MI300X", "MI300X"),
        ("Intel(R) Data Center GPU Max 1550", "Max1550"),
        ("Something else", "Something-else"),
        ("", "unknown"),
    ],
)
def test_one_word(name: str, expected: str) -> None:
    assert short(name) == expected


def test_partition() -> None:
    assert partition("NVIDIA A100-SXM4-40GB MIG 1g.5gb") == "1g.5gb"
    assert partition("NVIDIA H100 80GB HBM3") == "whole"
