"""Bundles of many jobs, merged into one run: in any order, any number of times, to the same bytes.

Cells are read twice and one at a time: `merge` keeps what a reader needs of each, `write` streams all of their cases
and metrics into the files, so memory does not grow with the number of cases.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import msgspec
from msgspec import structs

from orchestrator import axes, text
from orchestrator.errors import InfrastructureError, InputError, InputErrors
from orchestrator.formats import PAGE, SUMMARY, SummaryCell, SummaryFile
from orchestrator.model import Attempt, CellResult, Log, Plan, Run
from orchestrator.results import merged_junit, metrics_table
from orchestrator.results.files import MIB, Refused, check_name, read_plain, remove_halves, replacing, scratch
from orchestrator.results.finding import find, read
from orchestrator.results.judge import Attempts, distinct, judge, judge_attempt
from orchestrator.results.outcome import counts, is_complete
from orchestrator.vocabulary import Outcome, Status

JUNIT = "junit.xml"
METRICS = "metrics.parquet"
MAX_PLAN = 256 * MIB
MAX_CASES = 50  # kept with a cell; `counts` has all of them and the JUnit file too
MAX_DETAIL = 8000
MAX_LOG = 8000

_FAILING = frozenset({Outcome.FAILED, Outcome.ERROR})


def read_plan(file: Path) -> Plan:
    """The plan in a file that anybody may have written; InputError says where it is not one."""
    try:
        plan = text.read_json(read_plain(file, MAX_PLAN), Plan)
    except FileNotFoundError as error:
        raise InputError(
            "no such plan",
            place=str(file),
            hint="`torchmatrix plan --json` prints one, `torchmatrix runs ls` names the runs that have one",
        ) from error
    except (Refused, OSError, ValueError) as error:
        raise InputError(f"it is no plan: {text.one_line(str(error))}", place=str(file)) from error
    problems = [InputError(problem, place=str(file)) for problem in _problems(plan)]
    if problems:
        raise InputErrors(problems)
    return plan


def _problems(plan: Plan) -> Iterator[str]:
    """What is wrong with a plan that has the form of one: a name or a value that no matrix.yaml would bring in."""
    found = Counter(cell.id for cell in plan.cells)
    yield from (f"the plan has `{cell}` twice" for cell in sorted(found) if found[cell] > 1)
    yield from (f"`{cell}` cannot name a folder" for cell in sorted(found) if not text.is_file_name(cell))
    stated = {(name, value) for cell in plan.cells for name, value in cell.axes.items()}
    for name, value in sorted(stated):
        if name not in axes.AXES:
            yield f"no axis is named `{text.shown(name)}`"
        elif problem := axes.problem_with(axes.AXES[name], value):
            yield problem


def merge(plan: Plan, folders: Sequence[Path], *, run_id: str) -> Run:
    """One result for each planned cell from the bundles in or below the folders."""
    notes = find(folders, (cell.id for cell in plan.cells)).notes
    kept = tuple(_kept(result) for result, _ in _judged(plan, folders))
    return Run(id=run_id, plan=plan, results=kept, complete=is_complete(kept), notes=notes)


def results(plan: Plan, folders: Sequence[Path]) -> Iterator[CellResult]:
    """The result of each planned cell with all of its cases, one at a time, in the plan's order."""
    for result, _ in _judged(plan, folders):
        yield result


def write(run: Run, folders: Sequence[Path], out: Path) -> None:
    """`junit.xml`, `metrics.parquet` and `summary.json` of a run in the folder `out`; each is whole or not touched.

    What a merge left there that was killed goes first, so nobody else may be writing there.
    InfrastructureError when the disk refuses, or when the bundles are not those that the run was merged from;
    InputError when the folder's name is no text.
    """
    check_name(out)
    remove_halves(out, (JUNIT, METRICS, SUMMARY, PAGE))
    totals = sum((merged_junit.totals_of(result) for result in run.results), merged_junit.Totals())
    with replacing(out / JUNIT) as junit, replacing(out / METRICS) as table, scratch(out) as aside:
        lines = aside / "rows.jsonl"
        with junit.open("wb") as cases, lines.open("wb") as rows:
            merged_junit.write(cases, totals, _streamed(run, folders, rows))
        metrics_table.write(lines, table, aside)
    with replacing(out / SUMMARY) as file:
        file.write_bytes(summary(run))


def summary(run: Run) -> bytes:
    """`summary.json`: what became of each planned cell, and of the plan as a whole."""
    totals = counts(run)
    assert sum(totals.values()) == len(run.plan.cells), "a planned cell has no status"
    value = SummaryFile(
        complete=run.complete,
        planned=len(run.plan.cells),
        totals=totals,
        cells=tuple(
            SummaryCell(
                id=result.id,
                name=cell.name,
                tier=cell.tier,
                status=result.status,
                cause=result.cause,
                reason=result.reason,
                known_issue=result.known_issue,
                requested=result.requested,
                observed=result.observed,
                counts=result.counts,
                notes=result.notes,
                attempts=len(result.attempts),
            )
            for cell, result in zip(run.plan.cells, run.results, strict=True)
        ),
        left_out=run.plan.left_out,
        notes=run.notes,
    )
    return msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=1) + b"\n"


def _judged(plan: Plan, folders: Sequence[Path]) -> Iterator[tuple[CellResult, Attempts]]:
    found = find(folders, (cell.id for cell in plan.cells)).by_cell
    for cell in plan.cells:
        attempts = distinct([read(folder, cell.id) for folder in found.get(cell.id, ())])
        yield judge(cell, attempts), attempts


def _streamed(run: Run, folders: Sequence[Path], rows: IO[bytes]) -> Iterator[CellResult]:
    """Each result with all of its cases; on the way its metric rows go into the file `rows`."""
    cells = {cell.id: cell for cell in run.plan.cells}
    for known, (result, attempts) in zip(run.results, _judged(run.plan, folders), strict=True):
        if _kept(result) != known:
            raise InfrastructureError(f"the bundles of `{result.id}` changed while they were merged")
        for attempt, bundle in attempts:
            alone = judge_attempt(cells[result.id], attempt, bundle)
            metrics_table.add(rows, alone, attempt, bundle.metrics if bundle is not None else ())
        yield result


def _kept(result: CellResult) -> CellResult:
    """The result without what only the merged files need: cases that passed, and the logs of a cell that did."""
    telling = [case for case in result.cases if case.outcome in _FAILING or case.known_issue]
    telling += [case for case in result.cases if case.outcome is Outcome.SKIPPED and not case.known_issue]
    telling += [case for case in result.cases if case.outcome is Outcome.PASSED and case.message]
    chosen = {case.name for case in telling[:MAX_CASES]}
    passed = result.status is Status.PASSED
    return structs.replace(
        result,
        cases=tuple(
            structs.replace(case, detail=text.cut(case.detail, MAX_DETAIL))
            for case in result.cases
            if case.name in chosen
        ),
        attempts=tuple(_without_log(attempt, passed=passed) for attempt in result.attempts),
    )


def _without_log(attempt: Attempt, *, passed: bool) -> Attempt:
    log = attempt.exit.log
    kept = Log(tail="" if passed else (log.head + log.tail)[-MAX_LOG:], bytes=log.bytes)
    return structs.replace(attempt, exit=structs.replace(attempt.exit, log=kept))
