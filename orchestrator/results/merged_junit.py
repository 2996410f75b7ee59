"""The merged JUnit file of a run: one testsuite a planned cell, written as a stream.

Each testsuite is made of junitparser's types, which know the elements and their order, and is serialised by itself.
Its own `merge` and `write` are not used: they hold the whole tree and compare each suite with every other (1,000 files
of 500 cases: 18 minutes and 506 MB, against seconds and one cell at a time here). Every text passes `text.xml_legal`
first: what junitparser writes of a control character nothing can parse again.
"""

from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING

from msgspec import Struct, structs

from orchestrator import text
from orchestrator.model import Case, CellResult
from orchestrator.results.junit import CELL_CASE
from orchestrator.vocabulary import Outcome, Status

if TYPE_CHECKING:
    from junitparser import TestCase

# What a status is in JUnit, for the cell as a whole: design section 2. `failed` is told by the cell's own cases.
_AS_ERROR = frozenset(
    {Status.CRASHED, Status.CRASHED_AT_EXIT, Status.TIMEOUT, Status.OOM, Status.MISMATCH, Status.ERROR}
)
_AS_SKIPPED = frozenset({Status.UNPLACED, Status.UNSUPPORTED, Status.CANCELLED, Status.NOT_RUN})


class Totals(Struct, frozen=True, kw_only=True):
    """The counting attributes of a suite or of the file."""

    tests: int = 0
    failures: int = 0
    errors: int = 0
    skipped: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            tests=self.tests + other.tests,
            failures=self.failures + other.failures,
            errors=self.errors + other.errors,
            skipped=self.skipped + other.skipped,
        )


def write(file: IO[bytes], totals: Totals, results: Iterable[CellResult]) -> None:
    """The whole file; `results` is read once and carries every case, `totals` is their sum of `totals_of`."""
    file.write(b'<?xml version="1.0" encoding="utf-8"?>\n')
    counting = " ".join(f'{name}="{count}"' for name, count in structs.asdict(totals).items())
    file.write(f'<testsuites name="torchmatrix" {counting}>\n'.encode())
    for result in results:
        file.write(_suite(result))
    file.write(b"</testsuites>\n")


def totals_of(result: CellResult) -> Totals:
    """What a cell adds to the counting attributes, from its counts alone."""
    counts = result.counts
    own = cell_case(result)
    return Totals(
        tests=counts.passed + counts.failed + counts.error + counts.skipped + counts.known + (own is not None),
        failures=counts.failed + _is(own, Outcome.FAILED),
        errors=counts.error + _is(own, Outcome.ERROR),
        skipped=counts.skipped + counts.known + _is(own, Outcome.SKIPPED),
    )


def cell_case(result: CellResult) -> Case | None:
    """The file's own case for the cell as a whole: where no case of the suite says what became of it."""
    counts = result.counts
    if result.known_issue:
        outcome = Outcome.SKIPPED
    elif result.status in _AS_ERROR:
        outcome = Outcome.ERROR
    elif result.status in _AS_SKIPPED:
        outcome = Outcome.SKIPPED
    elif result.status is Status.FAILED and not counts.failed + counts.error:
        outcome = Outcome.FAILED
    else:
        return None
    return Case(name=CELL_CASE, outcome=outcome, message=result.reason, known_issue=result.known_issue)


def _is(case: Case | None, outcome: Outcome) -> int:
    return case is not None and case.outcome is outcome


def _suite(result: CellResult) -> bytes:
    from junitparser import TestSuite

    suite = TestSuite(result.id)
    totals = totals_of(result)
    suite.tests, suite.failures, suite.errors, suite.skipped = structs.astuple(totals)
    suite.time = round(sum(case.duration_s or 0.0 for case in result.cases), 3)
    for name, value in _facts(result):
        suite.add_property(name, text.xml_legal(value))
    own = cell_case(result)
    suite.extend(_testcase(result, case) for case in (*result.cases, *([own] if own is not None else ())))
    written: bytes = suite.tostring()
    # A line for each case, for grep and diff: in a text `<` is always written `&lt;`.
    return written.replace(b"<testcase ", b"\n<testcase ") + b"\n"


def _facts(result: CellResult) -> Iterator[tuple[str, str]]:
    yield "status", result.status
    yield "cause", result.cause
    if result.reason:
        yield "reason", result.reason
    for name, value in sorted(result.requested.items()):
        yield f"requested.{name}", value
    for name, value in sorted(result.observed.items()):
        yield f"observed.{name}", value
    for note in result.notes:
        yield "note", note


def _testcase(result: CellResult, case: Case) -> "TestCase":
    from junitparser import Error, Failure, Properties, Property, Skipped, TestCase

    written = TestCase(text.xml_legal(case.name), result.id, case.duration_s)
    message = text.xml_legal(case.message)
    if case.known_issue:
        known = f"known issue: {text.xml_legal(case.known_issue)}"
        written.result = [Skipped(f"{known}: {message}" if message else known, "known issue")]
        return written
    match case.outcome:
        case Outcome.PASSED:
            if result.status is Status.FELL_BACK and message:
                properties = Properties()
                properties.add_property(Property(Status.FELL_BACK, message))
                written.append(properties)
        case Outcome.SKIPPED:
            written.result = [Skipped(message or None, _type(result, case))]
        case Outcome.FAILED:
            written.result = [Failure(message or None, _type(result, case))]
        case Outcome.ERROR:
            written.result = [Error(message or None, _type(result, case))]
    if case.detail and written.result:
        written.result[0].text = text.xml_legal(case.detail)
    return written


def _type(result: CellResult, case: Case) -> str:
    return result.status if case.name == CELL_CASE else case.outcome
