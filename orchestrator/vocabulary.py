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
    THROTTLED = "throttled"
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
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class Verdict(StrEnum):
    """What vendors say of a combination."""

    SUPPORTED = "supported"
    DEGRADED = "degraded"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


WORST_FIRST = (Verdict.UNSUPPORTED, Verdict.UNKNOWN, Verdict.DEGRADED, Verdict.SUPPORTED)
WORKS = frozenset({Verdict.SUPPORTED, Verdict.DEGRADED})  # in full, or in part


class LockState(StrEnum):
    """What became of an image's lock, or what its check found."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    FAILED = "failed"
    GOOD = "good"
    NONE = "none"  # no lock, and none is asked for: nothing of its build is locked
    MISSING = "missing"
    UNREADABLE = "unreadable"
    OTHER = "does not fit"
    STALE = "stale"
    UNANSWERED = "not answered"  # whether it is stale is not known: an index or a mirror did not answer
    LEFT_OVER = "left over"


class RuleKind(StrEnum):
    """The few general forms of what vendors say: a kind is code, what it is said of is data."""

    INTERVAL = "interval"
    MAPPING = "mapping"
    PIN = "pin"
    BINARY_COMPATIBILITY = "binary-compatibility"
    LIFETIME = "lifetime"
    COMPATIBILITY_MODE = "compatibility-mode"
    LIBRARY_ARCHITECTURE = "library-architecture"
    LIBRARY_DRIVER = "library-driver"
    ENVIRONMENT_SHADOWING = "environment-shadowing"
    ABI = "abi"
    FEATURE_SCOPE = "feature-scope"
    WINDOW = "window"
    VALIDATED_LIST = "validated-list"
    SITE_RULE = "site-rule"
    NO_DATA = "no-data"


class Evidence(StrEnum):
    """How a fact is known, best first."""

    MEASURED = "measured"
    METADATA = "metadata"
    BUILD_SCRIPT = "build-script"
    VENDOR_DOC = "vendor-doc"
    VENDOR_CODE = "vendor-code"
    ISSUE = "issue"
    SECONDARY = "secondary"


class ComparisonVerdict(StrEnum):
    """What measured pairs say of a change, held against the margin that was promised to be caught."""

    PASS = "PASS"  # noqa: S105 - a verdict
    FAIL = "FAIL"
    IMPROVED = "IMPROVED"
    INCONCLUSIVE = "INCONCLUSIVE"
    UNMEASURABLE = "UNMEASURABLE"
