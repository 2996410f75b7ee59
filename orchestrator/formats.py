"""The files that cross between the suite and the orchestrator: the bundle.

A bundle is a folder with the names of `BUNDLE_FILES`, its `progress.jsonl` ending in a final line, its `SHA256SUMS`
written last. The suite never imports this file; a conformance test holds both to the schemas made from it.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from orchestrator.model import Axes, CellId, Counts, LeftOut, Natural, Positive, Whole
from orchestrator.vocabulary import Cause, Direction, Outcome, Status, Tier

CELL = "cell.json"
JUNIT = "junit.xml"
METRICS = "metrics.jsonl"
ENVIRONMENT = "environment.json"
STRUCTURE = "structure.json"
PROGRESS = "progress.jsonl"
CHECKSUMS = "SHA256SUMS"
BUNDLE_FILES = (CELL, JUNIT, METRICS, ENVIRONMENT, STRUCTURE, PROGRESS, CHECKSUMS)
ATTEMPT = "attempt.json"  # ours, beside the bundle: never taken from a container
SUMMARY = "summary.json"  # of a merged run
PAGE = "report.html"

Text = Annotated[str, Meta(min_length=1, max_length=400)]


class CellFile(Struct, frozen=True, kw_only=True):
    """`cell.json`: what the suite is asked to run. `axes` holds the requested axes, defaults too."""

    schema_version: Literal[1] = 1
    id: CellId
    axes: Axes
    device: Literal["auto", "cpu", "cuda", "xpu", "mps"] = "auto"
    profile: Literal["smoke", "standard", "deep"] = "smoke"
    seed: int = 0


class EnvironmentFile(Struct, frozen=True, kw_only=True):
    """`environment.json`: what was there. `axes` are full version texts by axis name; `facts` is free text by name."""

    schema_version: Literal[1] = 1
    started: Text
    axes: Axes
    facts: Mapping[str, str]


class MetricRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of `metrics.jsonl`: a figure with everything that is needed to read it.

    `samples` counts the timed samples behind `value`; `statistic` says how they became one (`median`, `min`, `exact`).
    """

    cell: CellId
    metric: Text
    value: float
    unit: Text
    direction: Direction
    load: Text
    model: Text
    model_version: Text
    shapes: Text
    precision: Text
    device: Text
    warmup: Natural
    samples: Positive
    statistic: Text
    timer: Text
    seed: Whole


class BackendUse(Struct, frozen=True, kw_only=True):
    """What a compile backend took over in one load, beside what it is expected to take."""

    load: Text
    backend: Text
    graphs: int
    graph_breaks: int
    break_reasons: tuple[str, ...]
    taken: int
    expected: int
    unit: Text


class StructureFile(Struct, frozen=True, kw_only=True):
    """`structure.json`: exact counts of one run, compared for equality."""

    schema_version: Literal[1] = 1
    backends: tuple[BackendUse, ...]


class ProgressStart(Struct, frozen=True, kw_only=True, tag_field="event", tag="start"):
    """A test began."""

    test: Text


class ProgressEnd(Struct, frozen=True, kw_only=True, tag_field="event", tag="end"):
    """A test ended."""

    test: Text
    outcome: Outcome


class ProgressFinal(Struct, frozen=True, kw_only=True, tag_field="event", tag="final"):
    """The last line: the session ended by itself, with this exit code and this many tests reported."""

    exit: int
    tests: int


ProgressLine = ProgressStart | ProgressEnd | ProgressFinal


class SummaryCell(Struct, frozen=True, kw_only=True):
    """What became of one planned cell, as `summary.json` says it; `attempts` counts them."""

    id: CellId
    name: str
    tier: Tier
    status: Status
    cause: Cause
    reason: str
    known_issue: str
    requested: Axes
    observed: Axes
    counts: Counts
    notes: tuple[str, ...]
    attempts: int


class SummaryFile(Struct, frozen=True, kw_only=True):
    """`summary.json` of a merged run; `totals` has every status, and its sum is `planned`.

    It does not name the run: the same bundles give the same bytes in whatever folder they are merged.
    """

    schema_version: Literal[1] = 1
    complete: bool
    planned: int
    totals: Mapping[Status, int]
    cells: tuple[SummaryCell, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
