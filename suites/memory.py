"""Memory: what an allocator says of itself after a pattern that is hard for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, List, Mapping, Optional

if TYPE_CHECKING:
    import torch

FRAGMENTED = 0.5
"""Above it half of what is held serves nobody. The pattern leaves 0.3 to an allocator that fills no hole at all."""
LEAK = 8 << 20  # bytes that a loop of equal steps may grow by: caches fill, a leak does not end


@dataclass(frozen=True)
class Held:
    """Bytes at the peak: given out, taken from the system, asked for, free inside blocks that are split; and counts.

    None is what an allocator does not tell.
    """

    allocated: int
    reserved: int
    requested: Optional[int] = None
    split: Optional[int] = None
    retries: Optional[int] = None
    refusals: Optional[int] = None

    @property
    def fragmentation(self) -> float:
        """The share of what is held that is not given out."""
        return max(0.0, 1 - self.allocated / self.reserved) if self.reserved else 0.0


def from_torch(told: Mapping[str, Any]) -> Held:
    """What `memory_stats` of torch's caching allocators says."""
    return Held(
        allocated=told["allocated_bytes.all.peak"],
        reserved=told["reserved_bytes.all.peak"],
        requested=told.get("requested_bytes.all.peak"),
        split=told.get("inactive_split_bytes.all.peak"),
        retries=told.get("num_alloc_retries"),
        refusals=told.get("num_ooms"),
    )


def hold_to_bound(held: Held) -> None:
    """AssertionError when the allocator fragments more than the pattern excuses, or had to begin anew."""
    assert held.fragmentation <= FRAGMENTED, (
        f"memory fragments: {held.allocated} of {held.reserved} bytes are given out at the peak,"
        f" {held.fragmentation:.0%} are lost, {FRAGMENTED:.0%} are allowed"
    )
    assert not held.retries, f"memory fragments: the allocator emptied its cache {held.retries} times for want of room"


def scatter(make: Callable[[int], torch.Tensor], block: int, blocks: int) -> List[torch.Tensor]:
    """The pattern: many blocks, each second one freed, then larger ones that fit in no hole. Returns what is alive."""
    kept = [make(block) for _ in range(blocks)]
    del kept[::2]
    return kept + [make(block * 4 // 3) for _ in range(blocks // 2)]


def alive(block: int, blocks: int) -> int:
    """Bytes that the pattern leaves alive."""
    return (blocks - (blocks + 1) // 2) * block + blocks // 2 * (block * 4 // 3)
