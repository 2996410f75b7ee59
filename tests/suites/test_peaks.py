"""Peaks: dense, of the right card, of the slice that torch sees; and the file is what the facts say."""

import importlib.util
from pathlib import Path

import pytest

from suites import peaks
from suites.peaks import NoPeak, find

GENERATOR = Path(__file__).parents[1] / "generate_peaks.py"


def test_the_file_is_what_the_facts_say() -> None:
    found = importlib.util.spec_from_file_location("generate_peaks", GENERATOR)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    assert peaks.FILE.read_text(encoding="utf-8") == module.rendered(), "run `make facts`"


@pytest.mark.parametrize(
    ("name", "precision", "tflops", "gbps"),
    [
        ("NVIDIA H100 80GB HBM3", "bf16", 989, 3350),  # 1979 is with sparsity
        ("NVIDIA H100 80GB HBM3", "tf32", 494.5, 3350),  # 156 is the A100's
        ("NVIDIA H100 PCIe", "bf16", 756, 2000),
        ("NVIDIA H100 NVL", "bf16", 835.5, 3900),
        ("NVIDIA H200", "bf16", 989, 4800),
        ("NVIDIA H200 NVL", "bf16", 840, 4800),
        ("NVIDIA H20", "bf16", 148, 4000),
        ("NVIDIA A100-SXM4-80GB", "fp64", 19.5, 2039),  # the matrix unit's, which products run on
        ("NVIDIA A100-PCIE-40GB", "fp16", 312, 1555),
        ("NVIDIA L4", "fp8", 242, 300),  # 485 is with sparsity, 3350 GB/s the H100's
        ("NVIDIA L40S", "bf16", 362.05, 864),
        ("Tesla T4", "fp16", 65, 320),
        ("NVIDIA GeForce RTX 4090", "fp16", 165.2, 1008),  # 330.3 sums in fp16, and torch does not
        ("AMD Instinct MI300X", "bf16", 1307.4, 5300),
    ],
)
def test_a_whole_device(name: str, precision: str, tflops: float, gbps: float) -> None:
    peak = find(name)
    assert (peak.tflops[precision], peak.gbps, peak.share) == (tflops, gbps, "")
    assert len(peak.source) > 10


@pytest.mark.parametrize(
    ("name", "units", "bf16", "gbps"),
    [
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", 16, 989 * 16 / 132, 3350 / 8),
        ("NVIDIA H100 80GB HBM3 MIG 1g.20gb", 26, 989 * 26 / 132, 3350 / 4),  # SMs as in NVIDIA/gpu-operator#900
        ("NVIDIA GH200 480GB MIG 2g.24gb", 32, 989 * 32 / 132, 4000 / 4),  # as in NVIDIA/mig-parted#139
        ("NVIDIA H100 80GB HBM3 MIG 7g.80gb", 132, 989, 3350),
        ("NVIDIA A100 80GB PCIe MIG 1g.10gb", 14, 312 * 14 / 108, 1940 / 8),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb+me", 14, 312 * 14 / 108, 1555 / 8),
        ("NVIDIA H200 MIG 2g.35gb", 32, 989 * 32 / 132, 4800 / 4),
        ("NVIDIA A30 MIG 1g.6gb", None, 165 / 4, 933 / 4),
        ("NVIDIA A30 MIG 1c.2g.12gb", None, 165 / 4, 933 / 2),  # a compute instance: one slice of two, memory of both
        ("NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb", 14, 312 * 14 / 108, 1555 / 2),
        ("AMD Instinct MI300X", 304, 1307.4, 5300),
        ("AMD Instinct MI300X", 38, 1307.4 / 8, 5300 / 8),  # CPX: torch prints the name of the whole
        ("AMD Instinct MI250X", 110, 383 / 2, 3280 / 2),  # each of its two dies is a device
        ("AMD Instinct MI250X", None, 383 / 2, 3280 / 2),
        ("Intel(R) Data Center GPU Max 1550", 512, 340.8, 3276.8 / 2),
        ("Intel(R) Data Center GPU Max 1550", 448, 298.2, 3276.8 / 2),  # the same name on fewer engines
    ],
)
def test_a_slice_has_its_share(name: str, units: int | None, bf16: float, gbps: float) -> None:
    peak = find(name, units)
    assert peak.gbps == pytest.approx(gbps)
    assert peak.tflops["bf16"] == pytest.approx(bf16)
    assert bool(peak.share) == (bf16 not in {989, 1307.4})
    assert peak.name.startswith(peak.device)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("NVIDIA A10G", "no sourced dense rate is known of a10g"),
        ("NVIDIA A10M", "no "),
        ("AMD Instinct MI308X", "no sourced dense rate is known of mi308x"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "no sourced dense rate"),
        ("Something else", "no peak rate is known of `Something else`"),
        ("", "no peak rate is known of ``"),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "the name of a slice of h100-sxm5-80 does not tell its share"),
        ("NVIDIA GeForce RTX 4090 MIG 1g.6gb", "rtx-4090 is not known to be cut into slices"),
    ],
)
def test_no_rate_is_told_where_none_is_sourced(name: str, said: str) -> None:
    with pytest.raises(NoPeak, match=said):
        find(name)


def test_a_device_with_a_bandwidth_only_has_no_rates() -> None:
    peak = find("AMD Radeon PRO W7900")
    assert (dict(peak.tflops), peak.gbps) == ({}, 864)


def test_a_rate_of_the_vector_unit_is_no_peak_of_products() -> None:
    rates = find("AMD Instinct MI250").tflops
    assert rates["fp64"] == 90.5 / 2
    assert "fp32" not in rates, "45.3 is printed, of vectors; that of matrices is not"


def test_every_row_has_a_source_and_a_name_finds_it() -> None:
    read = peaks._read()
    for row in read["devices"]:
        if "source" in row:
            assert read["sources"][row["source"]]
