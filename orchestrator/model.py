"""The frozen values that flow through torchmatrix.

    matrix.yaml -> Matrix -> Cell … -> Plan -> Image … -> Attempt … -> CellResult … -> Run -> Comparison -> Report

Each value is compared by content and never changed. Values hold facts; none of them decides. The closed sets are in
`vocabulary.py`. The JSON Schemas under `schemas/` are generated from these types.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from orchestrator.vocabulary import Cause, LeftOutKind, Outcome, Purpose, RuleKind, Status, Step, Tier, Verdict

SCHEMA_VERSION: Literal[1] = 1

Axes = Mapping[str, str]
# `(?!\n)`: Python's `$` stands before a last newline too, JSON Schema's does not; this means the same to both.
LARGEST = (1 << 53) - 1  # of the whole numbers: every reader of JSON holds it exactly, and every column of metrics
Whole = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
Natural = Annotated[int, Meta(ge=0, le=LARGEST)]
Positive = Annotated[int, Meta(ge=1, le=LARGEST)]
CellId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,126}$(?!\n)")]


# --- matrix.yaml ------------------------------------------------------------------------------------------------------


class Place(Struct, frozen=True, kw_only=True):
    """Where in a file a value stands, counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class AxisValues(Struct, frozen=True, kw_only=True):
    """Values that an axis takes, under a condition on other axes (axis -> glob or version range)."""

    axis: str
    values: tuple[str, ...]
    when: Axes
    place: Place


class Row(Struct, frozen=True, kw_only=True):
    """One cell that production runs today."""

    name: str
    owner: str
    axes: Axes
    allow_fallback: bool
    timeout_s: float | None
    place: Place


class Rule(Struct, frozen=True, kw_only=True):
    """A site rule: combinations that match `forbid` are not planned."""

    forbid: Axes
    because: str
    source: str
    place: Place


class KnownIssue(Struct, frozen=True, kw_only=True):
    """A failure that is expected where `when` matches: a case (`test` is a glob), or a status of the whole cell."""

    when: Axes
    test: str
    status: Status | None
    because: str
    issue: str
    until: str
    place: Place


class ContainerNeeds(Struct, frozen=True, kw_only=True):
    """What the devices of a runner class need beyond the default profile; each is shown in the report."""

    ipc: Literal["private", "host"] = "private"
    memlock: Literal["default", "unlimited"] = "default"
    seccomp: Literal["default", "unconfined"] = "default"
    devices: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class RunnerClass(Struct, frozen=True, kw_only=True):
    """A class of machines that can run cells."""

    name: str
    axes: Axes
    hosts: int
    tags: tuple[str, ...]
    price_per_hour: float | None
    watts: float | None
    container: ContainerNeeds
    place: Place


class Limits(Struct, frozen=True, kw_only=True):
    """What one cell may use; bytes and seconds."""

    timeout_s: Annotated[float, Meta(gt=0)] = 1200.0
    memory: Positive = 16 << 30
    shm: Natural = 2 << 30
    pids: Positive = 4096


class Load(Struct, frozen=True, kw_only=True):
    """A team's own load beside the built-in ones."""

    path: str
    tiers: tuple[Tier, ...]
    data: str
    place: Place


class Edge(Struct, frozen=True, kw_only=True):
    """How the edges of production are chosen."""

    neighbours: tuple[str, ...] = ()
    pairwise: tuple[str, ...] = ()
    cells: int | None = None
    gpu_hours: float | None = None


class Secret(Struct, frozen=True, kw_only=True):
    """A secret that a build or a mount is given: from a file or an environment variable, never by value."""

    name: str
    file: str
    env: str
    place: Place


class Matrix(Struct, frozen=True, kw_only=True):
    """matrix.yaml, read and checked; nothing in it is expanded."""

    file: str
    axes: tuple[AxisValues, ...]
    production: tuple[Row, ...]
    edge: Edge
    loads: tuple[Load, ...]
    rules: tuple[Rule, ...]
    facts: tuple[str, ...]
    known_issues: tuple[KnownIssue, ...]
    runners: tuple[RunnerClass, ...]
    limits: Limits
    gates: Mapping[str, float]
    secrets: tuple[Secret, ...]


# --- plan -------------------------------------------------------------------------------------------------------------


class KnownFailure(Struct, frozen=True, kw_only=True):
    """A known issue that applies to one planned cell."""

    test: str
    status: Status | None
    because: str
    issue: str
    until: str


class Placement(Struct, frozen=True, kw_only=True):
    """Where a cell runs, or why it does not run in this plan."""

    placed: bool
    runner: str | None
    reason: str


class PlannedCell(Struct, frozen=True, kw_only=True):
    """One cell of the plan: what it is, why it is in, where it runs. `axes` holds the defaults too."""

    id: CellId
    name: str
    owner: str
    tier: Tier
    why: str
    axes: Axes
    image: str
    placement: Placement
    allow_fallback: bool
    limits: Limits
    container: ContainerNeeds
    known_issues: tuple[KnownFailure, ...]


class LeftOut(Struct, frozen=True, kw_only=True):
    """A combination that is not in the plan, and why."""

    name: str
    tier: Tier
    axes: Axes
    kind: LeftOutKind
    reason: str


class Cost(Struct, frozen=True, kw_only=True):
    """What the placed cells of the plan will take."""

    cells: int
    placed: int
    unplaced: int
    images: int
    minutes: float
    gpu_hours: float
    money: float
    build_bytes: int


class Plan(Struct, frozen=True, kw_only=True):
    """Everything that a run needs to know: `run`, `merge` and the pipeline export read nothing else."""

    schema_version: Literal[1] = SCHEMA_VERSION
    matrix: str
    cells: tuple[PlannedCell, ...]
    left_out: tuple[LeftOut, ...]
    cost: Cost


# --- host and images --------------------------------------------------------------------------------------------------


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


class Image(Struct, frozen=True, kw_only=True):
    """A cell's image axes resolved: `name` carries the recipe digest, `ref` is what the engine runs."""

    id: str
    name: str
    ref: str
    axes: Axes
    observed: Axes


# --- attempts and results ---------------------------------------------------------------------------------------------


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


# --- support ----------------------------------------------------------------------------------------------------------


class Reason(Struct, frozen=True, kw_only=True):
    """One thing that a vendor says of a combination: `rule` is its topic, `axes` are those that it spoke of."""

    kind: RuleKind
    rule: str
    axes: tuple[str, ...]
    verdict: Verdict
    because: str
    source: str
    as_of: str


class Alternative(Struct, frozen=True, kw_only=True):
    """A combination near the one that was asked: what to change, and the verdict that the change gives."""

    change: Axes
    verdict: Verdict


class Observation(Struct, frozen=True, kw_only=True):
    """What a run of ours saw of a combination."""

    run: str
    cell: str
    status: Status
    axes: Axes


class Answer(Struct, frozen=True, kw_only=True):
    """What vendors say of a combination, the deciding reasons first.

    `missing` are axes that were not given and could change the verdict; `ignored` are those that could not be read.
    """

    verdict: Verdict
    reasons: tuple[Reason, ...]
    supported_until: str | None
    nearest: tuple[Alternative, ...] = ()
    missing: tuple[str, ...] = ()
    observed: tuple[Observation, ...] = ()
    ignored: tuple[str, ...] = ()
