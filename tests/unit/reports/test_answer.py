"""The answer of `check` as it is printed."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from orchestrator.model import Alternative, Answer, Observation, Reason
from orchestrator.reports import answer
from orchestrator.reports.columns import width_of
from orchestrator.vocabulary import RuleKind, Status, Verdict

Golden = Callable[[str, str], None]
ASKED = {"torch": "2.13.0", "torch_build": "cu130", "gpu": "V100"}
HOSTILE = "\x1b]0;title\x07\u202e::error::x"


def reason(**more: Any) -> Reason:
    values: dict[str, Any] = {
        "kind": RuleKind.BINARY_COMPATIBILITY,
        "rule": "arch-binary",
        "axes": ("torch", "torch_build", "gpu_arch"),
        "verdict": Verdict.UNSUPPORTED,
        "because": "the cu130 build of torch 2.13.0 holds code for sm_75, sm_80, sm_86, sm_90, sm_100 and sm_120 only",
        "source": "cuobjdump of the wheel",
        "as_of": "2026-10-01",
    }
    return Reason(**values | more)


FULL = Answer(
    verdict=Verdict.UNSUPPORTED,
    reasons=(
        reason(),
        reason(
            kind=RuleKind.LIFETIME,
            rule="arch-lifetime",
            verdict=Verdict.DEGRADED,
            because="Volta gets no new features",
            as_of="",
        ),
    ),
    supported_until="2027-04-30",
    nearest=(
        Alternative(change={"torch_build": "cu126"}, verdict=Verdict.SUPPORTED),
        Alternative(change={"gpu": "T4", "torch": "2.12.0"}, verdict=Verdict.DEGRADED),
    ),
    missing=("driver", "python"),
    observed=(Observation(run="20261101T000000Z-3fa9", cell="torch2.13.0-cu130", status=Status.FAILED, axes=ASKED),),
    ignored=("colour",),
)


@pytest.mark.parametrize("width", [80, 240])
def test_an_answer_reads_as_it_always_has(golden: Golden, width: int) -> None:
    golden(f"answer-{width}.txt", answer.page(FULL, ASKED, today="2026-11-29", width=width, colour=False) + "\n")


@pytest.mark.parametrize("verdict", list(Verdict))
def test_the_verdict_comes_first_and_needs_no_colour(verdict: Verdict) -> None:
    shown = answer.page(replace(FULL, verdict=verdict), ASKED, today="2026-11-29", width=240, colour=False)
    assert shown.startswith(f"{verdict}: torch=2.13.0 torch_build=cu130 gpu=V100\n")
    assert "\x1b" not in shown
    assert f"\x1b[{answer.COLOURS[verdict]}m{verdict}: " in answer.page(
        replace(FULL, verdict=verdict), ASKED, today="2026-11-29", width=240, colour=True
    )


def test_an_answer_with_nothing_more_is_its_verdict() -> None:
    bare = Answer(verdict=Verdict.UNKNOWN, reasons=(), supported_until=None)
    assert answer.page(bare, {"torch": "9"}, today="2026-11-29", width=80, colour=False) == "unknown: torch=9"


@pytest.mark.parametrize("width", [40, 80, 240])
def test_everything_that_is_known_is_shown(width: int) -> None:
    words = (
        answer.page(FULL, ASKED, today="2026-11-29", width=width, colour=False)
        .replace("\n  | ", " ")
        .replace("\n", " ")
    )
    told = [
        *(one for reason in FULL.reasons for one in (reason.because, reason.source, reason.kind, reason.rule)),
        *("torch_build=cu126", "gpu=T4 torch=2.12.0", "2027-04-30", "driver, python", "torch2.13.0-cu130", "colour"),
    ]
    assert [one for one in told if one not in words] == []


@pytest.mark.parametrize("width", [80, 240])
def test_nothing_from_outside_acts_on_a_terminal_or_stands_first(width: int) -> None:
    hostile = Answer(
        verdict=Verdict.UNKNOWN,
        reasons=(reason(rule=HOSTILE, because=HOSTILE, source=HOSTILE, as_of=HOSTILE),),
        supported_until=HOSTILE,
        nearest=(Alternative(change={HOSTILE: HOSTILE}, verdict=Verdict.SUPPORTED),),
        missing=(HOSTILE,),
        observed=(Observation(run=HOSTILE, cell=HOSTILE, status=Status.PASSED, axes={}),),
        ignored=(HOSTILE,),
    )
    shown = answer.page(hostile, {HOSTILE: HOSTILE}, today="2026-11-29", width=width, colour=False)
    lines = shown.split("\n")
    assert all(line.isprintable() for line in lines)
    assert not [line for line in lines if line.lstrip().startswith("::")]
    assert all(width_of(line) <= max(width, 100) for line in lines)


def test_what_is_past_its_end_of_life_is_said_beside_the_verdict() -> None:
    lived = replace(FULL, verdict=Verdict.SUPPORTED, supported_until="2026-06-01", ignored=())
    told = "past its end of life since 2026-06-01"
    assert told in answer.page(lived, ASKED, today="2026-06-02", width=240, colour=False).splitlines()[1]
    for day in ("2026-06-01", "2026-05-31"):
        assert told not in answer.page(lived, ASKED, today=day, width=240, colour=False)


def test_what_was_not_read_stands_beside_the_verdict_with_the_name_that_was_meant() -> None:
    shown = answer.page(replace(FULL, ignored=("tourch",)), ASKED, today="2026-11-29", width=240, colour=False)
    assert shown.splitlines()[1] == "not read: tourch, did you mean `torch`?"
