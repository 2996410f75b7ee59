"""What every report says first: the totals by status, the order of the cells, the line that runs one again."""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from orchestrator import text
from orchestrator.model import Case, CellResult, Cost, LeftOut, Plan, PlannedCell, Run
from orchestrator.vocabulary import Cause, Outcome, Status, Tier

GOOD = (Status.PASSED, Status.FELL_BACK)
PROBLEMS = (
    Status.FAILED,
    Status.CRASHED,
    Status.CRASHED_AT_EXIT,
    Status.TIMEOUT,
    Status.OOM,
    Status.MISMATCH,
    Status.ERROR,
)
UNFINISHED = (Status.CANCELLED, Status.NOT_RUN)
NOT_HERE = (Status.UNPLACED, Status.UNSUPPORTED)


def totals(results: Iterable[CellResult]) -> dict[Status, int]:
    """How many cells have each status that occurs; the sum is the number of cells."""
    counted = Counter(result.status for result in results)
    return {status: counted[status] for status in (*GOOD, *PROBLEMS, *UNFINISHED, *NOT_HERE) if counted[status]}


def headline(results: Sequence[CellResult]) -> str:
    """`12 cells: 8 passed, 1 failed, 1 crashed (known), 2 unplaced`."""
    known = totals(result for result in results if result.known_issue)
    counted = ", ".join(_counted(status, count, known.get(status, 0)) for status, count in totals(results).items())
    return text.counting(len(results), "cell") + (f": {counted}" if counted else "")


def _counted(status: Status, count: int, known: int) -> str:
    if not known:
        return f"{count} {status}"
    return f"{count} {status} (known)" if known == count else f"{count} {status} ({known} known)"


def verdict(run: Run) -> str:
    """The run in one sentence: the worst that can be said of it."""
    every = text.counting(len(run.results), "cell")
    if wrong := len(problems(run)):
        return f"{wrong} of {every} did not pass"
    if waiting := len(with_status(run, UNFINISHED)):
        return f"{waiting} of {every} did not finish"
    good = len(with_status(run, GOOD))
    if known := sum(bool(result.known_issue) for result in run.results):
        return f"{text.counting(good, 'cell')} passed, {known} failed as known"
    return f"All that ran passed: {text.counting(good, 'cell')}" if good else "No cell ran"


def problems(run: Run) -> list[CellResult]:
    """The cells that did not pass and were not expected to do so, by status, then in the order of the run."""
    return [result for result in with_status(run, PROBLEMS) if not result.known_issue]


def with_status(run: Run, statuses: tuple[Status, ...]) -> list[CellResult]:
    """The results with one of the statuses, in the order of the statuses, then of the run."""
    chosen = [result for result in run.results if result.status in statuses]
    return sorted(chosen, key=lambda result: statuses.index(result.status))


def planned(run: Run) -> Mapping[str, PlannedCell]:
    """The planned cells by id."""
    return {cell.id: cell for cell in run.plan.cells}


def rerun(cell: PlannedCell, plan: Plan, asked: Sequence[str] = ()) -> str:
    """The line to paste that runs one cell again, with what else the run was `asked`; no default of `run` is said."""
    words = ["torchmatrix", "run", "--select", cell.id]
    if cell.tier is not Tier.PRODUCTION:
        words += ["--tier", cell.tier.value]
    if plan.matrix not in {"", "matrix.yaml"}:
        words += ["--matrix", plan.matrix]
    return _pasted((*words, *asked))


def resume(folder: str, asked: Sequence[str] = ()) -> str:
    """The line to paste that finishes the run in a folder, with what else the run was `asked`."""
    return _pasted(("torchmatrix", "run", *asked, "--resume", folder))


def _pasted(words: Iterable[str]) -> str:
    return " ".join(shlex.quote(text.one_line(word)) for word in words)


def lasts(until: str | None, today: str) -> str:
    """`until 2030-01-01`, or `ended 2026-07-11`: an end of support that is past must not read as support."""
    day = text.one_line(until or "", 40)
    return f"{'ended' if day < today else 'until'} {day}" if day else ""


def lasting(verdict: str, until: str | None, today: str) -> str:
    """`supported until 2030-01-01`, `degraded, ended 2026-07-11`; the verdict alone where no end is known."""
    told = lasts(until, today)
    return f"{verdict}{',' if told.startswith('ended') else ''} {told}".rstrip()


def in_column(until: str | None, today: str) -> str:
    """The same in a column `supported until`: `2030-01-01`, `ended 2026-07-11`."""
    return lasts(until, today).removeprefix("until ")


def last_day(run: Run) -> str:
    """The day on which the run last began something, by its own word: a page says the same whenever it is made."""
    begun = (attempt.exit.started for result in run.results for attempt in result.attempts)
    return max(begun, default="")[:10]


def cases(result: CellResult) -> str:
    """`2 failed, 12 passed, 1 known`: the cases of a cell by outcome, what went wrong first; empty when none ran."""
    counts = result.counts
    named = (
        (counts.failed, "failed"),
        (counts.error, "error"),
        (counts.passed, "passed"),
        (counts.known, "known"),
        (counts.skipped, "skipped"),
    )
    return ", ".join(f"{count} {name}" for count, name in named if count)


def failing(result: CellResult) -> tuple[Case, ...]:
    """The cases that failed and were not expected to."""
    wrong = {Outcome.FAILED, Outcome.ERROR}
    return tuple(case for case in result.cases if case.outcome in wrong and not case.known_issue)


def caused(result: CellResult) -> str:
    """`numerics: 2 of 14 cases differ from the reference`, in one line."""
    reason = text.one_line(result.reason)
    return reason if result.cause is Cause.NONE else f"{result.cause}: {reason}"


def named(left_out: LeftOut) -> str:
    """What to call a combination that is not in the plan."""
    return left_out.name or text.pairs(left_out.axes)


def seconds(result: CellResult) -> float:
    """How long the attempts of a cell took together."""
    return sum(attempt.exit.duration_s for attempt in result.attempts)


def span(duration_s: float) -> str:
    """`41 s`, `3 min 12 s`, `2 h 05 min`; empty for nothing."""
    whole = round(duration_s)
    if whole < 60:  # noqa: PLR2004 - a minute
        return f"{whole} s" if duration_s > 0 else ""
    if whole < 3600:  # noqa: PLR2004 - an hour
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size(count: float) -> str:
    """A number of bytes as people read it: `3.1 GiB`."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:  # noqa: PLR2004 - one binary step
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def takes(cost: Cost) -> str:
    """`2 images, 1.4 GiB to build, about 3 min, 0.0 GPU-hours`: what running some cells takes."""
    parts = [
        text.counting(cost.images, "image"),
        f"{size(cost.build_bytes)} to build",
        f"about {cost.minutes:.0f} min" if cost.minutes >= 1 else "under a minute",
        f"{cost.gpu_hours:.1f} GPU-hours",
        *((f"{cost.money:.2f} to pay",) if cost.money else ()),
    ]
    return ", ".join(parts)
