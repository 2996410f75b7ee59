"""What became of a plan: machines, images, attempts and results."""

from typing import Literal

from msgspec import Struct, field

from orchestrator.model.ground import SCHEMA_VERSION, Axes, CellId, Natural, Whole
from orchestrator.model.plan import Plan
from orchestrator.vocabulary import Cause, Outcome, Purpose, Status, Step


class Host(Struct, frozen=True, kw_only=True):
    """What this machine is: observed host axes and what it can run cells with.

    `without_compiler` is what keeps inductor from building kernels where cells run without a container.
    """

    name: str
    axes: Axes
    engine: Literal["docker", "process", "here", "none"]
    engine_reason: str
    cpus: int
    memory: int
    pythons: tuple[str, ...]
    without_compiler: str = ""


class Ready(Struct, frozen=True, kw_only=True):
    """How a cell runs in an image that is not ours.

    `python` is the interpreter in it that has torch, `user` is `uid:gid`, `unset` names the image's variables that a
    cell does not get, `volumes` are the image's own, `tools` is a folder of this host with what the suite needs and the
    image lacks. `notes` tell what is relaxed and what of the image is left aside.
    """

    python: str
    user: str
    unset: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    tools: str = ""
    notes: tuple[str, ...] = ()


class Image(Struct, frozen=True, kw_only=True):
    """A cell's image axes resolved: `name` carries the recipe digest, `ref` is what the engine runs.

    `ready` is there for one that was not built here.
    """

    id: str
    name: str
    ref: str
    axes: Axes
    observed: Axes
    ready: Ready | None = None


class Log(Struct, frozen=True, kw_only=True):
    """The kept head and tail of what a cell printed, and how many bytes there were."""

    head: str = ""
    tail: str = ""
    bytes: Natural = 0


class Exit(Struct, frozen=True, kw_only=True):
    """What the engine saw. `problem` is infrastructure's own failure, told with the step it happened in."""

    code: Whole | None = None
    signal: Natural | None = None
    oom: bool = False
    timed_out: bool = False
    cancelled: bool = False
    problem: str = ""
    step: Step | None = None
    started: str = ""
    duration_s: float = 0.0
    files: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    log: Log = field(default_factory=Log)


# What an attempt without a container relaxes: a row that leaves `base` at its default has not asked for a system.
OWN_SYSTEM = "base: this machine's own system"


class Attempt(Struct, frozen=True, kw_only=True):
    """One try at a cell: `attempt.json` beside the bundle that it left."""

    schema_version: Literal[1] = SCHEMA_VERSION
    cell: CellId
    number: Natural
    purpose: Purpose = Purpose.RUN
    block: Natural = 0
    order: Natural = 0
    host: str = ""
    engine: str = ""
    devices: tuple[str, ...] = ()
    image: str = ""
    relaxed: tuple[str, ...] = ()
    exit: Exit


class Case(Struct, frozen=True, kw_only=True):
    """One test case as the suite reported it; `name` is unique in its cell."""

    name: str
    outcome: Outcome
    message: str = ""
    detail: str = ""
    duration_s: float | None = None
    known_issue: str = ""


class Counts(Struct, frozen=True, kw_only=True):
    """Cases of a cell by what became of them."""

    passed: int = 0
    failed: int = 0
    error: int = 0
    skipped: int = 0
    known: int = 0


class CellResult(Struct, frozen=True, kw_only=True):
    """What became of one planned cell; made by `results/judge.py` alone.

    `known_issue` is the link of the issue that expects this very status of the whole cell: it then counts as skipped.
    """

    id: CellId
    status: Status
    cause: Cause
    reason: str
    requested: Axes
    observed: Axes
    cases: tuple[Case, ...]
    counts: Counts
    notes: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    known_issue: str = ""


class Run(Struct, frozen=True, kw_only=True):
    """A merged run: one result for each planned cell, with those of its cases that need reading, up to a bound."""

    id: str
    plan: Plan
    results: tuple[CellResult, ...]
    complete: bool
    notes: tuple[str, ...] = ()
