"""JUnit XML of the cases: our own few lines, since a failure's message begins with its cause and not with a class."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Sequence
from xml.sax.saxutils import escape, quoteattr

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CAP = 20_000  # characters of detail that are kept
_ELEMENTS = {"failed": "failure", "error": "error", "skipped": "skipped"}


@dataclass(frozen=True)
class Case:
    """One test case: `outcome` is passed, failed, error or skipped; `message` is one line, `detail` the traceback."""

    name: str
    outcome: str
    message: str
    detail: str
    seconds: float


def document(cell: str, cases: Sequence[Case]) -> bytes:
    """The JUnit file of a cell: its id is the class name of every case."""
    count = {outcome: sum(case.outcome == outcome for case in cases) for outcome in _ELEMENTS}
    head = (
        f'<testsuite name={_attribute(cell)} tests="{len(cases)}" failures="{count["failed"]}" '
        f'errors="{count["error"]}" skipped="{count["skipped"]}" time="{sum(case.seconds for case in cases):.3f}">'
    )
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<testsuites>", head]
    lines += [_element(cell, case) for case in cases]
    return ("\n".join([*lines, "</testsuite>", "</testsuites>"]) + "\n").encode()


def _element(cell: str, case: Case) -> str:
    opening = f'<testcase classname={_attribute(cell)} name={_attribute(case.name)} time="{case.seconds:.3f}"'
    if case.outcome == "passed":
        return opening + "/>"
    kind = _ELEMENTS[case.outcome]
    inner = escape(_legal(case.detail[:_CAP]))
    return f"{opening}><{kind} message={_attribute(case.message)}>{inner}</{kind}></testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_legal(text), {"\n": " ", "\r": " ", "\t": " "})


def _legal(text: str) -> str:
    """The text with what XML 1.0 cannot hold written as escapes."""
    return _ILLEGAL.sub(lambda found: found.group().encode("unicode_escape", "surrogatepass").decode(), text)
