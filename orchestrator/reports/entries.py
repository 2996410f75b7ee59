"""What the page says about each cell: a result and its planned cell, arranged for reading. No markup, no decision."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from orchestrator.axes import AXES, differences, platform
from orchestrator.formats import MetricRow
from orchestrator.model import Axes, Case, CellResult, KnownFailure, PlannedCell, Run
from orchestrator.reports import overview
from orchestrator.vocabulary import Status

METRICS_SHOWN = 24
_FIRST = ("latency", "tflops", "gbps", "busbw", "compile_cold", "memory_peak", "error_ratio")
LOG_SHOWN = 8000
PLATFORMS = ("cpu", "cuda", "rocm", "xpu", "ready")


class AxisLine(Struct, frozen=True, kw_only=True):
    """One axis of a cell, requested and observed side by side; `mismatch` says that they do not match."""

    name: str
    requested: str
    observed: str
    mismatch: bool


class Entry(Struct, frozen=True, kw_only=True):
    """One cell of the run, with the parts of it that a page has room for."""

    cell: PlannedCell
    result: CellResult
    axes: Mapping[str, AxisLine]
    failing: tuple[Case, ...]
    known: tuple[Case, ...]
    issues: tuple[KnownFailure, ...]
    relaxed: tuple[str, ...]
    log: str
    log_bytes: int
    metrics: tuple[MetricRow, ...]
    rerun: str


class Group(Struct, frozen=True, kw_only=True):
    """The cells of one platform, those that share an image beside each other.

    `varying` names the requested axes that differ between them, `common` is what all of them ask for.
    """

    platform: str
    totals: str
    varying: tuple[str, ...]
    common: Axes
    entries: tuple[Entry, ...]


class Issue(Struct, frozen=True, kw_only=True):
    """A known issue, how many cells of the run it applies to, and in how many it was met."""

    known: KnownFailure
    cells: int
    met: int


class Alike(Struct, frozen=True, kw_only=True):
    """Names that share a word and a reason."""

    word: str
    reason: str
    names: tuple[str, ...]


def entries(run: Run, metrics: Iterable[MetricRow], asked: Sequence[str] = ()) -> tuple[Entry, ...]:
    """One entry for each result, in the order of the plan; `asked` as in `overview.rerun`."""
    cells = overview.planned(run)
    rows: dict[str, list[MetricRow]] = {}
    for row in metrics:
        rows.setdefault(row.cell, []).append(row)
    return tuple(_entry(run, cells[result.id], result, rows.get(result.id, ()), asked) for result in run.results)


def _looked_for(row: MetricRow) -> tuple[int, str, str, str]:
    """What people look for comes first, then the rest by name."""
    rank = _FIRST.index(row.metric) if row.metric in _FIRST else len(_FIRST)
    return rank, row.metric, row.load, row.shapes


def _entry(
    run: Run, cell: PlannedCell, result: CellResult, metrics: Sequence[MetricRow], asked: Sequence[str]
) -> Entry:
    log = result.attempts[-1].exit.log if result.attempts else None
    return Entry(
        cell=cell,
        result=result,
        axes=_axis_lines(result),
        failing=overview.failing(result),
        known=tuple(case for case in result.cases if case.known_issue),
        issues=tuple(issue for issue in cell.known_issues if _is_met(issue, result)),
        relaxed=tuple(dict.fromkeys(what for attempt in result.attempts for what in attempt.relaxed)),
        log=(log.tail or log.head)[-LOG_SHOWN:] if log else "",
        log_bytes=log.bytes if log else 0,
        metrics=tuple(sorted(metrics, key=_looked_for)),
        rerun=overview.rerun(cell, run.plan, asked),
    )


def _axis_lines(result: CellResult) -> dict[str, AxisLine]:
    """Every axis that was requested or observed, in the order of the registry; others after them."""
    wrong = differences(result.requested, result.observed)
    stated = {name for told in (result.requested, result.observed) for name, value in told.items() if value}
    names = [*(name for name in AXES if name in stated), *sorted(stated - AXES.keys())]
    return {
        name: AxisLine(
            name=name,
            requested=result.requested.get(name, ""),
            observed=result.observed.get(name, ""),
            mismatch=name in wrong,
        )
        for name in names
    }


def _is_met(issue: KnownFailure, result: CellResult) -> bool:
    texts = {issue.issue, issue.because} - {""}
    return result.known_issue in texts or any(case.known_issue in texts for case in result.cases)


def groups(all_entries: Sequence[Entry]) -> tuple[Group, ...]:
    """The entries by platform."""
    by_platform: dict[str, list[Entry]] = {name: [] for name in PLATFORMS}
    for entry in all_entries:
        by_platform[platform(entry.cell.axes)].append(entry)
    return tuple(_group(name, members) for name, members in by_platform.items() if members)


def _group(name: str, members: Sequence[Entry]) -> Group:
    images: dict[str, list[Entry]] = {}
    for entry in members:
        images.setdefault(entry.cell.image, []).append(entry)
    values: dict[str, set[str]] = {}
    for entry in members:
        for axis in AXES:
            values.setdefault(axis, set()).add(entry.result.requested.get(axis, ""))
    common = {axis: next(iter(seen)) for axis, seen in values.items() if len(seen) == 1}
    return Group(
        platform=name,
        totals=overview.headline([entry.result for entry in members]),
        varying=tuple(axis for axis, seen in values.items() if len(seen) > 1),
        common={axis: value for axis, value in common.items() if value},
        entries=tuple(entry for image in images.values() for entry in image),
    )


def issues(all_entries: Iterable[Entry]) -> tuple[Issue, ...]:
    """The known issues of the plan, each once."""
    cells: dict[KnownFailure, int] = {}
    met: dict[KnownFailure, int] = {}
    for entry in all_entries:
        for known in entry.cell.known_issues:
            cells[known] = cells.get(known, 0) + 1
            met[known] = met.get(known, 0) + (known in entry.issues)
    return tuple(Issue(known=known, cells=count, met=met[known]) for known, count in cells.items())


def by_reason(run: Run, statuses: tuple[Status, ...]) -> tuple[Alike, ...]:
    """Cells with one of the statuses, those with the same reason together."""
    cells = overview.planned(run)
    return alike(
        (result.status.value, overview.caused(result), f"{result.id} ({cells[result.id].name})")
        for result in overview.with_status(run, statuses)
    )


def left_out(run: Run) -> tuple[Alike, ...]:
    """The combinations that are not in the plan, those with the same reason together."""
    return alike((one.kind.value, one.reason, overview.named(one)) for one in run.plan.left_out)


def alike(told: Iterable[tuple[str, str, str]]) -> tuple[Alike, ...]:
    """Names by word and reason, in the order in which these occur first."""
    found: dict[tuple[str, str], list[str]] = {}
    for word, reason, name in told:
        found.setdefault((word, reason), []).append(name)
    return tuple(Alike(word=word, reason=reason, names=tuple(names)) for (word, reason), names in found.items())
