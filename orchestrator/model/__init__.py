"""The frozen values that flow through torchmatrix.

    matrix.yaml -> Matrix -> Cell … -> Plan -> Image … -> Attempt … -> CellResult … -> Run -> Comparison -> Report

Each value is compared by content and never changed. Values hold facts; none of them decides. The closed sets are in
`vocabulary.py`. The JSON Schemas under `schemas/` are generated from these types.
"""

from orchestrator.model.ground import LARGEST, SCHEMA_VERSION, Axes, CellId, Natural, Place, Positive, Whole
from orchestrator.model.matrix import (
    AxisValues,
    ContainerNeeds,
    Edge,
    KnownIssue,
    Limits,
    Load,
    Matrix,
    Row,
    Rule,
    RunnerClass,
    Secret,
)
from orchestrator.model.plan import Cost, KnownFailure, LeftOut, Placement, Plan, PlannedCell
from orchestrator.model.results import OWN_SYSTEM, Attempt, Case, CellResult, Counts, Exit, Host, Image, Log, Run
from orchestrator.model.support import Alternative, Answer, Observation, Reason

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
    "ContainerNeeds",
    "Cost",
    "Counts",
    "Edge",
    "Exit",
    "Host",
    "Image",
    "KnownFailure",
    "KnownIssue",
    "LeftOut",
    "Limits",
    "Load",
    "Log",
    "Matrix",
    "Natural",
    "Observation",
    "Place",
    "Placement",
    "Plan",
    "PlannedCell",
    "Positive",
    "Reason",
    "Row",
    "Rule",
    "Run",
    "RunnerClass",
    "Secret",
    "Whole",
]
