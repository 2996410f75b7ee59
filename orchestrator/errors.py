"""Every error a user can meet, each with its exit code.

    TorchmatrixError            70   our bug
    ├── InputError               2   a file, value or option that cannot be used
    ├── NothingSelected          3   no cell is left to work on
    ├── InfrastructureError      4   engine, disk, network, build
    └── Interrupted            130   the user or the system asked us to stop

The text of an error is the fact, its place, the likely cause and what to do, in that order.
"""

import errno
from collections.abc import Sequence
from enum import IntEnum


class ExitCode(IntEnum):
    """What the process returns; where several hold: 4, then 1, then 5."""

    GOOD = 0
    NOT_PASSED = 1
    BAD_INPUT = 2
    NOTHING_SELECTED = 3
    INFRASTRUCTURE = 4
    REGRESSION = 5
    OUR_BUG = 70
    INTERRUPTED = 130


class TorchmatrixError(Exception):
    """A failure with a text for the user and an exit code for the shell."""

    exit_code = ExitCode.OUR_BUG

    def __init__(self, fact: str, *, place: str = "", cause: str = "", hint: str = "") -> None:
        super().__init__(fact)
        self.fact = fact
        self.place = place
        self.cause = cause
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.place}: {self.fact}" if self.place else self.fact
        if self.cause:
            text += f" ({self.cause})"
        if self.hint:
            text += f"\nhint: {self.hint}"
        return text


class InputError(TorchmatrixError):
    """A file, a value or an option cannot be used as it is."""

    exit_code = ExitCode.BAD_INPUT


class InputErrors(InputError):  # noqa: N818 - more than one InputError
    """All problems of one input, reported together in the order of their places."""

    def __init__(self, problems: Sequence[InputError]) -> None:
        super().__init__(f"{len(problems)} problems")
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class NothingSelected(TorchmatrixError):  # noqa: N818 - reads as what happened
    """The selection is valid and leaves no cell."""

    exit_code = ExitCode.NOTHING_SELECTED


class InfrastructureError(TorchmatrixError):
    """The engine, the disk, the network or a build failed: not the combination under test."""

    exit_code = ExitCode.INFRASTRUCTURE


class Interrupted(TorchmatrixError):  # noqa: N818 - reads as what happened
    """The run was stopped from outside; what was done is kept and can be resumed."""

    exit_code = ExitCode.INTERRUPTED


_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def refuse_shortage(error: Exception, place: str) -> None:
    """InfrastructureError where a file could not be opened for want of what every file takes: it is not at fault."""
    if isinstance(error, OSError) and error.errno in _SHORTAGES:
        raise InfrastructureError(
            error.strerror or str(error), place=place, cause="this machine is at a limit", hint="see `ulimit -a`"
        ) from error
