"""One difference between two cells in what they did, and the closed set of its kinds."""

from enum import StrEnum

from msgspec import Struct


class ChangeKind(StrEnum):
    """In what way two cells differ."""

    SPLIT = "fused kernel split"
    MERGED = "fused kernels merged"
    REGROUPED = "fused otherwise"
    MORE_KERNELS = "more kernels for an operator"
    FEWER_KERNELS = "fewer kernels for an operator"
    LAUNCHES = "launches"
    NEW_OPERATOR = "new operator"
    LOST_OPERATOR = "lost operator"
    CALLS = "calls of an operator"
    GRAPHS = "graphs"
    GRAPH_BREAKS = "graph breaks"
    RECOMPILES = "recompiles"
    FALLBACKS = "fallbacks"
    COLLECTIVES = "collectives"
    COPIES = "copies between host and device"
    WORK = "not the same work"
    LAST_BITS = "last bits"
    VALUES = "values"
    NOT_FINITE = "values that are not finite"
    OUTPUTS = "outputs"
    NEW_LOAD = "new load"
    LOST_LOAD = "lost load"


MIRRORED = {
    ChangeKind.SPLIT: ChangeKind.MERGED,
    ChangeKind.MERGED: ChangeKind.SPLIT,
    ChangeKind.MORE_KERNELS: ChangeKind.FEWER_KERNELS,
    ChangeKind.FEWER_KERNELS: ChangeKind.MORE_KERNELS,
    ChangeKind.NEW_OPERATOR: ChangeKind.LOST_OPERATOR,
    ChangeKind.LOST_OPERATOR: ChangeKind.NEW_OPERATOR,
    ChangeKind.NEW_LOAD: ChangeKind.LOST_LOAD,
    ChangeKind.LOST_LOAD: ChangeKind.NEW_LOAD,
}
"""What a kind is called with the two sides exchanged; any other keeps its name."""


class StructureChange(Struct, frozen=True, kw_only=True):
    """One difference; `load` is the load with its shapes and precision.

    `share` is the part of the step's time that what changed takes, the larger of both sides; 0 where it is not known.
    `unstable` says that one side alone already differs from itself: from step to step, or in another run of its image.
    """

    kind: ChangeKind
    load: str
    scope: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    sentence: str
    share: float = 0.0
    unstable: bool = False
