"""Rows that take a new value, as they are printed."""

from typing import Any

import pytest

from orchestrator.model import Alternative, Answer, Reason
from orchestrator.reports.moves import Shift, moves
from orchestrator.vocabulary import RuleKind, Verdict


def answer(verdict: Verdict, **more: Any) -> Answer:
    said = (verdict, Verdict.SUPPORTED)
    reasons = tuple(
        Reason(kind=RuleKind.LIFETIME, rule=f"r-{one}", axes=(), verdict=one, because=f"is {one}", source="s", as_of="")
        for one in said
    )
    return Answer(verdict=verdict, reasons=reasons, supported_until=None, **more)


def shift(after: Answer) -> Shift:
    return Shift(row="train", old="2.13.0", new="2.15.0", before=answer(Verdict.SUPPORTED), after=after)


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (answer(Verdict.SUPPORTED), ["supported  supported  train  2.13.0  2.15.0  nothing"]),
        (
            answer(
                Verdict.UNSUPPORTED, nearest=(Alternative(change={"driver": "580"}, verdict=Verdict.SUPPORTED),) * 2
            ),
            [
                "unsupported  supported  train  2.13.0  2.15.0  driver=580",
                "  | r-unsupported: is unsupported",
            ],
        ),
        (
            answer(Verdict.DEGRADED),
            [
                "degraded  supported  train  2.13.0  2.15.0  nothing near is supported",
                "  | r-degraded: is degraded",
            ],
        ),
        (
            answer(Verdict.UNKNOWN),
            ["unknown  supported  train  2.13.0  2.15.0  not known", "  | r-unknown: is unknown"],
        ),
    ],
)
def test_a_row_says_its_verdicts_and_what_else_must_move(after: Answer, told: list[str]) -> None:
    lines = moves([shift(after)], width=200, colour=False)
    assert lines[1:] == told


def test_no_row_is_no_table() -> None:
    assert moves([], width=80, colour=False) == []
