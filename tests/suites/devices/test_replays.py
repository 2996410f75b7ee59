"""Each adapter's whole surface, without its device: a small fake of torch's module and replayed outputs of the driver.

The fakes hold what torch's documentation says that the calls return; what the driver tells is in tests/data/devices,
each with its source. The computation of a health check is tested in test_checks.py, with a real torch.
"""

import os
import re
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from suites.devices import adapter, checks, nvml, sysfs
from suites.throttle import harmful

DATA = Path(__file__).parents[2] / "data" / "devices"
H100 = "11111111-2222-3333-4444-555555555555"
MIB = 1 << 20
SURFACE = {
    "health": lambda one: one.health(1),
    "deep_health": lambda one: one.deep_health(60.0),
    "conditions": lambda one: one.conditions(0),
    "counters": lambda one: one.counters(0),
    "link": lambda one: one.link(0),
    "samples": lambda one: one.samples(lambda: None, 2),
    **{
        name: lambda one, name=name: getattr(one, name)()
        for name in (
            *("count", "why_missing", "place", "places", "exact", "title", "memory", "free_memory"),
            *("clear", "reset_peak"),
            *("peak", "units", "firmware", "observe", "synchronise", "timer", "e4m3"),
        )
    },
}


class Event:
    """An event of torch.cuda or torch.xpu: `elapsed_time` is in milliseconds, once the device has been waited for."""

    def __init__(self, *, enable_timing: bool) -> None:
        assert enable_timing

    def record(self) -> None:
        """On the current stream."""

    def elapsed_time(self, _: Any) -> float:
        """Milliseconds."""
        return 2.5


def told(adapter_: ModuleType) -> dict[str, Any]:
    return {name: ask(adapter_) for name, ask in SURFACE.items()}


def fields(name: str) -> dict[str, str]:
    """The lines of an output of nvidia-smi, the last of each name; its counters come after its flags."""
    return dict(re.findall(r"^\s*(\S.*?)\s*: (.*?)\s*$", (DATA / name).read_text(), re.MULTILINE))


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A torch with nothing in it, for the adapters; what is called of it is noted in `calls`."""
    made = SimpleNamespace(__version__="2.13.0", calls=[], backends=SimpleNamespace(), version=SimpleNamespace())
    made._C = SimpleNamespace(**noted(made, "_cuda_clearCublasWorkspaces"))
    monkeypatch.setitem(sys.modules, "torch", made)
    monkeypatch.setattr(checks, "exact_product", lambda place: made.calls.append(f"exact product on {place}"))
    monkeypatch.setattr(checks, "deep", lambda module, seconds: (module.__name__, seconds))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    yield made
    adapter("xpu").timer.cache_clear()


def noted(torch: Any, *names: str) -> dict[str, Callable[..., None]]:
    return {name: lambda *arguments, name=name: torch.calls.append((name, *arguments)) for name in names}


def cuda_module(torch: Any, properties: Any, free: int) -> Any:
    return SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 2,
        get_device_name=lambda _: properties.name,
        get_device_properties=lambda _: properties,
        mem_get_info=lambda index: (free - index, properties.total_memory),
        memory_reserved=lambda _: 3 * MIB,
        memory_allocated=lambda _: MIB,
        max_memory_allocated=lambda: 7 * MIB,
        nccl=SimpleNamespace(version=lambda: (2, 27, 3)),
        Event=Event,
        **noted(torch, "init", "synchronize", "empty_cache", "reset_peak_memory_stats"),
    )


def nvml_library(reasons: int) -> Any:
    """NVML with what two outputs of nvidia-smi say; all that is not in them is not supported."""
    link, counters = (fields(name) for name in ("nvidia-rtx3090-link.txt", "nvidia-rtxpro6000-counters.txt"))
    pci = re.findall(r"(Max|Current) +: (\d+)", (DATA / "nvidia-rtx3090-link.txt").read_text())
    assert link["Max"] == "16x"
    numbers = {
        "nvmlDeviceGetMaxPcieLinkGeneration": int(pci[0][1]),
        "nvmlDeviceGetCurrPcieLinkGeneration": int(pci[1][1]),
        "nvmlDeviceGetMaxPcieLinkWidth": int(pci[4][1]),
        "nvmlDeviceGetCurrPcieLinkWidth": int(pci[5][1]),
    }
    microseconds = {269: "SW Thermal Slowdown", 270: "HW Thermal Slowdown", 271: "HW Power Braking"}

    def handle(identity: bytes, out: Any) -> int:
        out._obj.value = 7
        return 0 if identity == f"GPU-{H100}".encode() else 6

    def events(_: Any, out: Any) -> int:
        out._obj.value = reasons
        return 0

    def values(_: Any, number: int, out: Any) -> int:
        for one in out[:number]:
            one.value = int(counters[microseconds[one.field]].split()[0]) * 1000
        return 0

    def processes(_: Any, count: Any, out: Any) -> int:
        count._obj.value = 2
        out[0].pid, out[1].pid = os.getpid(), 4711
        return 0

    def number(name: str) -> Callable[[Any, Any], int]:
        def answer(_: Any, out: Any) -> int:
            out._obj.value = numbers[name]
            return 0

        return answer

    return SimpleNamespace(
        nvmlDeviceGetHandleByUUID=handle,
        nvmlDeviceGetCurrentClocksEventReasons=events,
        nvmlDeviceGetFieldValues=values,
        nvmlDeviceGetComputeRunningProcesses_v3=processes,
        **{name: number(name) for name in numbers},
    )


def test_nvidia(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "_library", lambda: nvml_library(0x1))  # idle
    properties = SimpleNamespace(
        name="NVIDIA H100 80GB HBM3", major=9, minor=0, total_memory=81559 * MIB, multi_processor_count=132, uuid=H100
    )
    torch.version = SimpleNamespace(hip=None, cuda="13.0")
    torch.backends.cudnn = SimpleNamespace(version=lambda: 91002)
    torch.cuda = cuda_module(torch, properties, 80995 * MIB)

    found = told(adapter("cuda"))

    assert found["health"] == [f"cuda:{index}: 1 other processes are on it" for index in (0, 1)]
    assert torch.calls[:2] == ["exact product on cuda:0", "exact product on cuda:1"]
    assert found["deep_health"] == ("suites.devices.cuda", 60.0)
    assert found["conditions"] == {
        **dict.fromkeys(("clock_mhz", "temperature_c", "power_w")),
        "throttle": [],
        "throttled": {"software thermal slowdown": 0, "hardware thermal slowdown": 0, "hardware power brake": 0},
    }
    assert (found["count"], found["places"], found["place"]) == (2, ["cuda:0", "cuda:1"], "cuda")
    assert (found["free_memory"], found["memory"]) == (80995 * MIB - 1 + 2 * MIB, 81559 * MIB), "torch's cache is free"
    assert (found["samples"], found["timer"]) == ([0.0025, 0.0025], "cuda.Event")
    assert (found["link"], found["units"], found["peak"]) == ((4, 16, 4, 16), 132, 7 * MIB)
    axes, facts = found["observe"]
    assert (axes["gpu"], axes["partition"]) == ("H100", "whole")
    assert (facts["gpu_arch"], facts["gpu_link"], facts["nccl"]) == ("sm_90", "4x16 of 4x16", "2.27.3")
    assert ("synchronize", 1) in torch.calls
    assert [call for call in torch.calls if call[0] == "reset_peak_memory_stats"]
    assert ("_cuda_clearCublasWorkspaces",) in torch.calls


def tree(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def amd_tree(root: Path, address: str) -> None:
    """A device as amdgpu shows it, and its processes as the compute driver does (kfd_topology.c, kfd_process.c)."""
    rows = re.findall(r"^(\d+) +(\S+) +\d+ +(\d+)", (DATA / "amd-kfd-processes.txt").read_text(), re.MULTILINE)
    bus = int(address.split(":")[1], 16)
    tree(
        root,
        {
            f"bus/pci/devices/{address}/pp_dpm_sclk": (DATA / "amd-polaris-sclk.txt").read_text(),
            f"bus/pci/devices/{address}/mem_info_vram_total": str(196592 * MIB),
            f"bus/pci/devices/{address}/mem_info_vram_used": str(177386942464),
            f"bus/pci/devices/{address}/current_compute_partition": "SPX\n",
            f"bus/pci/devices/{address}/vbios_version": "113-M3000100-102\n",
            f"bus/pci/devices/{address}/ras/umc_err_count": (DATA / "amd-ras-count.txt").read_text(),
            f"bus/pci/devices/{address}/current_link_speed": "32.0 GT/s PCIe\n",
            f"bus/pci/devices/{address}/current_link_width": "8\n",
            f"bus/pci/devices/{address}/max_link_speed": "32.0 GT/s PCIe\n",
            f"bus/pci/devices/{address}/max_link_width": "16\n",
            "class/kfd/kfd/topology/nodes/0/gpu_id": "0\n",
            "class/kfd/kfd/topology/nodes/0/properties": "domain 0\nlocation_id 0\n",
            "class/kfd/kfd/topology/nodes/1/gpu_id": "51002\n",
            "class/kfd/kfd/topology/nodes/1/properties": f"simd_count 1216\ndomain 0\nlocation_id {bus << 8}\n",
            **{f"class/kfd/kfd/proc/{process}/vram_51002": memory for process, _, memory in rows},
            f"class/kfd/kfd/proc/{os.getpid()}/vram_51002": str(64 * MIB),
        },
    )
    # A table 1.6 of gpu_metrics (kgd_pp_interface.h): header, six readings, energy, clock, cycles, five residencies.
    table = struct.pack("<HBB6H2Q6I", 56, 1, 6, *[40] * 6, 1, 2, 1000, 0, 17, 3, 0, 0xFFFFFFFF)
    (root / "bus/pci/devices" / address / "gpu_metrics").write_bytes(table)


def test_amd(torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    amd_tree(tmp_path, "0000:0c:00.0")
    monkeypatch.setattr(sysfs.device_folder, "__defaults__", (tmp_path,))
    monkeypatch.setattr(sysfs.kfd_processes, "__defaults__", (tmp_path,))
    properties = SimpleNamespace(  # ROCm/ROCm#4203: torch's own text for an MI300X, and the PCI address of newer torch
        name="AMD Instinct MI300X",
        gcnArchName="gfx942:sramecc+:xnack-",
        total_memory=196592 * MIB,
        multi_processor_count=304,
        pci_domain_id=0,
        pci_bus_id=12,
        pci_device_id=0,
    )
    torch.version = SimpleNamespace(hip="7.1", cuda=None)
    torch.backends.cudnn = SimpleNamespace(version=lambda: 3005000)
    torch.cuda = cuda_module(torch, properties, 19205 * MIB)

    found = told(adapter("rocm"))

    assert found["health"][:3] == [
        "cuda:0: 1 other processes are on it",
        "cuda:0: 28.8 of 206.1 GB are free",
        "cuda:0: 1 correctable errors",
    ]
    assert sysfs.kfd_processes("0000:0c:00.0", tmp_path) == sorted([1168514, os.getpid()])
    assert sysfs.kfd_processes("0000:0d:00.0", tmp_path) is None
    assert found["conditions"] == {
        "clock_mhz": 1233.0,
        "temperature_c": None,
        "power_w": None,
        "throttle": None,
        "throttled": {"processor hot": 0, "package power limit": 17, "thermal slowdown": 3, "voltage regulator hot": 0},
    }
    assert (found["counters"], found["link"]) == (
        {"uncorrectable errors": 0, "correctable errors": 1},
        (5, 8, 5, 16),
    )
    assert (found["count"], found["e4m3"], found["timer"]) == (2, "float8_e4m3fnuz", "cuda.Event")
    axes, facts = found["observe"]
    assert (axes["gpu"], axes["partition"], facts["gpu_firmware"]) == ("MI300X", "whole", "113-M3000100-102")
    assert facts["gpu_arch"] == "gfx942:sramecc+:xnack-"


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        (b"", None),
        (struct.pack("<HBB", 120, 1, 3) + bytes(116), None),  # RDNA 3: libdrm-amdgpu-sys-rs#7, throttled while idle
        (struct.pack("<HBB", 4, 1, 8), None),
        (struct.pack("<HBB40x5I", 64, 1, 8, 1, 2, 3, 4, 5), [1, 2, 3, 4, 5]),  # 1.7 and 1.8 have one number more before
    ],
)
def test_amds_tables_that_count_and_those_that_do_not(metrics: bytes, expected: list[int] | None) -> None:
    found = sysfs.amd_throttled(metrics)
    assert (found and list(found.values())) == expected
    assert found is None or len(harmful(list(found))) == 4, "a power limit is harmless"


def intel_properties() -> Any:
    text = (DATA / "intel-b60-properties.txt").read_text()
    known = dict(re.findall(r"(\w+)='?([^',]+)'?[,\n]", text.split("(", 1)[1]))
    return SimpleNamespace(
        name=known["name"],
        uuid=known["uuid"],
        driver_version=known["driver_version"],
        total_memory=int(known["total_memory"].removesuffix("MB")) * MIB,
        max_compute_units=int(known["max_compute_units"]),
        has_fp64=0,
    )


def intel(torch: Any, monkeypatch: pytest.MonkeyPatch, root: Path, event: type) -> None:
    torch.xpu = SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 2,
        get_device_properties=lambda _: intel_properties(),
        mem_get_info=lambda _: (24000 * MIB, 24480 * MIB),
        max_memory_allocated=lambda: 5,
        Event=event,
        **noted(torch, "synchronize", "empty_cache", "reset_peak_memory_stats"),
    )
    monkeypatch.setattr(sysfs.device_folder, "__defaults__", (root,))
    monkeypatch.setattr(sysfs.drm_others, "__defaults__", (root / "proc",))
    text = (DATA / "intel-xe-fdinfo.txt").read_text().replace("0000:03:00.0", "0000:17:00.0")
    device = "bus/pci/devices/0000:17:00.0"
    tree(
        root,
        {
            # Names and forms are the driver's own: xe_gt_throttle.c @ 191db84b prints %u, xe_gt_freq.c too
            f"{device}/tile0/gt0/freq0/act_freq": "2400\n",
            f"{device}/tile0/gt0/freq0/throttle/status": "1\n",
            f"{device}/tile0/gt0/freq0/throttle/reason_pl1": "1\n",
            f"{device}/tile0/gt0/freq0/throttle/reason_thermal": "0\n",
            f"proc/{os.getpid()}/fdinfo/9": text,
            "proc/4711/fdinfo/8": text,
            "proc/4711/fdinfo/9": text,
            "proc/4712/fdinfo/3": text.replace("17:00.0", "18:00.0"),
        },
    )


def test_intel(torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    intel(torch, monkeypatch, tmp_path, Event)

    found = told(adapter("xpu"))

    assert found["health"] == [f"xpu:{index}: 1 other processes are on it" for index in (0, 1)]
    assert torch.calls[:2] == ["exact product on xpu:0", "exact product on xpu:1"]
    assert found["conditions"] == {
        "clock_mhz": 2400.0,
        "temperature_c": None,
        "power_w": None,
        "throttle": ["power limit PL1"],
    }
    assert (found["samples"], found["timer"]) == ([0.0025, 0.0025], "xpu.Event")
    assert (found["free_memory"], found["memory"], found["peak"]) == (24000 * MIB, 24480 * MIB, 5)
    assert (found["units"], found["exact"], found["count"], found["counters"]) == (160, "cpu", 2, {})
    assert found["observe"][0] == {"gpu": "B60", "compute_runtime": "1.15.38308+1"}


def test_intels_older_torch_has_events_that_tell_no_time(
    torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Untimed(Event):
        def elapsed_time(self, _: Any) -> float:
            message = "elapsed_time is not supported by XPUEvent."
            raise NotImplementedError(message)

    intel(torch, monkeypatch, tmp_path, Untimed)
    assert adapter("xpu").timer() == "perf_counter"
    assert len(adapter("xpu").samples(lambda: None, 3)) == 3


def test_intels_address_is_read_from_an_identity_that_is_made_of_it() -> None:
    pci_address = adapter("xpu").pci_address
    assert pci_address("868011e2-0000-0000-1700-000000000000") == "0000:17:00.0"
    assert pci_address("8680d50b-2f00-0000-2c00-000000000001") == "0000:2c:00.0"  # torch-xpu-ops#3583, a tile of two
    assert pci_address("d47ef340-79ec-b1ea-0000-000000000001") == ""  # torch-xpu-ops#3891
    assert pci_address("") == ""


def test_others_are_not_told_where_not_even_we_are_seen(tmp_path: Path) -> None:
    tree(tmp_path, {"4711/fdinfo/8": (DATA / "intel-xe-fdinfo.txt").read_text()})
    assert sysfs.drm_others("0000:03:00.0", 1, tmp_path) is None
    assert sysfs.drm_others("0000:03:00.0", 4711, tmp_path) == []
    assert sysfs.drm_others("", 4711, tmp_path) is None


def test_apple(torch: Any) -> None:
    torch.backends.mps = SimpleNamespace(is_available=lambda: True, is_built=lambda: True, get_core_count=lambda: 40)
    torch.mps = SimpleNamespace(
        recommended_max_memory=lambda: 18 << 30,
        driver_allocated_memory=lambda: 2 << 30,
        **noted(torch, "synchronize"),
    )

    found = told(adapter("mps"))

    assert (found["health"], torch.calls[0]) == ([], "exact product on mps")
    assert (found["memory"], found["free_memory"], found["peak"]) == (18 << 30, 16 << 30, None)
    assert (found["units"], found["places"], found["exact"], found["timer"]) == (40, ["mps"], "cpu", "perf_counter")
    assert set(found["conditions"].values()) == {None}
    assert len(found["samples"]) == 2
    assert torch.calls.count(("synchronize",)) >= 4, "before and after each"


def test_the_link_is_held_to_what_the_port_above_it_can(tmp_path: Path) -> None:
    # Documentation/ABI/testing/sysfs-bus-pci; a device of generation 5 in a slot of generation 4 and eight lanes
    def end(speed: str, width: int, which: str) -> dict[str, str]:
        return {f"{which}_link_speed": f"{speed} GT/s PCIe\n", f"{which}_link_width": f"{width}\n"}

    port = tree(tmp_path / "port", end("16.0", 8, "max"))
    device = tree(port / "0000:03:00.0", {**end("32.0", 16, "max"), **end("16.0", 8, "current")})
    assert sysfs.pci_link(device) == (4, 8, 4, 8)
    (device / "current_link_speed").write_text("Unknown\n")
    assert sysfs.pci_link(device) is None
    assert sysfs.pci_link(None) is None
