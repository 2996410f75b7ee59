"""Memory: fragmentation after a hard pattern, growth over equal steps, and what happens when there is no more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict

import pytest
import torch

from suites import memory
from suites.devices import word_for
from suites.exits import OUT_OF_MEMORY
from suites.loads import memory_process, processes
from suites.work import Labels

if TYPE_CHECKING:
    from suites.bench import Bench

# No compiler has a part in it.
pytestmark = pytest.mark.compiled_from("standard")
BLOCK, MOST = 3 << 20, 512 << 20  # bytes of a block, and of all of them at first
C_LIBRARY = "the C library's allocator, by what a process of its own has resident"
"""torch has no allocator of its own for a processor: what is measured there is the one that it calls."""


@pytest.fixture(scope="module")
def told(bench: Bench) -> Dict[str, Any]:
    """What a process of its own learned about the processor's memory; empty on other devices."""
    if bench.device.place() != "cpu":
        return {}
    if not Path("/proc/self/statm").exists():
        pytest.skip("not applicable: this system does not tell what a process holds")
    command = [sys.executable, "-m", "suites.loads.memory_process"]
    variables = processes.variables()
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=variables, timeout=120)
    words = (done.stderr.strip() or "no word").splitlines()[-1]
    assert done.returncode == 0, f"the memory process ended with code {done.returncode}: {words}"
    found: Dict[str, Any] = json.loads(done.stdout)
    return found


def test_fragmentation(bench: Bench, told: Dict[str, Any]) -> None:
    """Many blocks, each second one freed, then larger ones."""
    if told:
        blocks, block, held = memory_process.BLOCKS, memory_process.BLOCK, memory.Held(**told["held"])
    else:
        block = BLOCK
        blocks = min(MOST, bench.device.memory() // 8) // block
        held = _of_device(bench, blocks)
    work = Labels("memory.pattern", f"{blocks} blocks of {block} bytes", "uint8", "none", "2")
    scope = C_LIBRARY if told else ""
    for metric, value in (
        ("memory_allocated", held.allocated),
        ("memory_reserved", held.reserved),
        ("memory_requested", held.requested),
        ("memory_inactive_split", held.split),
    ):
        if value is not None:
            bench.row(work, metric, value, "bytes", statistic="max", scope=scope)
    bench.row(work, "fragmentation", held.fragmentation, "fraction", scope=scope)
    for metric, value in (("alloc_retries", held.retries), ("ooms", held.refusals)):
        if value is not None:
            bench.row(work, metric, value, "count", direction="equal")
    bench.note(f"fragmentation {held.fragmentation:.2g}")
    memory.hold_to_bound(held)


def test_growth(bench: Bench, told: Dict[str, Any]) -> None:
    """Equal steps need equal memory."""
    grew = told["growth"] if told else _growth_of_device(bench)
    work = Labels("memory.growth", f"{memory_process.STEPS} steps of 128x128", "fp32", "none", "1")
    bench.row(work, "memory_growth", grew, "bytes")
    assert grew <= memory.LEAK, f"memory leaks: {grew} bytes more after {memory_process.STEPS} equal steps"


def test_out_of_memory(bench: Bench, told: Dict[str, Any]) -> None:
    """Asking for more than there is gives an error that says so, and the device works afterwards."""
    said = told["refused"] if told else _refusal_of_device(bench)
    assert said, "nothing refused more memory than there is"
    word = word_for(bench.device, said)
    assert word == OUT_OF_MEMORY, f"want of memory is told as {word or 'nothing known'}: {said}"
    if told:
        assert told["works"], "after it ran out of memory the processor computes wrongly"
    else:
        bench.device.synchronise()
        bench.device.health()


def _of_device(bench: Bench, blocks: int) -> memory.Held:
    place = bench.device.place()
    bench.device.clear()
    bench.device.reset_peak()
    before = memory.stats(place)
    if not before:
        pytest.skip(f"this build lacks it: torch tells nothing of the allocator of {place}")
    kept = memory.scatter(lambda size: torch.empty(size, dtype=torch.uint8, device=place), BLOCK, blocks)
    held = memory.from_torch(memory.stats(place), before)
    del kept
    bench.device.reset_peak()
    if held.allocated < memory.alive(BLOCK, blocks):
        told = f"{held.allocated} bytes where {memory.alive(BLOCK, blocks)} are in use"
        pytest.skip(f"not applicable: the allocator that {place} is set to does not count what it holds: {told}")
    return held


def _growth_of_device(bench: Bench) -> int:
    torch_of = getattr(torch, bench.device.place(), None)
    if not hasattr(torch_of, "memory_allocated"):
        pytest.skip(f"this build lacks it: torch tells nothing of the allocator of {bench.device.place()}")
    weight = torch.ones(128, 128, requires_grad=True, device=bench.device.place())
    before = 0
    for step in range(2 * memory_process.STEPS):
        if step == memory_process.STEPS:
            before = torch_of.memory_allocated()  # type: ignore[union-attr]
        (weight @ weight).sum().backward()
        weight.grad = None
    grew: int = torch_of.memory_allocated() - before  # type: ignore[union-attr]
    return grew


def _refusal_of_device(bench: Bench) -> str:
    place, there = bench.device.place(), bench.device.memory()
    if not there:
        pytest.skip(f"not applicable: nothing tells how much memory {place} has, so what is too much is not known")
    try:
        torch.empty(2 * there, dtype=torch.uint8, device=place)
    except (RuntimeError, MemoryError) as error:
        return str(error).strip().splitlines()[0]
    return ""
