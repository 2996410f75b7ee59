"""The closed sets: each has its one home here, and what is not in it cannot happen."""

from enum import StrEnum


class Status(StrEnum):
    """What became of a cell: exactly one of these, for every planned cell."""

    PASSED = "passed"
    FAILED = "failed"
    CRASHED = "crashed"
    CRASHED_AT_EXIT = "crashed-at-exit"
    TIMEOUT = "timeout"
    OOM = "oom"
    MISMATCH = "mismatch"
    FELL_BACK = "fell-back"
    ERROR = "error"
    UNPLACED = "unplaced"
    UNSUPPORTED = "unsupported"
    CANCELLED = "cancelled"
    NOT_RUN = "not-run"


class Cause(StrEnum):
    """Why a cell did not pass, read from exit, messages and vendor error codes."""

    NONE = "none"
    NUMERICS = "numerics"
    ASSERTION = "assertion"
    BACKEND_REFUSED = "backend refused"
    BACKEND_FELL_BACK = "backend fell back"
    COMPILER_MISSING = "compiler missing"
    OUT_OF_MEMORY = "out of memory"
    OUT_OF_SHARED_MEMORY = "out of shared memory"
    OUT_OF_DISK = "out of disk"
    DRIVER_TOO_OLD = "driver too old"
    NO_KERNEL_IMAGE = "no kernel image"
    MISSING_LIBRARY = "missing library"
    MISSING_PACKAGE = "missing package"
    DEVICE_MISSING = "device missing"
    DEVICE_LOST = "device lost"
    COLLECTIVE = "collective"
    SEGMENTATION_FAULT = "segmentation fault"
    ABORT = "abort"
    KILLED = "killed"
    HANG = "hang"
    VERSION_MISMATCH = "version mismatch"
    REPORT_UNREADABLE = "report unreadable"
    NO_TESTS = "no tests"
    BUILD = "build"
    LOCK_STALE = "lock stale"
    ENGINE = "engine"
    NO_MACHINE = "no machine"
    RULE = "rule"
    KNOWN_ISSUE_GONE = "known issue gone"
    KNOWN_ISSUE_EXPIRED = "known issue expired"
    INTERRUPTED = "interrupted"
    UNCLEAR = "unclear"


class Tier(StrEnum):
    """Why a cell is in the plan: production runs it, or it lies at the edge of what production runs."""

    PRODUCTION = "production"
    EDGE = "edge"


class Purpose(StrEnum):
    """What an attempt was made for."""

    RUN = "run"
    RETRY = "retry"
    CONFIRM = "confirm"
    CALIBRATE = "calibrate"
    BISECT = "bisect"


class Step(StrEnum):
    """The journalled steps of a cell's way through a run."""

    PLAN = "plan"
    PREPARE = "prepare"
    CREATE = "create"
    START = "start"
    WAIT = "wait"
    COLLECT = "collect"
    REMOVE = "remove"
    COMMIT = "commit"
    MERGE = "merge"


class Outcome(StrEnum):
    """What one test case did."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


class Direction(StrEnum):
    """Which way a metric is better."""

    HIGHER = "higher"
    LOWER = "lower"
    EQUAL = "equal"


class LeftOutKind(StrEnum):
    """Why a combination is not in the plan."""

    RULE = "rule"
    SELECTION = "selection"
    TIER = "tier"
    BUDGET = "budget"
    DUPLICATE = "duplicate"
    NO_WHEEL = "no wheel"
