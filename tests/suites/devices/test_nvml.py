"""NVML: what its answers mean, replayed from public outputs; and that a refusal is None, never an exception."""

import ctypes
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from suites.devices import nvml
from suites.throttle import harmful

DATA = Path(__file__).parents[2] / "data" / "devices"
BITS = {
    # nvidia-smi's line -> nvmlClocksEventReason*, from nvml.h
    "Idle": 0x1,
    "Applications Clocks Setting": 0x2,
    "SW Power Cap": 0x4,
    "HW Slowdown": 0x8,
    "Sync Boost": 0x10,
    "SW Thermal Slowdown": 0x20,
    "HW Thermal Slowdown": 0x40,
    "HW Power Brake Slowdown": 0x80,
}


def mask(name: str) -> int:
    text = (DATA / name).read_text()
    return sum(bit for line, bit in BITS.items() if re.search(rf"^\s*{line}\s*: Active$", text, re.MULTILINE))


def put(pointer: Any, value: int) -> None:
    pointer._obj.value = value


def library(**answers: Any) -> Any:
    """A library that has only these functions; each takes the pointers that the real one fills."""

    def found(_: bytes, handle: Any) -> int:
        put(handle, 7)
        return 0

    return SimpleNamespace(nvmlDeviceGetHandleByUUID=found, **answers)


def test_a_braked_card_tells_why_and_is_spoilt() -> None:
    text = (DATA / "nvidia-v100-power-brake.txt").read_text()
    clock = re.search(r"SM\s*: (\d+) MHz", text)
    assert clock is not None

    def reasons(_: Any, out: Any) -> int:
        put(out, mask("nvidia-v100-power-brake.txt"))
        return 0

    def clocks(_: Any, kind: int, out: Any) -> int:
        put(out, int(clock[1]) if kind == 1 else 0)
        return 0

    board = nvml.board(
        ("GPU-1",), None, library(nvmlDeviceGetCurrentClocksThrottleReasons=reasons, nvmlDeviceGetClockInfo=clocks)
    )
    assert board is not None
    assert board.clock_mhz() == 382.0
    told = board.throttle()
    assert told == ["hardware slowdown", "hardware power brake"]
    assert harmful(told) == told


def test_idle_is_no_throttling_and_a_power_cap_spoils_nothing() -> None:
    assert nvml.reasons(mask("nvidia-idle.txt")) == []
    assert nvml.reasons(0x4) == ["software power cap"]
    assert harmful(nvml.reasons(0x4 | 0x1)) == []
    assert harmful(nvml.reasons(0x4 | 0x40)) == ["hardware thermal slowdown"]
    assert harmful(nvml.reasons(1 << 20)) == ["reason 0x100000"], "a reason nobody knows is not taken for harmless"


def test_what_is_not_supported_or_not_there_is_none() -> None:
    refused = dict.fromkeys(("nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetEccMode"))
    board = nvml.board(("GPU-1",), None, library(**{name: lambda *_: 3 for name in refused}))
    assert board is not None
    assert (board.clock_mhz(), board.temperature_c(), board.power_w(), board.throttle()) == (None,) * 4
    assert (board.ecc(), board.processes(), board.power_limit_w()) == (None,) * 3
    assert (board.counters(), board.firmware(), board.link(), board.throttled()) == ({}, "", None, None)


def test_counters_and_power_are_read_into_their_units() -> None:
    def power(_: Any, out: Any) -> int:
        put(out, 312_500)
        return 0

    def rows(_: Any, *out: Any) -> int:
        for pointer, value in zip(out, (3, 1, 0, 1), strict=True):
            put(pointer, value)
        return 0

    def errors(_: Any, kind: int, since: int, out: Any) -> int:
        put(out, 2 if (kind, since) == (1, 0) else 99)
        return 0

    answers = {
        "nvmlDeviceGetPowerUsage": power,
        "nvmlDeviceGetRemappedRows": rows,
        "nvmlDeviceGetTotalEccErrors": errors,
    }
    board = nvml.board(("GPU-1",), None, library(**answers))
    assert board is not None
    assert board.power_w() == 312.5
    assert board.counters() == {
        "uncorrected memory errors": 2,
        "rows remapped after uncorrected errors": 1,
        "row remappings that wait for a reset": 0,
        "failed row remappings": 1,
    }


def test_a_slice_is_asked_for_its_processes_and_its_board_for_the_rest() -> None:
    asked = []

    def parent(_: Any, out: Any) -> int:
        put(out, 8)
        return 0

    def processes(handle: Any, count: Any, out: Any) -> int:
        asked.append(handle.value)
        count._obj.value = 1
        out[0].pid = 5
        return 0

    def heat(handle: Any, _: int, out: Any) -> int:
        asked.append(handle.value)
        put(out, 61)
        return 0

    answers = {
        "nvmlDeviceGetDeviceHandleFromMigDeviceHandle": parent,
        "nvmlDeviceGetComputeRunningProcesses_v3": processes,
        "nvmlDeviceGetTemperature": heat,
    }
    board = nvml.board(("MIG-1",), None, library(**answers))
    assert board is not None
    assert (board.processes(), board.temperature_c(), asked) == ([5], 61.0, [7, 8])


@pytest.mark.parametrize(
    ("variable", "index", "expected"),
    [
        (None, 1, ((), 1)),
        ("2,3", 1, ((), 3)),
        ("GPU-aa,GPU-bb", 0, (("GPU-aa",), None)),
        ("MIG-aa", 0, (("MIG-aa",), None)),
        ("2", 1, ((), None)),
        ("", 0, (("",), None)),
    ],
)
def test_the_device_of_a_process_on_its_host(variable: str | None, index: int, expected: tuple[Any, Any]) -> None:
    assert nvml.visible(variable, index) == expected


def test_no_library_is_no_board() -> None:
    assert nvml.board((), 0) is None or ctypes.CDLL("libnvidia-ml.so.1")
    assert nvml.board(("GPU-1",), None, SimpleNamespace()) is None
