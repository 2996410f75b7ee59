"""The memory load: an allocator that fills no hole is found, on the processor and by what a device's allocator says."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from bench_code import bench_code, held

from suites import bundle

pytestmark = pytest.mark.torch
Result = subprocess.CompletedProcess[str]

KEEPING = """
import torch
made, ones = [], torch.ones
def keeping(*arguments, **more):
    made.append(ones(*arguments, **more))
    return made[-1]
torch.ones = keeping
"""
"""What is freed stays where it is, in every process of the run: to the system an allocator that fills no hole."""


def told(suite: Callable[..., Result], folder: Path, *sites: str) -> tuple[str, str]:
    """Outcome and message of the case of fragmentation, where these run at the start of each interpreter."""
    (folder / "sitecustomize.py").write_text("\n".join(sites))
    path = f"{folder}:{Path(bundle.__file__).parents[1]}"
    done = suite("--device", "cpu", "--load", "memory.fragmentation", "--out", str(folder / "out"), PYTHONPATH=path)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    (case,) = ET.fromstring((folder / "out" / bundle.JUNIT).read_bytes()).iter("testcase")
    return (case[0].tag, str(case[0].get("message"))) if len(case) else ("passed", "")


def test_the_processors_allocator_fills_its_holes(suite: Callable[..., Result], tmp_path: Path) -> None:
    assert told(suite, tmp_path) == ("passed", "")


def test_a_processors_allocator_that_fills_no_hole_is_found(suite: Callable[..., Result], tmp_path: Path) -> None:
    outcome, message = told(suite, tmp_path, KEEPING)

    assert outcome == "failure"
    assert message.startswith("memory fragments: ")
    assert message.endswith("% are lost, 30% are allowed")


DEVICE = (
    bench_code(backend='"eager"')
    + """
import types, weakref
from suites import memory
from suites.loads import test_memory as load
NEVER, ALWAYS = False, True
class Allocator:
    # What torch.cuda tells of its caching allocator: the keys that torch 2.13's docstring of memory_stats names.
    def __init__(self, fills, retries=0, counts=True):
        self.fills, self.retries, self.counts, self.tries, self.called = fills, retries, counts, 40, []
        # Something of other loads is there.
        self.now = {"allocated_bytes": 5 << 20, "reserved_bytes": 20 << 20, "requested_bytes": 4 << 20}
        self.now["inactive_split_bytes"] = 0
        self.most, self.holes = dict(self.now), []
    def add(self, **sizes):
        for name, size in sizes.items():
            self.now[f"{name}_bytes"] += size
            self.most[f"{name}_bytes"] = max(self.most[f"{name}_bytes"], self.now[f"{name}_bytes"])
    def make(self, size, dtype, device):
        assert (dtype, device) == (torch.uint8, "cuda")
        block = size + 512
        hole = next((one for one in self.holes if one >= block), None) if self.fills else None
        if hole is None:
            self.add(allocated=block, reserved=block, requested=size)
            self.tries += self.retries
        else:
            self.holes.remove(hole)
            self.add(allocated=block, requested=size, inactive_split=-hole)
        tensor = empty(size, dtype=dtype, device="meta")
        weakref.finalize(tensor, self.free, block, hole or block, size)
        return tensor
    def free(self, block, hole, size):
        self.holes.append(hole)
        self.add(allocated=-block, requested=-size, inactive_split=hole)
    def stats(self):
        told = {f"{name}.all.current": size for name, size in self.now.items()}
        told.update({f"{name}.all.peak": size for name, size in self.most.items()})
        told.update(num_alloc_retries=self.tries, num_ooms=2, num_sync_all_streams=0)
        return told if self.counts else dict.fromkeys(told, 0)
empty = torch.empty
def on(allocator):
    torch.empty, torch.cuda.memory_stats = allocator.make, allocator.stats
    torch.cuda.max_memory_allocated = lambda: allocator.stats()["allocated_bytes.all.peak"]
    for name in ("synchronize", "empty_cache", "reset_peak_memory_stats"):
        setattr(torch.cuda, name, lambda *_, name=name: allocator.called.append(name))
    torch._C._cuda_clearCublasWorkspaces = lambda: allocator.called.append("clear")
    torch.cuda.device_count = lambda: 1
    torch.cuda.get_device_properties = lambda _: types.SimpleNamespace(total_memory=80 << 30)
    bench.device = adapter("cuda")
    return allocator
def said():
    try:
        load.test_fragmentation(bench, {})
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return ""
def rows():
    return {row["metric"]: row["value"] for row in written()}
"""
)


def test_a_devices_allocator_that_fills_its_holes_is_well(snippet: Callable[..., Result]) -> None:
    code = """
allocator = on(Allocator(ALWAYS))
assert said() == "", said()
alive = memory.alive(load.BLOCK, load.MOST // load.BLOCK)
found = rows()
assert found["memory_requested"] == alive < found["memory_allocated"] < alive * 1.001, found
assert 0 <= found["fragmentation"] < 0.01 and found["alloc_retries"] == found["ooms"] == 0, found
assert found["memory_inactive_split"] >= load.MOST // 2 - load.BLOCK
before, after = "clear", "reset_peak_memory_stats"
assert allocator.called.index(before) < allocator.called.index("empty_cache") < allocator.called.index(after)
"""
    held(snippet(DEVICE + code))


@pytest.mark.parametrize(
    ("allocator", "message"),
    [
        ("Allocator(NEVER)", "AssertionError: memory fragments: "),
        ("Allocator(ALWAYS, retries=1)", "AssertionError: memory fragments: the allocator emptied its cache 255 times"),
        (
            "Allocator(ALWAYS, counts=False)",
            "Skipped: not applicable: the allocator that cuda is set to does not count",
        ),
    ],
)
def test_a_devices_allocator_that_fragments_or_tells_nothing_is_found(
    snippet: Callable[..., Result], allocator: str, message: str
) -> None:
    held(snippet(f"{DEVICE}on({allocator})\nline = said()\nassert line.startswith({message!r}), line"))


def test_the_peaks_of_a_load_on_a_device_are_all_told(snippet: Callable[..., Result]) -> None:
    code = """
from suites.timing import UNREAD
allocator = on(Allocator(ALWAYS))
torch.empty(1 << 20, torch.uint8, "cuda")
work = Work("l", "32x32", "fp32", "m", "1", torch.tanh, ())
bench._write_peaks(work, None, UNREAD)
size = (1 << 20) + 512
want = {"memory_peak": (5 << 20) + size, "memory_reserved": (20 << 20) + size, "memory_requested": 5 << 20}
assert rows() == want, rows()
torch.cuda.memory_stats = lambda: {}
bench._write_peaks(Work("other", "32x32", "fp32", "m", "1", torch.tanh, ()), None, UNREAD)
assert [row["metric"] for row in written() if row["load"] == "other"] == ["memory_peak"]
"""
    held(snippet(DEVICE + code))


def test_a_device_that_does_not_tell_its_memory_cannot_be_asked_for_too_much(snippet: Callable[..., Result]) -> None:
    code = """
on(Allocator(ALWAYS))
bench.device = types.SimpleNamespace(place=lambda: "cuda", memory=lambda: 0)
try:
    load.test_out_of_memory(bench, {})
except BaseException as error:
    line = f"{type(error).__name__}: {error}"
assert line.startswith("Skipped: not applicable: nothing tells how much memory cuda has"), line
"""
    held(snippet(DEVICE + code))
