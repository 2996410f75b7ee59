"""matrix.yaml, read and checked: nothing in these values is expanded."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from orchestrator.model.ground import Axes, Natural, Place, Positive
from orchestrator.vocabulary import Status, Tier


class AxisValues(Struct, frozen=True, kw_only=True):
    """Values that an axis takes, under a condition on other axes (axis -> glob or version range).

    A value may be an alias (`newest 2.x`) until the facts say what it is; then `aliases` says which value came of it.
    """

    axis: str
    values: tuple[str, ...]
    when: Axes
    place: Place
    aliases: Axes = {}


class Row(Struct, frozen=True, kw_only=True):
    """One cell that production runs today.

    `aliases` are the axes whose value was written as an alias, `secrets` the names of those that it is given.
    """

    name: str
    owner: str
    axes: Axes
    allow_fallback: bool
    timeout_s: float | None
    place: Place
    aliases: Axes = {}
    secrets: tuple[str, ...] = ()


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
    secrets: tuple[str, ...] = ()


class Interaction(Struct, frozen=True, kw_only=True):
    """Axes of which every valid combination of `strength` values is wanted in at least one cell: 2 means pairs."""

    axes: tuple[str, ...]
    strength: int = 2
    place: Place


class Edge(Struct, frozen=True, kw_only=True):
    """How the edges of production are chosen, and where they end."""

    neighbours: tuple[str, ...] = ()
    pairwise: tuple[Interaction, ...] = ()
    cells: int | None = None
    gpu_hours: float | None = None
    money: float | None = None


class SecretSource(Struct, frozen=True, kw_only=True):
    """Where a secret is: in a file or in an environment variable, never here by value."""

    name: str
    file: str = ""
    env: str = ""


class Secret(SecretSource, frozen=True, kw_only=True):
    """A secret that the builds and cells of the rows that name it are given."""

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
