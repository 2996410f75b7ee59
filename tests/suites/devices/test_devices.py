"""The adapters: one form, and the words for what their libraries say."""

import pytest

from suites import devices, exits
from suites.devices import DeviceMissing, adapter, word_for

FORM = ("count", "place", "exact", "health", "synchronise", "memory", "reset_peak", "peak", "samples", "observe")


@pytest.mark.parametrize("name", devices.NAMES)
def test_every_adapter_has_the_whole_form(name: str) -> None:
    module = adapter(name)
    assert all(callable(getattr(module, function)) for function in (*FORM, "why_missing"))
    assert module.STATISTIC in {"min", "median"}
    assert all(isinstance(getattr(module, text), str) for text in ("TIMER", "COLLECTIVE"))
    assert set(module.ERRORS.values()) <= set(exits.WORDS)


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("cuda", "CUDA out of memory. Tried to allocate 2.00 GiB", exits.OUT_OF_MEMORY),
        ("cuda", "HIP out of memory", exits.OUT_OF_MEMORY),
        ("cuda", "CUDA error: no kernel image is available for execution on the device", exits.NO_KERNEL_IMAGE),
        ("cuda", "The NVIDIA driver on your system is too old (found version 11040)", exits.DRIVER_TOO_OLD),
        ("cuda", "CUDA error: device-side assert triggered", exits.DEVICE_LOST),
        ("cuda", "CUDA error: uncorrectable ECC error encountered", exits.DEVICE_LOST),
        ("cuda", "unable to write to file </torch_1_2> in /dev/shm", exits.OUT_OF_SHARED_MEMORY),
        ("xpu", "level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)", exits.DEVICE_LOST),
        ("cpu", "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes", exits.OUT_OF_MEMORY),
        ("cpu", "[Errno 28] No space left on device", exits.OUT_OF_DISK),
        ("cpu", "expected a tensor", None),
    ],
)
def test_the_word_for_an_error(name: str, text: str, word: str | None) -> None:
    assert word_for(adapter(name), text) == word


def test_a_device_nobody_knows_is_missing() -> None:
    with pytest.raises(DeviceMissing, match="no device is named tpu"):
        devices.pick("tpu")


def test_auto_takes_the_best_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"cuda": 0, "xpu": 1, "mps": 1, "cpu": 1}
    for name, number in there.items():
        monkeypatch.setattr(adapter(name), "count", lambda number=number: number)
    assert devices.pick("auto").place() == "xpu"


def test_too_few_devices_are_missing_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter("cuda"), "count", lambda: 1)
    with pytest.raises(DeviceMissing, match="2 cuda devices were asked for and torch sees 1"):
        devices.pick("cuda", 2)


def test_none_at_all_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter("xpu"), "count", lambda: 0)
    monkeypatch.setattr(adapter("xpu"), "why_missing", lambda: ": built without it")
    with pytest.raises(DeviceMissing, match="torch sees no such device: built without it"):
        devices.pick("xpu")
