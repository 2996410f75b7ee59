"""What NVIDIA's management library tells of a device, by ctypes: no package needs to be in the image.

Signatures and numbers are from the public nvml.h (NVIDIA/go-nvml gen/nvml/nvml.h @ 2f9e261f). In a container without
permission, under MIG, on a consumer card and on an old driver each answer may be `not supported`, or the function may
not be there: then the answer here is None, never an exception.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Dict, List, Optional, Tuple

from suites import throttle

_SUCCESS = 0
_SM_CLOCK, _GPU_SENSOR, _UNCORRECTED, _VOLATILE = 1, 0, 1, 0
_REASONS = {
    # nvmlClocksEventReason*; idle says that nothing ran when it was read, and is none
    0x2: "application clocks",
    0x4: throttle.POWER_CAP,
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
    0x100: "display clocks",
}
_COUNTED = {
    # NVML_FI_DEV_CLOCKS_EVENT_REASON_*: nanoseconds since the driver was loaded
    269: "software thermal slowdown",
    270: "hardware thermal slowdown",
    271: "hardware power brake",
}


class _Field(ctypes.Structure):
    """nvmlFieldValue_t; of the union in its end the widest whole number."""

    _fields_ = (
        ("field", ctypes.c_uint),
        ("scope", ctypes.c_uint),
        ("timestamp", ctypes.c_longlong),
        ("latency", ctypes.c_longlong),
        ("kind", ctypes.c_uint),
        ("refused", ctypes.c_uint),
        ("value", ctypes.c_ulonglong),
    )


class _Process(ctypes.Structure):
    _fields_ = (
        ("pid", ctypes.c_uint),
        ("used", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


def reasons(mask: int) -> List[str]:
    """The throttle reasons of a mask, in words; a bit that is not known is told as one."""
    words = [word for bit, word in _REASONS.items() if mask & bit]
    unknown = mask & ~sum(_REASONS) & ~1
    return words + ([f"reason 0x{unknown:x}"] if unknown else [])


class Board:
    """A device's board, or the slice of it that a process has; each answer is None where it cannot be had."""

    def __init__(self, library: Any, handle: Any) -> None:
        self._library = library
        self._slice = handle
        # Clock, heat, power and errors are the whole board's, also for one of its slices.
        parent = ctypes.c_void_p()
        whole = self._ask("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", ctypes.byref(parent), of=handle)
        self._handle = parent if whole else handle

    def clock_mhz(self) -> Optional[float]:
        """Of the multiprocessors, now."""
        return self._number("nvmlDeviceGetClockInfo", _SM_CLOCK)

    def temperature_c(self) -> Optional[float]:
        """Of the die, now."""
        return self._number("nvmlDeviceGetTemperature", _GPU_SENSOR)

    def power_w(self) -> Optional[float]:
        """Of the whole board, now."""
        return _scaled(self._number("nvmlDeviceGetPowerUsage"), 1e-3)

    def power_limit_w(self) -> Optional[float]:
        """What the board may draw at most."""
        return _scaled(self._number("nvmlDeviceGetEnforcedPowerLimit"), 1e-3)

    def throttle(self) -> Optional[List[str]]:
        """Why its clock is not the highest, in words."""
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            mask = ctypes.c_ulonglong()
            if self._ask(name, ctypes.byref(mask)):
                return reasons(mask.value)
        return None

    def throttled(self) -> Optional[Dict[str, int]]:
        """How long it was throttled, ns, by harmful reason: two readings differ by what happens between them."""
        fields = (_Field * len(_COUNTED))(*(_Field(field=number) for number in _COUNTED))
        if not self._ask("nvmlDeviceGetFieldValues", len(fields), fields):
            return None
        told = {_COUNTED[one.field]: int(one.value) for one in fields if one.refused == _SUCCESS}
        return told or None

    def processes(self) -> Optional[List[int]]:
        """Numbers of the processes that compute on it, as the host counts them."""
        count = ctypes.c_uint(64)
        found = (_Process * 64)()
        name = "nvmlDeviceGetComputeRunningProcesses_v3"
        if not self._ask(name, ctypes.byref(count), found, of=self._slice):
            return None
        return [int(one.pid) for one in found[: count.value]]

    def ecc(self) -> Optional[bool]:
        """Whether its memory corrects errors."""
        now, next_ = ctypes.c_uint(), ctypes.c_uint()
        asked = self._ask("nvmlDeviceGetEccMode", ctypes.byref(now), ctypes.byref(next_))
        return bool(now.value) if asked else None

    def counters(self) -> Dict[str, int]:
        """Errors by name, as far as they are counted: since the driver was loaded."""
        counted: Dict[str, int] = {}
        uncorrected = ctypes.c_ulonglong()
        if self._ask("nvmlDeviceGetTotalEccErrors", _UNCORRECTED, _VOLATILE, ctypes.byref(uncorrected)):
            counted["uncorrected memory errors"] = int(uncorrected.value)
        rows = [ctypes.c_uint() for _ in range(4)]
        if self._ask("nvmlDeviceGetRemappedRows", *map(ctypes.byref, rows)):
            counted["rows remapped after uncorrected errors"] = int(rows[1].value)
            counted["row remappings that wait for a reset"] = int(rows[2].value)
            counted["failed row remappings"] = int(rows[3].value)
        return counted

    def firmware(self) -> str:
        """The version of its VBIOS, or an empty text."""
        text = ctypes.create_string_buffer(64)
        asked = self._ask("nvmlDeviceGetVbiosVersion", text, ctypes.c_uint(64))
        return text.value.decode(errors="replace") if asked else ""

    def link(self) -> Optional[Tuple[int, int, int, int]]:
        """Generation and width of its PCIe link, now and what device and system allow at most."""
        names = ("CurrPcieLinkGeneration", "CurrPcieLinkWidth", "MaxPcieLinkGeneration", "MaxPcieLinkWidth")
        told = [self._number(f"nvmlDeviceGet{name}") for name in names]
        now, width, most, widest = told
        if now is None or width is None or most is None or widest is None:
            return None
        return int(now), int(width), int(most), int(widest)

    def _number(self, name: str, *arguments: int) -> Optional[float]:
        value = ctypes.c_uint()
        return float(value.value) if self._ask(name, *arguments, ctypes.byref(value)) else None

    def _ask(self, name: str, *arguments: Any, of: Any = None) -> bool:
        try:
            return bool(getattr(self._library, name)(self._handle if of is None else of, *arguments) == _SUCCESS)
        except (AttributeError, OSError):
            return False


def board(identities: Tuple[str, ...], index: Optional[int], library: Any = None) -> Optional[Board]:
    """The board of one of these identities (`GPU-…`, `MIG-…`), else by its index in the library's own order."""
    loaded = _library() if library is None else library
    if loaded is None:
        return None
    handle = ctypes.c_void_p()
    try:
        for identity in identities:
            if loaded.nvmlDeviceGetHandleByUUID(identity.encode(), ctypes.byref(handle)) == _SUCCESS:
                return Board(loaded, handle)
        if index is not None and loaded.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) == _SUCCESS:
            return Board(loaded, handle)
    except (AttributeError, OSError):
        pass
    return None


def driver() -> str:
    """The version of the kernel side of the driver, or an empty text."""
    library = _library()
    text = ctypes.create_string_buffer(96)
    try:
        if library is not None and library.nvmlSystemGetDriverVersion(text, ctypes.c_uint(96)) == _SUCCESS:
            return text.value.decode(errors="replace")
    except (AttributeError, OSError):
        pass
    return ""


def visible(variable: Optional[str], index: int) -> Tuple[Tuple[str, ...], Optional[int]]:
    """What CUDA_VISIBLE_DEVICES says of a process's n-th device: identities, or an index on the host, or neither."""
    if variable is None:
        return (), index
    parts = [part.strip() for part in variable.split(",")]
    if index >= len(parts):
        return (), None
    part = parts[index]
    return ((), int(part)) if part.isdecimal() else ((part,), None)


def _scaled(value: Optional[float], factor: float) -> Optional[float]:
    return None if value is None else value * factor


@functools.lru_cache(maxsize=1)
def _library() -> Any:
    """The library, initialised, or None."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        return library if library.nvmlInit_v2() == _SUCCESS else None
    except (AttributeError, OSError):
        return None
