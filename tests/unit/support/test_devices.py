from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.support.devices import Devices, count_in, slice_in
from orchestrator.support.facts import Facts

# As torch, nvidia-smi, rocm-smi and people print them.
PRINTED = {
    "NVIDIA H100 80GB HBM3": ("sm_90", "datacenter"),
    "NVIDIA H100 PCIe": ("sm_90", "datacenter"),
    "NVIDIA H200": ("sm_90", "datacenter"),
    "NVIDIA GH200 480GB": ("sm_90", "datacenter"),
    "NVIDIA A100-SXM4-40GB": ("sm_80", "datacenter"),
    "NVIDIA A10G": ("sm_86", "datacenter"),
    "NVIDIA L40S": ("sm_89", "datacenter"),
    "NVIDIA L4": ("sm_89", "datacenter"),
    "Tesla V100-SXM2-16GB": ("sm_70", "datacenter"),
    "Tesla P100-PCIE-16GB": ("sm_60", "datacenter"),
    "Tesla T4": ("sm_75", "datacenter"),
    "NVIDIA B200": ("sm_100", "datacenter"),
    "NVIDIA GeForce RTX 4090": ("sm_89", "geforce"),
    "NVIDIA GeForce RTX 4090 Laptop GPU": ("sm_89", "geforce"),
    "NVIDIA GeForce RTX 5090": ("sm_120", "geforce"),
    "NVIDIA GeForce RTX 3060 Ti": ("sm_86", "geforce"),
    "NVIDIA GeForce GTX 1080 Ti": ("sm_61", "geforce"),
    "NVIDIA RTX A6000": ("sm_86", "workstation"),
    "NVIDIA RTX 6000 Ada Generation": ("sm_89", "workstation"),
    "AMD Instinct MI300X": ("gfx942", "datacenter"),
    "AMD Instinct MI250X": ("gfx90a", "datacenter"),
    "Intel(R) Arc(TM) Pro A40/A50 Graphics": ("arc_a", "workstation"),
    "Intel(R) Arc(TM) A770 Graphics": ("arc_a", "consumer"),
    "AMD Radeon RX 7900 XTX": ("gfx1100", "consumer"),
}


def test_the_first_pattern_in_a_name_decides(world: SimpleNamespace) -> None:
    ti, plain = world.device("RTX 3060 Ti", r"\b3060 ?Ti\b"), world.device("RTX 3060", r"\b3060\b", "old 3060")
    devices = Devices([ti, plain])
    assert devices.find("NVIDIA GeForce RTX 3060 Ti") is ti
    assert devices.find("nvidia geforce rtx  3060\n") is plain
    assert devices.find("RTX 3070") is None
    assert devices.find("") is None


def test_a_name_that_was_looked_up_is_found_again(world: SimpleNamespace) -> None:
    devices = Devices([world.device("H100")])
    assert devices.find("H100") is devices.find("H100") is not None


def test_a_long_name_is_cut(world: SimpleNamespace) -> None:
    assert Devices([world.device("H100")]).find("x" * 500 + "H100") is None


@given(st.text(max_size=200))
def test_no_name_is_an_error(real: Facts, name: str) -> None:
    count, rest = count_in(name)
    slice_in(rest)
    assert count == "" or count.isdigit()
    real.devices.find(name)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("8x H100", ("8", "H100")),
        ("8 \N{MULTIPLICATION SIGN} H100", ("8", "H100")),
        ("8*H100", ("8", "H100")),
        ("H100", ("", "H100")),
    ],
)
def test_a_count_before_a_name(name: str, parts: tuple[str, str]) -> None:
    assert count_in(name) == parts


def test_a_slice_behind_a_name() -> None:
    assert slice_in("NVIDIA H100 80GB HBM3 MIG 1g.10gb") == ("NVIDIA H100 80GB HBM3", "1g.10gb")
    assert slice_in("NVIDIA H100") == ("NVIDIA H100", "")


@pytest.mark.parametrize("name", PRINTED)
def test_a_name_that_torch_prints_is_known(real: Facts, name: str) -> None:
    device = real.devices.find(name)
    assert device is not None
    assert (device.arch, device.class_) == PRINTED[name]


def test_each_device_is_found_by_its_own_name(real: Facts) -> None:
    """The family stands in matrices: read again, it must be the same device."""
    strays = {}
    for device in real.file.devices:
        found = real.devices.find(device.family)
        if found is not device and (found is None or (found.family, found.arch) != (device.family, device.arch)):
            strays[device.family] = found and found.family
    assert strays == {}


def test_ids_are_given_once(real: Facts) -> None:
    ids = [device.id for device in real.file.devices]
    assert len(ids) == len(set(ids))
