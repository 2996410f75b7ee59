"""What the Linux drivers of AMD and Intel devices tell in /sys: pure functions from texts to values, and the folders.

amdgpu: docs.kernel.org/gpu/amdgpu/thermal.html and gpu/amdgpu/ras.html; xe and i915: Documentation/ABI/testing of the
kernel (sysfs-driver-intel-xe-hwmon) and drivers/gpu/drm/xe/xe_gt_throttle.c. None of it is there in many a container:
then the answer is None.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

ROOT = Path("/sys")
PROCESSES = Path("/proc")
_GENERATIONS = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}  # GT/s
_RESIDENCIES = {6: 36, 7: 44, 8: 44}
"""Revision of a table 1.x of `gpu_metrics` -> the byte at which its throttle residencies begin (kgd_pp_interface.h)."""
_RESIDENT = ("processor hot", "package power limit", "thermal slowdown", "voltage regulator hot", "memory hot")
_INTEL = {
    "pl1": "power limit PL1",
    "pl2": "power limit PL2",
    "pl4": "power limit PL4",
    "thermal": "thermal slowdown",
    "prochot": "processor hot",
    "ratl": "running average thermal limit",
    "vr_thermalert": "voltage regulator hot",
    "vr_tdc": "voltage regulator current",
}


def dpm_mhz(text: str) -> Optional[float]:
    """The clock with the star, of `pp_dpm_sclk`: `1: 800Mhz *`; in deep sleep its number is an S."""
    found = re.search(r"^\s*\w+:\s*(\d+)\s*MHz\s*\*\s*$", text, re.MULTILINE | re.IGNORECASE)
    return float(found.group(1)) if found else None


def number(text: str, factor: float = 1.0) -> Optional[float]:
    """A whole number times the factor: hwmon counts thousandths of a degree and millionths of a watt."""
    found = re.fullmatch(r"\s*(-?\d+)\s*", text)
    return int(found.group(1)) * factor if found else None


def ras_counts(text: str) -> Dict[str, int]:
    """`ue` and `ce` of a RAS counter file: uncorrectable and correctable errors of one block."""
    return {name: int(count) for name, count in re.findall(r"^\s*(ue|ce):\s*(\d+)\s*$", text, re.MULTILINE)}


def intel_reasons(flags: Dict[str, str]) -> List[str]:
    """Throttle reasons that are set, in words, from the `reason_*` files: name after the underscore -> its text."""
    return [_INTEL.get(name, name) for name, text in sorted(flags.items()) if text.strip() not in ("", "0")]


def device_folder(address: str, vendor: str, root: Path = ROOT) -> Optional[Path]:
    """The folder of a PCI device; without its address, the only display device of the vendor (`0x1002`)."""
    if address:
        folder = root / "bus" / "pci" / "devices" / address
        return folder if folder.is_dir() else None
    cards = sorted((root / "class" / "drm").glob("card[0-9]*"))
    found = [card / "device" for card in cards if re.fullmatch(r"card\d+", card.name)]
    ours = [folder for folder in found if _text(folder / "vendor").strip() == vendor]
    return ours[0] if len(ours) == 1 else None


def pci_link(folder: Optional[Path]) -> Optional[Tuple[int, int, int, int]]:
    """Generation and width of a device's PCIe link, now and what it and the port above it can at most.

    Documentation/ABI/testing/sysfs-bus-pci. Of a card with a switch of its own it is the link behind that.
    """
    if folder is None:
        return None
    real = folder.resolve()
    now, most, port = (_link(end, which) for end, which in ((real, "current"), (real, "max"), (real.parent, "max")))
    if now is None or most is None:
        return None
    return (*now, min(most[0], port[0] if port else most[0]), min(most[1], port[1] if port else most[1]))


def drm_others(address: str, ours: int, root: Path = PROCESSES) -> Optional[List[int]]:
    """Processes other than this one that have a device open; of those that this one may look into.

    docs.kernel.org/gpu/drm-usage-stats.html. None where not even this process is seen to have it: then nothing is told.
    """
    if not address:
        return None
    key = re.compile(rf"^drm-pdev:\s*{re.escape(address)}\s*$", re.MULTILINE)
    found = {int(path.parts[-3]) for path in root.glob("[0-9]*/fdinfo/*") if key.search(_text(path))}
    return sorted(found - {ours}) if ours in found else None


def kfd_processes(address: str, root: Path = ROOT) -> Optional[List[int]]:
    """Processes that hold memory of an AMD device, as the host numbers them; None where the driver does not tell.

    `vram_<gpu id>` of each in /sys/class/kfd/kfd/proc, as rocm-smi reads them; who only opened the driver has none.
    """
    kfd = root / "class" / "kfd" / "kfd"
    nodes = [node for node in sorted(kfd.glob("topology/nodes/*")) if _kfd_address(node) == address]
    if not nodes:
        return None
    files = [path for node in nodes for path in sorted(kfd.glob(f"proc/*/vram_{_text(node / 'gpu_id').strip()}"))]
    return sorted({int(path.parent.name) for path in files if number(_text(path))})


def amd_throttled(metrics: bytes) -> Optional[Dict[str, int]]:
    """How long an AMD device was throttled, in its own ticks, by reason; None where its table does not count it.

    Tables 1.6 to 1.8 of `gpu_metrics` do, those of MI300 and later (drivers/gpu/drm/amd/include/kgd_pp_interface.h).
    """
    if len(metrics) < 4 or metrics[2] != 1 or metrics[3] not in _RESIDENCIES:
        return None
    begin = _RESIDENCIES[metrics[3]]
    if len(metrics) < begin + 20:
        return None
    ticks = dict(zip(_RESIDENT, struct.unpack_from("<5I", metrics, begin)))  # noqa: B905 - Python 3.9
    return {reason: count for reason, count in ticks.items() if count != 0xFFFFFFFF} or None


def amd_conditions(folder: Optional[Path]) -> Dict[str, Any]:
    """Clock, heat and power of an AMD device, and how long it was throttled, where it counts that.

    Its throttle bits are not read: firmware of RDNA 3 and 4 has one of them always set, so they would call healthy
    cards throttled (github.com/ROCm/rocm-systems/issues/11781).
    """
    if folder is None:
        return {"clock_mhz": None, "temperature_c": None, "power_w": None, "throttle": None}
    throttled = amd_throttled(_bytes(folder / "gpu_metrics"))
    power = _sensor(folder, "power1_average", 1e-6)
    return {
        "clock_mhz": dpm_mhz(_text(folder / "pp_dpm_sclk")),
        "temperature_c": _labelled(folder, "junction") or _sensor(folder, "temp1_input", 1e-3),
        "power_w": power if power is not None else _sensor(folder, "power1_input", 1e-6),
        "throttle": None,
        **({"throttled": throttled} if throttled else {}),
    }


def amd_counters(folder: Optional[Path]) -> Dict[str, int]:
    """Errors that an AMD device has counted, summed over its blocks."""
    counts = [ras_counts(_text(path)) for path in sorted(folder.glob("ras/*_err_count"))] if folder else []
    counts = [one for one in counts if one]
    if not counts:
        return {}
    return {
        "uncorrectable errors": sum(one.get("ue", 0) for one in counts),
        "correctable errors": sum(one.get("ce", 0) for one in counts),
    }


def amd_free(folder: Optional[Path]) -> Optional[int]:
    """Bytes of an AMD device's memory that nobody has."""
    if folder is None:
        return None
    whole, used = (number(_text(folder / f"mem_info_vram_{name}")) for name in ("total", "used"))
    return None if whole is None or used is None else int(whole - used)


def amd_firmware(folder: Optional[Path]) -> str:
    """The version of an AMD device's VBIOS, or an empty text."""
    return _text(folder / "vbios_version").strip() if folder else ""


def amd_partition(folder: Optional[Path]) -> str:
    """How an AMD device is cut up: `SPX`, `CPX`, or an empty text where it cannot be."""
    return _text(folder / "current_compute_partition").strip() if folder else ""


def intel_conditions(folder: Optional[Path]) -> Dict[str, Any]:
    """Clock, heat, power and throttle reasons of an Intel device, by either of its drivers."""
    if folder is None:
        return {"clock_mhz": None, "temperature_c": None, "power_w": None, "throttle": None}
    engines = [*sorted(folder.glob("tile*/gt*/freq0")), *sorted(folder.glob("drm/card*/gt/gt*"))]
    clocks = [number(_text(engine / name)) for engine in engines for name in ("act_freq", "rps_act_freq_mhz")]
    flags: Dict[str, str] = {}
    for engine in engines:
        for path in (*engine.glob("throttle/reason_*"), *engine.glob("throttle_reason_[a-z]*")):
            name = path.name.split("reason_", 1)[1]
            flags[name] = max(flags.get(name, ""), _text(path).strip())
    heats = [number(_text(path), 1e-3) for path in folder.glob("hwmon/hwmon*/temp*_input")]
    return {
        "clock_mhz": max((clock for clock in clocks if clock is not None), default=None),
        "temperature_c": max((heat for heat in heats if heat is not None), default=None),
        "power_w": _sensor(folder, "power1_input", 1e-6),
        "throttle": intel_reasons({name: text for name, text in flags.items() if name != "status"}) if flags else None,
    }


def _sensor(folder: Path, name: str, factor: float) -> Optional[float]:
    values = [number(_text(path), factor) for path in sorted(folder.glob(f"hwmon/hwmon*/{name}"))]
    return next((value for value in values if value is not None), None)


def _labelled(folder: Path, label: str) -> Optional[float]:
    """The temperature (C) of the sensor with this label."""
    for path in sorted(folder.glob("hwmon/hwmon*/temp*_label")):
        if _text(path).strip() == label:
            return number(_text(path.with_name(path.name.replace("_label", "_input"))), 1e-3)
    return None


def _link(end: Path, which: str) -> Optional[Tuple[int, int]]:
    """Generation and width, `current` or `max`, of one end of a PCIe link: `16.0 GT/s PCIe` and `16`."""
    speed, width = _text(end / f"{which}_link_speed").split(" ", 1)[0], number(_text(end / f"{which}_link_width"))
    return (_GENERATIONS[speed], int(width)) if speed in _GENERATIONS and width else None


def _kfd_address(node: Path) -> str:
    """The PCI address of a node of the driver's topology: bus and function are in one number (kfd_topology.c)."""
    told = dict(re.findall(r"^(domain|location_id) (\d+)$", _text(node / "properties"), re.MULTILINE))
    if len(told) != 2 or told["location_id"] == "0":
        return ""
    place = int(told["location_id"])
    return f"{int(told['domain']):04x}:{place >> 8:02x}:{place >> 3 & 31:02x}.{place & 7}"


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
