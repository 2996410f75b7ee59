"""The plan: every cell with its reason to be in, everything left out with its own."""

from typing import Literal

from msgspec import Struct

from orchestrator.model.ground import SCHEMA_VERSION, Axes, CellId
from orchestrator.model.matrix import ContainerNeeds, Limits
from orchestrator.vocabulary import LeftOutKind, Status, Tier


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
