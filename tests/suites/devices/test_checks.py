"""Checks that compute: on the processor in the place of a device, with faults put in."""

import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

HEAD = """
import time, types
import torch
from suites.devices import checks, cpu
torch.set_num_threads(1)
def device(**more):
    "A device that says it is well: the processor under another name."
    made = types.SimpleNamespace(**{name: getattr(cpu, name) for name in dir(cpu) if not name.startswith("__")})
    for name, value in more.items(): setattr(made, name, value)
    return made
honest = torch.matmul
calls = 0
def lying(after, edge=0):
    def matmul(left, right):
        global calls
        calls += 1
        made = honest(left, right)
        if left.dtype == torch.float32 and calls > after and left.shape[0] >= edge:
            made = made.clone()
            made[0, 0] += 1
        return made
    return matmul
"""


def held(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_needed_must_be_free(snippet: Snippet) -> None:
    code = """
checks.enough("cpu", 100, 100)
checks.enough("cpu", None, 100)
try:
    checks.enough("cpu", 99, 100)
except AssertionError as error:
    assert str(error).startswith("out of memory: cpu has "), error
else:
    raise SystemExit("nothing was said")
"""
    held(snippet(HEAD + code))


def test_a_sound_device_has_no_finding_and_figures(snippet: Snippet) -> None:
    code = """
begin = time.monotonic()
found = checks.deep(device(), 1.0)
assert found.findings == [], found
assert {one.metric for one in found.figures} == {"sustained", "copy"}, found
assert time.monotonic() - begin < 30
assert cpu.health() is not None
"""
    held(snippet(HEAD + code))


def test_a_device_that_reports_healthy_and_computes_wrongly(snippet: Snippet) -> None:
    code = """
torch.matmul = lying(0)
for check in (cpu.health, lambda: checks.exact_product("cpu")):
    try:
        check()
    except AssertionError as error:
        assert str(error) == "numerics: 1 of 4096 elements of an exact 64x64 product are wrong on cpu", error
    else:
        raise SystemExit("it was called healthy")
"""
    held(snippet(HEAD + code))


def test_a_device_that_is_wrong_for_large_products_only(snippet: Snippet) -> None:
    code = """
torch.matmul = lying(0, edge=256)
cpu.health()
found = checks.deep(device(), 0.5)
assert len(found.findings) == 1, found
assert found.findings[0].startswith("numerics: 1 rows of an exact "), found
"""
    held(snippet(HEAD + code))


def test_a_device_that_is_wrong_under_load_only(snippet: Snippet) -> None:
    code = """
cpu.health()
def conditions(index=0):  # read after each round: the first has passed
    torch.matmul = lying(0)
    return cpu.conditions(index)
found = checks.deep(device(conditions=conditions), 3.0)
assert any(line.startswith("numerics: cpu: ") and "rounds under load" in line for line in found.findings), found
"""
    held(snippet(HEAD + code))


def test_a_device_that_throttles_under_load_only(snippet: Snippet) -> None:
    code = """
readings = iter([[]] + [["hardware thermal slowdown"]] * 10**6)
def conditions(index=0):
    return {"clock_mhz": 1200.0, "temperature_c": 92.0, "power_w": None, "throttle": next(readings)}
found = checks.deep(device(conditions=conditions), 2.0)
assert found.findings == ["throttled: cpu: hardware thermal slowdown under load (1200 to 1200 MHz, 92 C)"], found
"""
    held(snippet(HEAD + code))


def test_a_lone_device_is_held_to_its_peak_and_its_link_to_its_ends(snippet: Snippet) -> None:
    code = """
checks.BUFFER = 1 << 20  # bytes: a busy machine has time for each way too
slow = device(title=lambda: "NVIDIA H100 80GB HBM3", place=lambda: "mine", link=lambda index=0: (3, 4, 3, 16))
found = checks.deep(slow, 4.0)
assert found.notes == [], found
assert len(found.findings) == 3, found
rate, memory, link = found.findings
assert rate.startswith("throttled: cpu: keeps up "), rate
assert rate.endswith(" of its peak of 67; 25% at the least are expected"), rate
assert memory.startswith("throttled: cpu: keeps up ") and "GB/s of memory traffic" in memory, memory
assert link == "throttled: cpu: its PCIe link runs at 3x4 of 3x16 under load", link
"""
    held(snippet(HEAD + code))


def test_a_device_without_a_peak_is_not_judged_and_that_is_said(snippet: Snippet) -> None:
    code = """
found = checks.deep(device(title=lambda: "NVIDIA A10G"), 0.5)
assert (found.findings, found.notes) == ([], ["cpu: held to no peak: no sourced dense rate is known of a10g"]), found
found = checks.deep(device(title=lambda: "Intel(R) Data Center GPU Max 1550"), 0.5)
assert found.notes == ["cpu: held to no peak: no sourced fp32 rate is known of max-1550"], found
"""
    held(snippet(HEAD + code))


def test_a_device_that_hangs_is_not_waited_for(snippet: Snippet) -> None:
    code = """
checks.GRACE_S = 0.5
def matmul(left, right):
    if left.shape[0] >= 256: time.sleep(60)
    return honest(left, right)
torch.matmul = matmul
begin = time.monotonic()
found = checks.deep(device(), 0.5)
assert time.monotonic() - begin < 20
assert found.findings == ["hang: cpu: no answer for 0 s under load"], found
"""
    held(snippet(HEAD + code))


def test_a_device_whose_library_raises_is_told_by_its_word(snippet: Snippet) -> None:
    code = """
from suites.devices import cuda
def matmul(left, right):
    if left.shape[0] >= 256: raise RuntimeError("CUDA error: uncorrectable ECC error encountered")
    return honest(left, right)
torch.matmul = matmul
found = checks.deep(device(ERRORS=cuda.ERRORS), 0.5)
assert found.findings == ["device lost: cpu: CUDA error: uncorrectable ECC error encountered"], found
"""
    held(snippet(HEAD + code))


def test_errors_counted_meanwhile(snippet: Snippet) -> None:
    code = """
counts = iter([{"uncorrected memory errors": 1}, {"uncorrected memory errors": 2}])
found = checks.deep(device(counters=lambda index=0: next(counts)), 0.5)
assert found.findings == ["device lost: cpu: 1 uncorrected memory errors during the check"], found
"""
    held(snippet(HEAD + code))


def test_too_little_memory_is_told_before_it_runs_out(snippet: Snippet) -> None:
    code = """
checks.enough("cuda:0", None, 10**12)
checks.enough("cuda:0", 10**9, 10**9)
try:
    checks.enough("cuda:0", 10**9, 8 * 10**9)
except AssertionError as error:
    assert str(error) == "out of memory: cuda:0 has 1.0 GB free, this run needs 8.0", error
else:
    raise SystemExit(1)
"""
    held(snippet(HEAD + code))
