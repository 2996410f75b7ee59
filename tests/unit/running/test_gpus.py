from pathlib import Path

import pytest

from orchestrator.running import gpus

VERSION = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\nGCC version: …\n"
OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder@U22)\n"


def never() -> str:
    raise AssertionError("nvidia-smi was asked")


def put(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)


@pytest.mark.parametrize(
    ("printed", "short"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H100 NVL", "H100"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA GH200 480GB", "GH200"),
        ("NVIDIA GB200", "GB200"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("A100-PCIE-40GB", "A100"),
        ("NVIDIA A10G", "A10G"),
        ("NVIDIA A10", "A10"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA L4", "L4"),
        ("Tesla T4", "T4"),
        ("Tesla V100-SXM2-16GB", "V100"),
        ("Tesla P100-PCIE-16GB", "P100"),
        ("NVIDIA GeForce RTX 4090", "RTX4090"),
        ("NVIDIA GeForce RTX 2080 Ti", "RTX2080Ti"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX6000Ada"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTXPRO6000"),
        ("AMD Instinct MI300X OAM", "MI300X"),
        ("AMD Instinct MI210", "MI210"),
        ("AMD Radeon RX 7900 XTX", "RX7900XTX"),
        ("AMD Radeon Pro W7900", "W7900"),
        ("Intel(R) Data Center GPU Max 1550", "Max1550"),
        ("Intel(R) Arc(TM) B580 Graphics", "B580"),
        ("AMD Radeon Graphics", ""),
        ("", ""),
    ],
)
def test_a_printed_name_has_a_short_one(printed: str, short: str) -> None:
    assert gpus.short_name(printed) == short


def test_a_machine_without_a_gpu(tmp_path: Path) -> None:
    assert gpus.find(tmp_path, never) == {}


@pytest.mark.parametrize(("version", "driver"), [(VERSION, "535.104.05"), (OPEN, "580.65.06")])
def test_nvidia_by_the_kernels_files_alone(tmp_path: Path, version: str, driver: str) -> None:
    put(
        tmp_path / "proc/driver/nvidia",
        {
            "version": version,
            "gpus/0000:1b:00.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ: 1\n",
            "gpus/0000:29:00.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\n",
        },
    )
    assert gpus.find(tmp_path, never) == {"driver": driver, "gpu": "H100", "gpus": "2"}


def test_nvidia_smi_is_asked_where_the_kernel_lists_no_device(tmp_path: Path) -> None:
    put(tmp_path / "proc/driver/nvidia", {"version": VERSION})
    assert gpus.find(tmp_path, lambda: "535.104.05, NVIDIA A100-SXM4-80GB\n") == {
        "driver": "535.104.05",
        "gpu": "A100",
        "gpus": "1",
    }
    assert gpus.find(tmp_path, lambda: "") == {}
    assert gpus.find(tmp_path, lambda: "NVIDIA-SMI has failed because it couldn't communicate\n") == {}


def test_of_two_kinds_the_more_numerous_is_told(tmp_path: Path) -> None:
    put(tmp_path / "proc/driver/nvidia", {"version": VERSION})
    rows = ["NVIDIA T400", "NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB"]
    found = gpus.find(tmp_path, lambda: "".join(f"535.104.05, {name}\n" for name in rows))
    assert (found["gpu"], found["gpus"]) == ("A100", "2")


def test_nvidia_smi_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\nexec sleep 60\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(gpus, "DEADLINE_S", 0.1)
    assert gpus.ask_nvidia() == ""


def amd(root: Path, cards: int, nodes: int) -> None:
    put(root, {"sys/class/kfd/kfd/topology/nodes/0/properties": "cpu_cores_count 64\nsimd_count 0\n"})
    for node in range(1, nodes + 1):
        put(root, {f"sys/class/kfd/kfd/topology/nodes/{node}/properties": "cpu_cores_count 0\nsimd_count 1216\n"})
    for card in range(cards):
        put(root, {f"sys/class/drm/card{card}/device/vendor": "0x1002\n"})


def test_amd_by_product_name(tmp_path: Path) -> None:
    amd(tmp_path, cards=1, nodes=1)
    put(
        tmp_path,
        {
            "sys/module/amdgpu/version": "6.10.5\n",
            "sys/class/drm/card0/device/product_name": "AMD Instinct MI300X OAM\n",
            "sys/class/drm/card0-DP-1/status": "disconnected\n",
        },
    )
    assert gpus.find(tmp_path, never) == {"driver": "6.10.5", "gpu": "MI300X", "gpus": "1"}


def test_amd_by_device_id_with_the_kernels_own_driver(tmp_path: Path) -> None:
    amd(tmp_path, cards=2, nodes=2)
    put(tmp_path, {f"sys/class/drm/card{card}/device/device": "0x740F\n" for card in range(2)})
    assert gpus.find(tmp_path, never) == {"gpu": "MI210", "gpus": "2"}


def test_amd_cards_that_rocm_has_not_taken_are_no_gpus(tmp_path: Path) -> None:
    amd(tmp_path, cards=1, nodes=0)
    assert gpus.find(tmp_path, never) == {}


def test_an_amd_gpu_without_a_known_name_still_counts(tmp_path: Path) -> None:
    amd(tmp_path, cards=0, nodes=4)
    assert gpus.find(tmp_path, never) == {"gpus": "4"}


def intel(root: Path, address: str, device: str) -> None:
    place = root / "sys/devices/pci0000:00" / address
    put(place, {"vendor": "0x8086\n", "device": f"{device}\n"})
    card = root / "sys/class/drm/card0"
    card.mkdir(parents=True)
    (card / "device").symlink_to(place)


def test_intel_discrete(tmp_path: Path) -> None:
    intel(tmp_path, "0000:03:00.0", "0xe20b")
    assert gpus.find(tmp_path, never) == {"gpu": "B580", "gpus": "1"}


def test_intel_graphics_inside_a_cpu_are_no_gpu(tmp_path: Path) -> None:
    intel(tmp_path, "0000:00:02.0", "0x4680")
    assert gpus.find(tmp_path, never) == {}
