"""`progress.jsonl` of a bundle: which tests began and ended, and whether the session ended by itself."""

import msgspec
from msgspec import Struct

from orchestrator import text
from orchestrator.formats import ProgressEnd, ProgressFinal, ProgressLine, ProgressStart
from orchestrator.model import Case
from orchestrator.results.files import MIB
from orchestrator.results.junit import CELL_CASE, MAX_CASES
from orchestrator.vocabulary import Outcome

MAX_BYTES = 16 * MIB


class Progress(Struct, frozen=True, kw_only=True):
    """How far the session came. `in_flight` is the test that had begun and not ended; `final` proves completeness.

    `unread` counts the lines that are no progress lines: what they would have said is not known. `cases` are the tests
    that ended, at most as many as a JUnit file may have: what is known of them where there is none.
    """

    started: int = 0
    ended: int = 0
    failed: int = 0
    passed: int = 0
    unread: int = 0
    in_flight: str = ""
    final: ProgressFinal | None = None
    cases: tuple[Case, ...] = ()
    notes: tuple[str, ...] = ()


def read_progress(data: bytes) -> Progress:
    """The whole lines of the file, whatever its bytes; a final line counts only where it is the last one."""
    *whole, half = data.split(b"\n")
    decoder = msgspec.json.Decoder(ProgressLine)
    open_tests: dict[str, None] = {}
    cases: dict[str, Case] = {}
    started = ended = failed = passed = bad = 0
    final = None
    for written in whole:
        try:
            line = decoder.decode(written.decode())
        except (msgspec.MsgspecError, RecursionError, ValueError):
            final = None
            bad += 1
            continue
        final = line if isinstance(line, ProgressFinal) else None
        if isinstance(line, ProgressStart):
            started += 1
            open_tests[line.test] = None
        elif isinstance(line, ProgressEnd):
            ended += 1
            failed += line.outcome in {Outcome.FAILED, Outcome.ERROR}
            passed += line.outcome is Outcome.PASSED
            open_tests.pop(line.test, None)
            if len(cases) < MAX_CASES and line.test != CELL_CASE:
                cases[line.test] = Case(name=line.test, outcome=line.outcome)
    notes = []
    if bad:
        notes.append(text.counting(bad, "line is no progress line", "lines are no progress lines"))
    if half:
        notes.append("half a line at the end was left out")
        final = None
    return Progress(
        started=started,
        ended=ended,
        failed=failed,
        passed=passed,
        unread=bad,
        in_flight=next(reversed(open_tests), ""),
        final=final,
        cases=tuple(cases.values()),
        notes=tuple(notes),
    )
