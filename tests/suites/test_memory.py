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

    held = memory.from_torch(stats(70, 100, **more), {})

    assert held == memory.Held(allocated=70, reserved=100, requested=60, split=20, retries=0, refusals=1)
    assert held.fragmentation == pytest.approx(0.3)
    assert memory.from_torch(stats(0, 0), {}).fragmentation == 0
    assert memory.peaks(stats(70, 100, **more)) == {"memory_reserved": 100, "memory_requested": 60}
    assert memory.peaks({}) == {}


def test_what_was_there_before_is_not_of_what_ran_since() -> None:
    before = {"allocated_bytes.all.current": 10, "reserved_bytes.all.current": 20, "num_alloc_retries": 5}

    held = memory.from_torch(stats(80, 120, num_alloc_retries=5), before)

    assert held == memory.Held(allocated=70, reserved=100, retries=0)
    assert memory.from_torch(stats(80, 120, num_alloc_retries=7), before).retries == 2


def test_memory_that_fragments_is_found() -> None:
    memory.hold_to_bound(memory.Held(allocated=71 * MIB, reserved=100 * MIB, retries=0))
    with pytest.raises(AssertionError, match=r"^memory fragments: 4 of 10 bytes .* 60% are lost, 30% are allowed$"):
        memory.hold_to_bound(memory.Held(allocated=4, reserved=10))
    with pytest.raises(AssertionError, match=r"^memory fragments: the allocator emptied its cache 3 times"):
        memory.hold_to_bound(memory.Held(allocated=10, reserved=10, retries=3))


def test_the_pattern_leaves_what_it_says_and_never_holds_more() -> None:
    class Block:
        alive = most = 0

        def __init__(self, size: int) -> None:
            self.size = size
            Block.alive += size
            Block.most = max(Block.most, Block.alive)

        def __del__(self) -> None:
            Block.alive -= self.size

    for blocks in (10, 11):
        Block.most = 0
        kept = memory.scatter(Block, 30_000, blocks)  # type: ignore[arg-type]
        assert sum(one.size for one in kept) == memory.alive(30_000, blocks) == Block.alive == Block.most
        del kept


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
