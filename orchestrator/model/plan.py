"""The plan: every cell with its reason to be in, everything left out with its own."""

from typing import Literal

from msgspec import Struct, field

from orchestrator.model.ground import SCHEMA_VERSION, Axes, CellId
from orchestrator.model.matrix import ContainerNeeds, Limits, SecretSource
from orchestrator.vocabulary import LeftOutKind, Status, Tier, Verdict


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


class CellSupport(Struct, frozen=True, kw_only=True):
    """What vendors say of a cell: the verdict and the one reason that decides it. Without a reason nobody says it."""

    verdict: Verdict = Verdict.UNKNOWN
    rule: str = ""
    because: str = ""
    source: str = ""
    as_of: str = ""
    supported_until: str | None = None


class PlannedCell(Struct, frozen=True, kw_only=True):
    """One cell of the plan: what it is, why it is in, what vendors say of it, where it runs.

    `axes` holds the defaults too; `aliases` are the axes whose value the matrix writes as an alias, `newest 2.x` say;
    `secrets` are those that its image's build and the cell itself are given.
    """

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
    support: CellSupport = field(default_factory=CellSupport)
    aliases: Axes = {}
    secrets: tuple[SecretSource, ...] = ()


class LeftOut(Struct, frozen=True, kw_only=True):
    """A combination that is not in the plan, and why; where a rule keeps it out, its topic and its source."""

    name: str
    tier: Tier
    axes: Axes
    kind: LeftOutKind
    reason: str
    rule: str = ""
    source: str = ""


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


class Uncovered(Struct, frozen=True, kw_only=True):
    """A combination of values that no planned cell has, and what keeps it out."""

    axes: Axes
    kind: LeftOutKind
    reason: str
    rule: str = ""
    source: str = ""


class Coverage(Struct, frozen=True, kw_only=True):
    """How many of the combinations of `strength` values of some axes are in cells that are planned, and placed.

    `wanted` are those that no rule forbids; each of them that is not planned, and each that is forbidden, is in
    `uncovered` with its reason.
    """

    axes: tuple[str, ...]
    strength: int
    wanted: int
    planned: int
    placed: int
    uncovered: tuple[Uncovered, ...]


class Plan(Struct, frozen=True, kw_only=True):
    """Everything that a run needs to know: `run`, `merge` and the pipeline export read nothing else."""

    schema_version: Literal[1] = SCHEMA_VERSION
    matrix: str
    cells: tuple[PlannedCell, ...]
    left_out: tuple[LeftOut, ...]
    cost: Cost
    coverage: tuple[Coverage, ...] = ()
