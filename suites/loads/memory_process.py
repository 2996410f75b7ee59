"""A process of its own for the processor's memory: `python -m suites.loads.memory_process` prints one JSON line.

Its address space is bounded before it asks for too much, so the machine is never short of memory.
"""

from __future__ import annotations

import gc
import json
import resource
from pathlib import Path
from typing import Any, Dict

import torch

from suites import memory

BLOCK, BLOCKS = 96 << 10, 512  # bytes: below the size from which the C library asks the kernel for each block
STEPS = 200
ROOM, TOO_MUCH = 256 << 20, 1 << 30  # bytes


def main() -> None:
    """Leak probe, pattern, refusal: in this order, since each leaves the process worse than it was."""
    torch.set_num_threads(1)
    told: Dict[str, Any] = {"growth": growth(), "held": pattern(), "refused": refusal()}
    told["works"] = bool((torch.ones(64, 64) @ torch.ones(64, 64) == 64).all())
    print(json.dumps(told))


def growth() -> int:
    """Bytes by which the process grew over equal training steps."""
    weight = torch.ones(128, 128, requires_grad=True)
    before = 0
    for step in range(2 * STEPS):
        if step == STEPS:
            before = resident()
        (weight @ weight).sum().backward()
        weight.grad = None
    return resident() - before


def pattern() -> Dict[str, int]:
    """What is alive after the pattern, and what the process grew by for it."""
    gc.collect()
    before = resident()
    kept = memory.scatter(lambda size: torch.ones(size, dtype=torch.uint8), BLOCK, BLOCKS)
    return {"allocated": sum(one.numel() for one in kept), "reserved": resident() - before}


def refusal() -> str:
    """What is said to one who asks for more than there is."""
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, hard))
    try:
        torch.empty(TOO_MUCH, dtype=torch.uint8)
    except (RuntimeError, MemoryError) as error:
        return str(error).strip().splitlines()[0]
    return ""


def resident() -> int:
    """Bytes of this process in main memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    main()
