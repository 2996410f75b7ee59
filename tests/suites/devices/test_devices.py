"""The adapters: one form, and the words for what their libraries say."""

import errno
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from suites import devices, exits, request
from suites.devices import DeviceMissing, adapter, word_for

DATA = Path(__file__).parents[2] / "data" / "devices"
FORM = ("count", "place", "places", "exact", "health", "deep_health", "title", "synchronise", "memory", "free_memory")
FORM += ("clear", "reset_peak", "peak", "samples", "conditions", "counters", "units", "firmware", "observe")
FORM += ("why_missing", "lacking", "e4m3", "tf32", "tensor_float", "timer", "link")
UNSEEN = {
    # A full disk is in the system's own words, shared memory in torch's; of a hang of Intel's no public text was found
    "cuda": {exits.OUT_OF_DISK},
    "rocm": {exits.OUT_OF_DISK, exits.OUT_OF_SHARED_MEMORY},
    "xpu": {exits.OUT_OF_DISK, exits.HANG},
    "mps": {exits.OUT_OF_DISK},
}
SAID = json.loads((DATA / "errors.json").read_text())


@pytest.mark.parametrize("name", devices.NAMES)
def test_every_adapter_has_the_whole_form(name: str) -> None:
    module = adapter(name)
    assert all(callable(getattr(module, function)) for function in FORM)
    assert module.STATISTIC in {"min", "median"}
    assert all(isinstance(getattr(module, text), str) for text in ("ACTIVITY", "COLLECTIVE", "STICKY", "UNWRITTEN"))
    assert module.CONVOLUTIONS in {"highest", "high", "medium"}
    assert all(isinstance(prefix, str) for prefix in module.VARIABLES)
    assert set(module.ERRORS.values()) <= set(exits.WORDS)
    assert isinstance(module.SEEN, tuple)


def test_a_device_is_a_module_that_says_so() -> None:
    assert set(devices.NAMES) >= {"cuda", "rocm", "xpu", "mps", "privateuse1", "cpu"}
    assert devices.NAMES[-1] == "cpu", "it is always there, and taken last"
    assert list(request.DEVICES) == ["auto", *devices.NAMES]


def test_only_what_was_run_on_a_device_says_so() -> None:
    told = {name: devices.experience(adapter(name)) for name in devices.NAMES}
    assert told.pop("cpu") == "x86_64"
    assert set(told.values()) == {"never run on a device"}


@pytest.mark.parametrize("said", SAID, ids=lambda said: f"{said['device']}-{said['word']}")
def test_what_people_saw_has_its_word(said: dict[str, str]) -> None:
    module = adapter(said["device"])
    assert word_for(module, said["text"]) == said["word"]
    assert devices.sticky(module, said["text"]) is said["sticky"]


def test_an_error_of_one_call_does_not_stick() -> None:
    assert not devices.sticky(adapter("cuda"), "CUDA out of memory. Tried to allocate 2.00 GiB")
    assert not devices.sticky(adapter("cpu"), "device-side assert")


def test_every_replay_has_its_source() -> None:
    index = json.loads((DATA / "INDEX.json").read_text())
    assert {path.name for path in DATA.iterdir()} == {*index, "INDEX.json"}
    assert all(said["url"].startswith("https://") for said in SAID)


def test_amds_torch_answers_to_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter("cuda"), "count", lambda: 0)
    monkeypatch.setattr(adapter("rocm"), "count", lambda: 8)
    assert devices.pick("cuda") is adapter("rocm") is devices.pick("rocm")
    assert adapter("rocm").place() == "cuda"


@pytest.mark.torch
def test_no_package_registered_a_device(snippet: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    code = """
import torch, types
from suites import devices
from suites.devices import privateuse1
def missing():
    try:
        devices.pick("privateuse1")
    except devices.DeviceMissing as error:
        return str(error)
assert missing().endswith(": no package has registered a PrivateUse1 backend"), missing()
torch.utils.rename_privateuse1_backend("mine")
assert missing().endswith(": the backend mine has registered no module torch.mine"), missing()
torch.mine = types.SimpleNamespace(is_available=lambda: True, device_count=lambda: 0)
assert missing().endswith(": torch.mine counts no device"), missing()
torch.mine.device_count = lambda: 2
assert devices.pick("privateuse1", 2) is privateuse1
assert (privateuse1.place(), privateuse1.places()) == ("mine", ["mine:0", "mine:1"])
assert (privateuse1.memory(), privateuse1.free_memory(), privateuse1.title()) == (0, None, "mine")
"""
    done = snippet(code)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", devices.NAMES)
def test_a_full_disk_is_told_by_the_systems_own_words(name: str) -> None:
    text = str(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert word_for(adapter(name), text) == exits.OUT_OF_DISK
    assert word_for(adapter(name), "expected a tensor") is None


@pytest.mark.parametrize("name", ["cuda", "rocm", "xpu", "mps"])
def test_each_cause_of_an_adapter_is_replayed_or_named_here(name: str) -> None:
    replayed = {said["word"] for said in SAID if said["device"] == name}
    assert set(adapter(name).ERRORS.values()) - replayed == UNSEEN[name]


def test_a_device_nobody_knows_is_missing() -> None:
    with pytest.raises(DeviceMissing, match="no device is named tpu"):
        devices.pick("tpu")


def test_auto_takes_the_best_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"cuda": 0, "rocm": 0, "xpu": 1, "mps": 1, "privateuse1": 1, "cpu": 1}
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
