"""Memory: an allocator that fragments is found, by what it says of itself."""

import subprocess
from collections.abc import Callable

import pytest

from suites import memory

MIB = 1 << 20


def stats(allocated: int, reserved: int, **more: int) -> dict[str, int]:
    """As torch.cuda.memory_stats has them (torch 2.13, torch/cuda/memory.py)."""
    return {"allocated_bytes.all.peak": allocated, "reserved_bytes.all.peak": reserved, **more}


def test_an_allocator_is_read_by_its_peaks() -> None:
    more = {"requested_bytes.all.peak": 60, "inactive_split_bytes.all.peak": 20, "num_alloc_retries": 0, "num_ooms": 1}

    held = memory.from_torch(stats(70, 100, **more))

    assert held == memory.Held(allocated=70, reserved=100, requested=60, split=20, retries=0, refusals=1)
    assert held.fragmentation == pytest.approx(0.3)
    assert memory.from_torch(stats(0, 0)).fragmentation == 0


def test_memory_that_fragments_is_found() -> None:
    memory.hold_to_bound(memory.Held(allocated=70 * MIB, reserved=100 * MIB, retries=0))
    with pytest.raises(AssertionError, match=r"^memory fragments: 4 of 10 bytes .* 60% are lost, 50% are allowed$"):
        memory.hold_to_bound(memory.Held(allocated=4, reserved=10))
    with pytest.raises(AssertionError, match=r"^memory fragments: the allocator emptied its cache 3 times"):
        memory.hold_to_bound(memory.Held(allocated=10, reserved=10, retries=3))


def first_fit(merging: bool) -> Callable[[list[tuple[str, int]]], int]:
    """An allocator: the bytes that it holds at most for these steps. One that never uses a hole again fragments."""

    def held(steps: list[tuple[str, int]]) -> int:
        holes: list[int] = []
        whole = 0
        for what, size in steps:
            if what == "free":
                holes.append(size)
            elif merging and (fitting := [hole for hole in holes if hole >= size]):
                holes.remove(fitting[0])
            else:
                whole += size
        return whole

    return held


@pytest.mark.parametrize(("merging", "good"), [(True, True), (False, False)])
def test_the_pattern_tells_an_allocator_that_fills_holes_from_one_that_does_not(merging: bool, good: bool) -> None:
    block, blocks = 30, 100
    # A load after the pattern: the same small blocks again, which fit in the holes that it left.
    steps = [("make", block)] * blocks + [("free", block)] * (blocks // 2) + [("make", block * 4 // 3)] * (blocks // 2)
    refill = [("make", block), ("free", block)] * blocks
    held = memory.Held(memory.alive(block, blocks), first_fit(merging)(steps + refill))

    if good:
        memory.hold_to_bound(held)
    else:
        with pytest.raises(AssertionError, match="memory fragments"):
            memory.hold_to_bound(held)


def test_the_pattern_leaves_what_it_says() -> None:
    class Block:
        def __init__(self, size: int) -> None:
            self.size = size

    for blocks in (10, 11):
        kept = memory.scatter(Block, 30, blocks)  # type: ignore[arg-type]
        assert sum(one.size for one in kept) == memory.alive(30, blocks)


@pytest.mark.torch
def test_a_leak_and_a_refusal_of_the_processor(snippet: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = snippet("""
from suites import memory
from suites.devices import adapter, word_for
from suites.loads import memory_process
assert memory_process.growth() <= memory.LEAK
kept = []
honest = memory_process.torch.Tensor.sum
def leaking(self):
    kept.append(bytearray(100_000))
    return honest(self)
memory_process.torch.Tensor.sum = leaking
assert memory_process.growth() > memory.LEAK
said = memory_process.refusal()
assert word_for(adapter("cpu"), said) == "out of memory", said
""")
    assert done.returncode == 0, done.stderr
