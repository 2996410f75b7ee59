"""Exit codes as shells and engines write them: 128 + N for an end by signal N."""

_SIGNALS = range(1, 65)


def signal_of(code: int) -> int | None:
    """The signal that an exit code tells of, if any."""
    return code - 128 if code - 128 in _SIGNALS else None


def code_of(returncode: int) -> int:
    """The exit code of a child process, whose end by signal N Python writes as -N."""
    return 128 - returncode if returncode < 0 else returncode
