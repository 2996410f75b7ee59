"""The frozen values that flow through torchmatrix.

    matrix.yaml -> Matrix -> Cell … -> Plan -> Image … -> Attempt … -> CellResult … -> Run -> Comparison -> Report

Each value is compared by content and never changed. Values hold facts; none of them decides. The closed sets are in
`vocabulary.py`. The JSON Schemas under `schemas/` are generated from these types.
"""

from orchestrator.model.ground import LARGEST, SCHEMA_VERSION, Axes, CellId, Natural, Place, Positive, Whole
from orchestrator.model.locks import CheckedLock, LockCheck, LockedImage, Locking
from orchestrator.model.matrix import (
    AxisValues,
    ContainerNeeds,
    Edge,
    Interaction,
    KnownIssue,
    Limits,
    Load,
    Matrix,
    Row,
    Rule,
    RunnerClass,
    Secret,
    SecretSource,
)
from orchestrator.model.plan import (
    CellSupport,
    Cost,
    Coverage,
    KnownFailure,
    LeftOut,
    Placement,
    Plan,
    PlannedCell,
    Uncovered,
)
from orchestrator.model.results import OWN_SYSTEM, Attempt, Case, CellResult, Counts, Exit, Host, Image, Log, Ready, Run
from orchestrator.model.statistics import PairedComparison, Trend, TrendFlag
from orchestrator.model.studies import Impact, Move, NearestGoal, RowImpact, State, Upgrade, UpgradeStep
from orchestrator.model.support import Alternative, Answer, Difference, Observation, Reason

__all__ = [
    "LARGEST",
    "OWN_SYSTEM",
    "SCHEMA_VERSION",
    "Alternative",
    "Answer",
    "Attempt",
    "Axes",
    "AxisValues",
    "Case",
    "CellId",
    "CellResult",
    "CellSupport",
    "CheckedLock",
    "ContainerNeeds",
    "Cost",
    "Counts",
    "Coverage",
    "Difference",
    "Edge",
    "Exit",
    "Host",
    "Image",
    "Impact",
    "Interaction",
    "KnownFailure",
    "KnownIssue",
    "LeftOut",
    "Limits",
    "Load",
    "LockCheck",
    "LockedImage",
    "Locking",
    "Log",
    "Matrix",
    "Move",
    "Natural",
    "NearestGoal",
    "Observation",
    "PairedComparison",
    "Place",
    "Placement",
    "Plan",
    "PlannedCell",
    "Positive",
    "Ready",
    "Reason",
    "Row",
    "RowImpact",
    "Rule",
    "Run",
    "RunnerClass",
    "Secret",
    "SecretSource",
    "State",
    "Trend",
    "TrendFlag",
    "Uncovered",
    "Upgrade",
    "UpgradeStep",
    "Whole",
]
