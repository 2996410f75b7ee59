"""Names of devices."""

import pytest

from orchestrator.running import gpus
from suites.devices.names import partition, short


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "A100"),
        ("NVIDIA GeForce RTX 4090", "RTX4090"),
        ("NVIDIA RTX A6000", "A6000"),
        ("NVIDIA GeForce GTX 1080 Ti", "GTX1080"),
        ("Intel(R) Data Center GPU Flex 170", "Flex170"),
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


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA H100 80GB HBM3",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        "NVIDIA RTX 6000 Ada Generation",
        "NVIDIA RTX A6000",
        "Quadro RTX 8000",
        "NVIDIA GeForce RTX 2080 Ti",
        "NVIDIA GeForce RTX 4080 SUPER",
        "NVIDIA GB200",
        "AMD Instinct MI300X",
        "AMD Radeon RX 7900 XTX",
        "AMD Radeon RX 9070 XT",
        "AMD Radeon Pro W7900",
        "Intel(R) Data Center GPU Max 1550",
        "Intel(R) Arc(TM) Pro B60 Graphics",
    ],
)
def test_a_run_has_the_gpu_that_its_host_has(name: str) -> None:
    assert short(name) == gpus.short_name(name) != ""


def test_partition() -> None:
    assert partition("NVIDIA H100 MIG 1c.4g.48gb") == "1c.4g.48gb"
    assert partition("NVIDIA A100-SXM4-40GB MIG 1g.5gb") == "1g.5gb"
    assert partition("NVIDIA H100 80GB HBM3") == "whole"
