"""What the process returns, and the words that a failure begins with."""

from __future__ import annotations

PASSED = 0
FAILED = 1
USAGE = 2
DEVICE = 4
INTERRUPTED = 130

NUMERICS = "numerics"
FELL_BACK = "backend fell back"
REFUSED = "backend refused"
COMPILER_MISSING = "compiler missing"
COLLECTIVE = "collective"
DEVICE_LOST = "device lost"
DEVICE_MISSING = "device missing"
MISSING_LIBRARY = "missing library"
MISSING_PACKAGE = "missing package"
MISMATCH = "version mismatch"
OUT_OF_MEMORY = "out of memory"
OUT_OF_DISK = "out of disk"
OUT_OF_SHARED_MEMORY = "out of shared memory"
DRIVER_TOO_OLD = "driver too old"
NO_KERNEL_IMAGE = "no kernel image"
HANG = "hang"
THROTTLED = "throttled"

WORDS = (
    NUMERICS,
    FELL_BACK,
    REFUSED,
    COMPILER_MISSING,
    COLLECTIVE,
    DEVICE_LOST,
    DEVICE_MISSING,
    MISSING_LIBRARY,
    MISSING_PACKAGE,
    MISMATCH,
    OUT_OF_MEMORY,
    OUT_OF_DISK,
    OUT_OF_SHARED_MEMORY,
    DRIVER_TOO_OLD,
    NO_KERNEL_IMAGE,
    HANG,
    THROTTLED,
)


def begins_with_word(line: str) -> bool:
    """Whether a message says its cause by itself."""
    return line.startswith(tuple(word + ":" for word in WORDS))
