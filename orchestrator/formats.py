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

Text = Annotated[str, Meta(min_length=1, max_length=400, pattern=r"\S")]


class CellFile(Struct, frozen=True, kw_only=True):
    """`cell.json`: what the suite is asked to run. `axes` holds the requested axes, defaults too."""

    schema_version: Literal[1] = 1
    id: CellId
    axes: Axes
    device: Annotated[str, Meta(pattern="^[a-z][a-z0-9_]*$", max_length=40)] = "auto"
    profile: Literal["smoke", "standard", "deep"] = "smoke"
    seed: int = 0


class EnvironmentFile(Struct, frozen=True, kw_only=True):
    """`environment.json`: what was there. `axes` are full version texts by axis name; `facts` is free text by name."""

    schema_version: Literal[1] = 1
    started: Text
    axes: Axes
    facts: Mapping[str, str]


class Spread(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the samples behind a value lay, in the value's unit; `discarded` counts those that were left out of it."""

    minimum: float
    p5: float
    p50: float
    p95: float
    p99: float
    iqr: float
    discarded: Natural = 0


class Conditions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The device while a value was measured; None where it cannot be read.

    `throttle` holds the vendor's reasons, in words of ours: none of them is an empty list.
    """

    clock_mhz: float | None
    temperature_c: float | None
    power_w: float | None
    throttle: tuple[Text, ...] | None


class MetricRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of `metrics.jsonl`: a figure with everything that is needed to read it.

    `samples` counts the timed samples behind `value`; `statistic` says how they became one (`median`, `min`, `exact`).
    `scope` is the operator that the figure is of, empty for the whole load; `method` is the version of our way of
    measuring, another one makes another series; `formula` says how work or bytes were counted, empty where none were.
    What of these each metric must tell stands in `results.context`.
    What could not be measured has `valid` false, the reason in `why`, and no value or one that nobody may compare.
    """

    cell: CellId
    metric: Text
    value: float | None
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
    scope: Annotated[str, Meta(max_length=400)] = ""
    method: Text = "1"
    formula: Annotated[str, Meta(max_length=400)]
    spread: Spread | None
    conditions: Conditions | None
    valid: bool = True
    why: Annotated[str, Meta(max_length=400)] = ""


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


class Kernel(Struct, frozen=True, kw_only=True):
    """A kernel by its normalised name, and how often a step launches it."""

    name: Text
    count: Positive


class OperatorScope(Struct, frozen=True, kw_only=True):
    """What one operator did in one step: `self_ns` without the operators that it called.

    The scope is the operator with its shapes, never the name of a kernel: that changes when fusion does. `bytes` are
    those of the tensors that it read and wrote, 0 where they are not known.
    """

    scope: Text
    calls: Positive
    self_ns: Natural
    kernels: tuple[Kernel, ...] = ()
    flops: Natural = 0
    bytes: Natural = 0


class LoadStructure(Struct, frozen=True, kw_only=True):
    """Exact counts of one load, for one step where a step is meant; `fused` are the members of each fused kernel.

    `fallbacks` are operators that ran elsewhere than asked (on the processor, or outside the compiler); where the
    compiler does not tell, `fallbacks_unknown` says so, and there may be more than these: None, if none are known.
    `unstable` says of which scope the calls were no whole number for a step: one run a side says nothing about these.
    """

    load: Text
    shapes: Text
    precision: Text
    backend: Text
    launches: Natural
    kernels_sha256: Text
    scopes: tuple[OperatorScope, ...]
    graphs: Natural = 0
    graph_breaks: Natural = 0
    break_reasons: tuple[str, ...] = ()
    recompiles: Natural = 0
    recompile_reasons: tuple[str, ...] = ()
    fused: tuple[tuple[str, ...], ...] = ()
    fallbacks: tuple[str, ...] | None = ()
    fallbacks_unknown: Annotated[str, Meta(max_length=400)] = ""
    copies: Natural = 0
    flops: Natural = 0
    formula: str = ""
    unstable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse fallbacks that are not known for no reason."""
        if self.fallbacks is None and not self.fallbacks_unknown:
            raise ValueError("`fallbacks` is null, and `fallbacks_unknown` does not say why")


class Fingerprint(Struct, frozen=True, kw_only=True):
    """One output of one load, small enough to keep: two cells are compared by it afterwards.

    `sha256` is over the bytes of the output, row by row: equal means equal in each bit. `sample` are values at even
    distances. `largest` is the largest absolute value; what is not finite is counted and left out of all else.
    """

    load: Text
    shapes: Text
    precision: Text
    output: Natural
    dtype: Text
    shape: tuple[Natural, ...]
    sha256: Text
    norm: float
    mean: float
    largest: float
    nonfinite: Natural
    sample: tuple[float | None, ...]


class StructureFile(Struct, frozen=True, kw_only=True):
    """`structure.json`: exact counts and fingerprints of one run, compared for equality."""

    schema_version: Literal[1] = 1
    backends: tuple[BackendUse, ...]
    loads: tuple[LoadStructure, ...] = ()
    fingerprints: tuple[Fingerprint, ...] = ()


class ProgressStart(Struct, frozen=True, kw_only=True, tag_field="event", tag="start"):
    """A test began."""

    test: Text


class ProgressEnd(Struct, frozen=True, kw_only=True, tag_field="event", tag="end"):
    """A test ended."""

    test: Text
    outcome: Outcome


class ProgressFinal(Struct, frozen=True, kw_only=True, tag_field="event", tag="final"):
    """The last line: the session ended by itself, with this exit code and this many tests reported.

    `expected` is how many there are for this profile and selection by what the suite has written down beforehand.
    """

    exit: int
    tests: int
    expected: int | None = None


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
