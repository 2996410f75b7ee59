"""Why there is no image: a fact for the report, never a verdict about the combination."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

from msgspec import Struct

from orchestrator import text
from orchestrator.errors import InfrastructureError
from orchestrator.vocabulary import Cause


class Stage(StrEnum):
    """How far the way from axes to an image went."""

    RECIPE = "recipe"
    WHEELS = "wheels"
    BASE = "base"
    BUILD = "build"
    OBSERVE = "observe"
    READY = "ready image"  # one that is not made here: it is there, or pulled


class BuildFailure(Struct, frozen=True, kw_only=True):
    """One image that could not be made; `log_tail` is safe to print."""

    id: str
    stage: Stage
    reason: str
    log_tail: str
    cause: Cause


class StageFailed(InfrastructureError):  # noqa: N818 - reads as what happened
    """A stage of one image failed; becomes that image's BuildFailure."""

    def __init__(self, stage: Stage, fact: str, *, log: str = "", cause: Cause | None = None, hint: str = "") -> None:
        super().__init__(fact, hint=hint)
        self.stage = stage
        self.log = log
        self.why = cause or cause_in(log or fact)

    def of(self, image_id: str) -> BuildFailure:
        """The failure of the image of that id."""
        return BuildFailure(
            id=image_id,
            stage=self.stage,
            reason=text.one_line(f"{self.stage}: {self.fact}" + (f"; {self.hint}" if self.hint else ""), 600),
            log_tail=text.terminal_lines(tail(self.log)) if self.log else "",
            cause=self.why,
        )


def stale(stage: Stage, fact: str, *, log: str = "", alone: str = "") -> StageFailed:
    """What a lock names is not to be had: nothing else is taken in its place. `alone` can be renewed by itself."""
    hint = "`torchmatrix lock --upgrade` renews the lock"
    hint += f", `--upgrade-package {alone}` this alone" if alone else ""
    return StageFailed(stage, fact, log=log, cause=Cause.LOCK_STALE, hint=hint)


@contextmanager
def at(stage: Stage) -> Iterator[None]:
    """Names the stage in which this machine's own trouble (a full disk, no right to write) met the image."""
    try:
        yield
    except OSError as problem:
        place = f" at {problem.filename}" if problem.filename else ""
        raise StageFailed(stage, text.one_line(f"{problem.strerror or problem}{place}")) from problem


# Read from the messages of uv, apt, mmdebstrap and docker; the first that fits wins.
_CAUSES: Sequence[tuple[re.Pattern[str], Cause]] = (
    (re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE), Cause.OUT_OF_DISK),
    (re.compile(r"cannot connect to the docker daemon|error during connect", re.IGNORECASE), Cause.ENGINE),
    (
        re.compile(
            r"there (is|are) no versions? of|has no wheels|was not found in the|unable to locate package", re.IGNORECASE
        ),
        Cause.MISSING_PACKAGE,
    ),
)


def cause_in(log: str) -> Cause:
    """The cause that a tool's own words name; `build` when they name none."""
    return next((cause for pattern, cause in _CAUSES if pattern.search(log)), Cause.BUILD)


def tail(log: str, lines: int = 30, limit: int = 6000) -> str:
    """The last lines of a log."""
    return "\n".join(log.rstrip().splitlines()[-lines:])[-limit:]
