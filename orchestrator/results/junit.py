"""A JUnit file that we did not write, read as a stream: cases, or what is wrong with it; never an exception.

expat is driven by hand because no reader above it is safe here: each expands the entities of a DOCTYPE, and
junitparser also takes `1,234` for a number and opens addresses when lxml is installed. What is refused is refused at
its first byte: a DOCTYPE before any entity exists, a token while it is still growing (each piece of an unfinished token
is scanned again, so a long one costs the square of its length: CVE-2023-52425).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from xml.parsers import expat

from msgspec import Struct

from orchestrator import text
from orchestrator.model import Case
from orchestrator.results.files import MIB, Refused, open_plain
from orchestrator.vocabulary import Outcome

MAX_BYTES = 64 * MIB
MAX_CASES = 50_000
MAX_DEPTH = 32
MAX_NAME = 4096  # characters of one case's name
MAX_TOKEN = MIB  # bytes of one tag with its attributes, or of one comment
MAX_MESSAGE = 4000
MAX_DETAIL = 16_000
CELL_CASE = "cell"  # the merged file's own case for what became of the cell as a whole
_CHUNK = 1 << 16

_VERDICTS: Mapping[str, Outcome] = {"failure": Outcome.FAILED, "error": Outcome.ERROR, "skipped": Outcome.SKIPPED}
_WORSE = (Outcome.PASSED, Outcome.SKIPPED, Outcome.FAILED, Outcome.ERROR)
_COUNTED: Mapping[str, Outcome | None] = {
    "tests": None,
    "failures": Outcome.FAILED,
    "errors": Outcome.ERROR,
    "skipped": Outcome.SKIPPED,
}
# What expat says at the end of bytes that are a beginning of a good document.
_CUT = frozenset(
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)


class Report(Struct, frozen=True, kw_only=True):
    """What a JUnit file says. `problem`: it cannot be believed. `cut`: it ends too early. Cases until then are kept."""

    cases: tuple[Case, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""
    cut: bool = False


def read_cases(path: Path) -> Report:
    """The cases of a file; a missing one is a cut one."""
    try:
        with open_plain(path, MAX_BYTES) as file:
            return parse(iter(lambda: file.read(_CHUNK), b""))
    except FileNotFoundError:
        return Report(cut=True)
    except (Refused, OSError) as refusal:
        return Report(problem=str(refusal))


def parse(chunks: Iterable[bytes]) -> Report:
    """The cases in the bytes of a document, whatever the bytes are."""
    reading = _Reading()
    # UTF-8 whatever the file declares: the suite writes nothing else, and a wrong declaration would change names.
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refusal("it has a DOCTYPE")
    parser.EntityDeclHandler = _refusal("it declares an entity")
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.characters
    problem, cut, fed = "", False, 0
    try:
        for chunk in chunks:
            fed += len(chunk)
            if fed > MAX_BYTES:
                raise Refused(f"it has more than {MAX_BYTES} bytes")  # noqa: TRY301 - one way out of the reading
            parser.Parse(chunk, False)
            if fed - max(parser.CurrentByteIndex, 0) > MAX_TOKEN:
                raise Refused(f"a tag or a comment has more than {MAX_TOKEN} bytes")  # noqa: TRY301 - likewise
        parser.Parse(b"", True)
    except Refused as refusal:
        problem = str(refusal)
    except expat.ExpatError as error:
        cut = error.code in _CUT
        if not cut:
            problem = f"it is not XML: {expat.ErrorString(error.code)}, line {error.lineno}, column {error.offset + 1}"
    return Report(cases=tuple(reading.cases), notes=tuple(reading.notes), problem=problem, cut=cut)


def _refusal(reason: str) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise Refused(reason)

    return refuse


def seconds(written: str | None) -> float | None:
    """A time attribute: seconds, or None for what is no finite number of at least 0."""
    if written is None or not set(written) <= set("0123456789.eE+-"):
        return None  # float() also takes "nan", "1_000", spaces and digits of other scripts
    try:
        value = float(written)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


class _OpenCase(Struct):
    name: str
    duration_s: float | None
    outcome: Outcome = Outcome.PASSED
    message: str = ""
    detail: str = ""


class _OpenSuite(Struct):
    attributes: Mapping[str, str]
    counts: Counter[Outcome]


class _Reading:
    """Where the stream is: the open elements, the open case, and the cases that are closed."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.notes: list[str] = []
        self._path: list[str] = []
        self._suites: list[_OpenSuite] = []
        self._case: _OpenCase | None = None
        self._verdict_depth = 0
        # The name of the merged file's own case is taken from the start.
        self._names: Counter[str] = Counter([CELL_CASE])

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._path and tag not in {"testsuites", "testsuite"}:
            raise Refused(f"its root is `{text.one_line(tag, 60)}`, not `testsuites`")
        self._path.append(tag)
        if len(self._path) > MAX_DEPTH:
            raise Refused(f"elements are nested deeper than {MAX_DEPTH}")
        if tag in {"testsuites", "testsuite"}:
            self._suites.append(_OpenSuite(attributes, Counter()))
        elif tag == "testcase":
            self._open_case(attributes)
        elif tag in _VERDICTS:
            self._open_verdict(tag, attributes)

    def _open_case(self, attributes: Mapping[str, str]) -> None:
        if self._case is not None:
            raise Refused("a testcase stands inside another")
        if len(self.cases) >= MAX_CASES:
            raise Refused(f"it has more than {MAX_CASES} cases")
        name = attributes.get("name", "")
        if len(name) > MAX_NAME:
            raise Refused(f"a name has more than {MAX_NAME} characters")
        written = attributes.get("time")
        duration = seconds(written)
        if written is not None and duration is None:
            self._note(f"`{text.one_line(written, 40)}` is no time")
        self._case = _OpenCase(name=self._unique(name or "(no name)"), duration_s=duration)

    def _unique(self, name: str) -> str:
        unique = name
        while self._names[unique]:
            self._names[name] += 1
            unique = f"{name}#{self._names[name]}"
        self._names[unique] += 1
        return unique

    def _open_verdict(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._case is None:
            # Some writers put a collection error on the suite: it is a failure of its own.
            raise Refused(f"a `{tag}` stands outside of any testcase")
        outcome = _VERDICTS[tag]
        if _WORSE.index(outcome) > _WORSE.index(self._case.outcome):
            self._case.outcome = outcome
            self._case.message = text.cut(attributes.get("message", ""), MAX_MESSAGE)
            self._case.detail = ""
            self._verdict_depth = len(self._path)

    def characters(self, data: str) -> None:
        case = self._case
        if case is not None and self._verdict_depth and len(case.detail) <= MAX_DETAIL:
            case.detail += data[: MAX_DETAIL + 1 - len(case.detail)]

    def end(self, tag: str) -> None:
        if len(self._path) == self._verdict_depth:
            self._verdict_depth = 0
        self._path.pop()
        if tag == "testcase":
            self._close_case()
        elif tag in {"testsuites", "testsuite"}:
            self._close_suite(tag)

    def _close_case(self) -> None:
        case = self._case
        assert case is not None  # expat has checked that tags match
        self._case = None
        self.cases.append(
            Case(
                name=case.name,
                outcome=case.outcome,
                message=case.message,
                detail=text.cut(case.detail, MAX_DETAIL),
                duration_s=case.duration_s,
            )
        )
        for suite in self._suites:
            suite.counts[case.outcome] += 1

    def _close_suite(self, tag: str) -> None:
        suite = self._suites.pop()
        for name, outcome in _COUNTED.items():
            claimed = suite.attributes.get(name)
            counted = suite.counts.total() if outcome is None else suite.counts[outcome]
            if claimed is not None and claimed != str(counted):
                self._note(f"its `{tag}` says {name}={text.one_line(claimed, 40)}, counted {counted}")

    def _note(self, note: str) -> None:
        if note not in self.notes and len(self.notes) < 20:  # noqa: PLR2004 - the first ones tell the story
            self.notes.append(note)
