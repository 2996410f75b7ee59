"""Memory: what an allocator says of itself after a pattern that is hard for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional

if TYPE_CHECKING:
    import torch

REFILLS = 4  # of the pattern's holes
SPARE = 4 << 10
"""Bytes that a hole has more than what is to fill it: the C library asks for some more than it needs, to align it."""
FRAGMENTED = 0.3
"""What the pattern may lose. An allocator that fills its holes again loses 0.08 at most (torch's own: six blocks of
3 MiB to a segment of 20), one that fills none 0.55, one that fills half of them 0.38."""
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


def stats(place: str) -> Mapping[str, Any]:
    """What torch's allocator of a device says of itself, by the keys of `torch.cuda.memory_stats`; empty: nothing."""
    import torch

    tell = getattr(getattr(torch, place, None), "memory_stats", None)
    told: Mapping[str, Any] = tell() if tell else {}
    return told


def from_torch(told: Mapping[str, Any], before: Mapping[str, Any]) -> Held:
    """What was taken between two `stats`, of which `before` is from when the peaks were reset.

    Its counts are of the whole process: those that were there before are not of what ran since.
    """

    def peak(name: str) -> Optional[int]:
        found = told.get(f"{name}.all.peak")
        return None if found is None else found - before.get(f"{name}.all.current", 0)

    def more(name: str) -> Optional[int]:
        return told[name] - before.get(name, 0) if name in told else None

    return Held(
        allocated=peak("allocated_bytes") or 0,
        reserved=peak("reserved_bytes") or 0,
        requested=peak("requested_bytes"),
        split=peak("inactive_split_bytes"),
        retries=more("num_alloc_retries"),
        refusals=more("num_ooms"),
    )


def peaks(told: Mapping[str, Any]) -> Dict[str, int]:
    """The metrics of a load beside its `memory_peak`: bytes taken from the system, and bytes asked for, where told."""
    named = {"memory_reserved": "reserved_bytes.all.peak", "memory_requested": "requested_bytes.all.peak"}
    return {metric: told[key] for metric, key in named.items() if key in told}


def hold_to_bound(held: Held) -> None:
    """AssertionError when the allocator fragments more than the pattern excuses, or had to begin anew."""
    if not held.fragmentation <= FRAGMENTED:
        raise AssertionError(
            f"memory fragments: {held.allocated} of {held.reserved} bytes are given out at the peak,"
            f" {held.fragmentation:.0%} are lost, {FRAGMENTED:.0%} are allowed"
        )
    if held.retries:
        raise AssertionError(f"memory fragments: the allocator emptied its cache {held.retries} times for want of room")


def scatter(make: Callable[[int], torch.Tensor], block: int, blocks: int) -> List[torch.Tensor]:
    """The pattern: many blocks, each second one freed, larger ones that fit in no hole, then such that do.

    These are freed and made again: an allocator that fills no hole takes half of the blocks anew each time. Returns
    what is alive, which is the most that ever was.
    """
    kept = [make(block) for _ in range(blocks)]
    del kept[::2]
    larger = [make(block * 4 // 3) for _ in range(blocks // 2)]
    filling: List[torch.Tensor] = []
    for _ in range(REFILLS):
        filling.clear()
        filling += [make(block - SPARE) for _ in range(blocks - len(kept))]
    return kept + larger + filling


def alive(block: int, blocks: int) -> int:
    """Bytes that the pattern leaves alive."""
    holes = (blocks + 1) // 2
    return blocks * block - holes * SPARE + blocks // 2 * (block * 4 // 3)
