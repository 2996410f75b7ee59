import pytest

from orchestrator.support.said import Said, filled, in_order, worst
from orchestrator.vocabulary import RuleKind, Verdict

YES, PART, NO, OPEN = Verdict.SUPPORTED, Verdict.DEGRADED, Verdict.UNSUPPORTED, Verdict.UNKNOWN


def said(verdict: Verdict, because: str = "so it is", rank: int = 40, **more: object) -> Said:
    return Said(kind=RuleKind.ABI, rule="r", rank=rank, verdict=verdict, because=because, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([YES, PART, OPEN, NO], NO),
        ([YES, PART, OPEN], OPEN),
        ([YES, PART], PART),
        ([YES], YES),
        ([], None),
    ],
)
def test_a_refusal_outweighs_a_doubt_and_a_doubt_a_restriction(
    verdicts: list[Verdict], expected: Verdict | None
) -> None:
    assert worst(said(verdict) for verdict in verdicts) is expected


def test_what_only_names_a_missing_axis_decides_nothing() -> None:
    assert worst([said(YES), said(OPEN, because="", missing=("python",))]) is YES


def test_the_deciding_reasons_come_first_then_the_graver_each_by_rank() -> None:
    each = [said(YES, rank=1), said(NO, rank=3), said(PART, rank=1), said(OPEN, because=""), said(NO, rank=2)]
    ordered = [(one.verdict, one.rank) for one in in_order(each, PART)]
    assert ordered == [(PART, 1), (NO, 2), (NO, 3), (YES, 1)]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("torch {torch} needs {allowed}", "torch 2.8.0 needs >=3.9"),
        ("no template", "no template"),
        ("{python} was not told", "any was not told"),
        ("a { that stays", "a { that stays"),
        ("{torch}{torch}", "2.8.02.8.0"),
        ("{odd}", "{torch}"),
    ],
)
def test_a_sentence_is_filled_and_data_is_no_template(template: str, expected: str) -> None:
    assert filled(template, {"torch": "2.8.0", "odd": "{torch}"}, ">=3.9") == expected


def test_a_reason_tells_what_was_needed_and_what_is_beside_it() -> None:
    one = said(NO, "{torch} needs {allowed}", need={"python": ("3.9", "3.10"), "glibc": ">=2.28"}, aside="a guess")
    reason = one.reason({"torch": "2.8"})
    assert reason.because == "2.8 needs 3.9, 3.10; >=2.28 (a guess)"
    assert said(NO, "{torch} is told as it is").reason({"torch": "2.8"}).because == "{torch} is told as it is"
