"""The words of the table's rows, where the table's own tests leave something open."""

from types import SimpleNamespace

import pytest

from orchestrator.model import Case, Log
from orchestrator.results import reasons
from orchestrator.results.evidence import gather
from orchestrator.vocabulary import Outcome


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", ""),
        ("\n \n", ""),
        ("one\ntwo\n\n", ": two"),
        ("\x1b[31mred\x1b[0m\r\n", ": red"),
        ("x" * 500, ": " + "x" * 199 + "…"),
    ],
)
def test_last_words(make: SimpleNamespace, log: str, words: str) -> None:
    assert reasons.last_words(gather(make.cell(), make.attempt(log=Log(tail=log)), None)) == words


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"code": 0}, "code 0"),
        ({"code": 139}, "SIGSEGV"),
        ({"code": None}, "no exit code"),
        ({"code": 200}, "signal 72"),
    ],
)
def test_exit_text(make: SimpleNamespace, facts: dict[str, int | None], words: str) -> None:
    assert reasons.exit_text(gather(make.cell(), make.attempt(**facts), None)) == words


def test_failures_without_a_message_say_so(make: SimpleNamespace) -> None:
    seen = gather(make.cell(), make.attempt(), None)

    assert reasons.failures([Case(name="a", outcome=Outcome.FAILED)], seen) == "1 of 0 cases: a: no message"


def test_gib() -> None:
    assert [reasons.gib(size) for size in (16 << 30, 3 << 29, 1 << 20)] == ["16 GiB", "1.5 GiB", "0.000976562 GiB"]
