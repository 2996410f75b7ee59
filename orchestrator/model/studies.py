"""What a study answers: what a change does to each production row, and the way from one combination to another."""

from typing import Literal

from msgspec import Struct

from orchestrator.model.ground import SCHEMA_VERSION, Axes, CellId, Natural, Place, Positive
from orchestrator.model.plan import Cost
from orchestrator.model.support import Observation, Reason
from orchestrator.vocabulary import Verdict


class State(Struct, frozen=True, kw_only=True):
    """A combination and what vendors say of it, the deciding reasons first.

    `missing` are axes that were not given and could change the verdict.
    """

    axes: Axes
    verdict: Verdict
    reasons: tuple[Reason, ...]
    supported_until: str | None
    missing: tuple[str, ...] = ()


class Move(Struct, frozen=True, kw_only=True):
    """What changes besides what was asked, and what vendors say of all of it together."""

    change: Axes
    state: State


class RowImpact(Struct, frozen=True, kw_only=True):
    """What a change, or the time, does to one production row.

    `unchanged` says why it does nothing to it; empty when it does. `moves` is the smallest further change that mends
    the row, None where it needs none or none does; `blocked` is what is wrong with it even so, and was not before.
    `cell` is what there is to test, `observed` what our runs saw of it.
    """

    name: str
    owner: str
    place: Place
    unchanged: str
    before: State
    after: State
    moves: Move | None
    blocked: Reason | None
    cell: CellId | None
    observed: tuple[Observation, ...]

    @property
    def final(self) -> State:
        """The row after the change and what moves with it."""
        return self.moves.state if self.moves else self.after


class Impact(Struct, frozen=True, kw_only=True):
    """A change (`change`), or the time up to the day `later`, on every production row of a matrix.

    `cost` is what testing the cells takes that no run has seen; `plan` is the file with all cells to test.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    matrix: str
    on: str
    change: Axes
    later: str | None
    rows: tuple[RowImpact, ...]
    cost: Cost
    plan: str


class UpgradeStep(Struct, frozen=True, kw_only=True):
    """One step: what changes on the host or in the image, and the state after it.

    A step that changes several axes is `coupled`: the reasons say why none of them can change alone.
    """

    number: Positive
    where: Literal["host", "image"]
    change: Axes
    coupled: tuple[Reason, ...]
    state: State


class NearestGoal(Struct, frozen=True, kw_only=True):
    """A goal near the one asked for that can be reached: what differs from it, and the steps."""

    change: Axes
    state: State
    steps: tuple[UpgradeStep, ...]


class Upgrade(Struct, frozen=True, kw_only=True):
    """The way from one combination to another, or why there is none.

    `blocked` is the rule in the way, None when there is a way. `asked` counts the combinations that were checked;
    `bounded` says that the search ended at its bound, so that a way may exist that it has not seen.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    on: str
    allow_degraded: bool
    start: State
    goal: State
    found: bool
    steps: tuple[UpgradeStep, ...]
    blocked: Reason | None
    nearest: NearestGoal | None
    asked: Natural
    bounded: bool
