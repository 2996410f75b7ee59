"""An upgrade as it is printed."""

from collections.abc import Callable

import pytest
from ci_servers import acts

from orchestrator.model import NearestGoal, Reason, State, Upgrade, UpgradeStep
from orchestrator.reports.upgrade_table import page
from orchestrator.vocabulary import RuleKind, Verdict

Golden = Callable[[str, str], None]
PIN = Reason(
    kind=RuleKind.PIN,
    rule="companion-pin",
    axes=("torch", "torchvision"),
    verdict=Verdict.UNSUPPORTED,
    because="torchvision 0.27.0 is built for torch 2.12, here is 2.13.0",
    source="PyPI METADATA of torchvision 0.27.0",
    as_of="2026-11-29",
)


def state(verdict: Verdict, *reasons: Reason, until: str | None = "2028-06-30", **axes: str) -> State:
    return State(axes=axes, verdict=verdict, reasons=reasons, supported_until=until)


START = state(Verdict.DEGRADED, torch="2.12.0", torchvision="0.27.0", driver="535", until="2026-06-01")
GOAL = state(Verdict.SUPPORTED, torch="2.13.0", torchvision="0.28.0", driver="580")
STEPS = (
    UpgradeStep(
        number=1,
        where="host",
        change={"driver": "580"},
        coupled=(),
        state=state(Verdict.SUPPORTED, torch="2.12.0", torchvision="0.27.0", driver="580"),
    ),
    UpgradeStep(
        number=2,
        where="image",
        change={"torch": "2.13.0", "torchvision": "0.28.0"},
        coupled=(PIN,),
        state=GOAL,
    ),
)


def upgrade(**more: object) -> Upgrade:
    values: dict[str, object] = {
        "on": "2026-11-29",
        "allow_degraded": False,
        "start": START,
        "goal": GOAL,
        "found": True,
        "steps": STEPS,
        "blocked": None,
        "nearest": None,
        "asked": 7,
        "bounded": False,
    }
    return Upgrade(**(values | more))  # type: ignore[arg-type]


REFUSED = state(Verdict.UNSUPPORTED, PIN, torch="2.13.0", torchvision="0.27.0", driver="580")
NO_WAY = upgrade(
    found=False,
    steps=(),
    goal=REFUSED,
    blocked=PIN,
    nearest=NearestGoal(change={"torchvision": "0.28.0"}, state=GOAL, steps=STEPS),
)


@pytest.mark.parametrize("width", [80, 160])
def test_it_reads_as_it_always_has(golden: Golden, width: int) -> None:
    shown = "\n\n".join(page(each, width=width, colour=False) for each in (upgrade(), NO_WAY))
    golden(f"upgrade-{width}.txt", shown + "\n")


def test_the_verdict_comes_first() -> None:
    assert page(upgrade(), width=200, colour=False).startswith("2 steps, 1 on the host, 1 in the image\n")
    assert page(NO_WAY, width=200, colour=False).startswith("There is no way of supported steps\n")
    bounded = upgrade(found=False, steps=(), blocked=PIN, bounded=True)
    assert "as far as was searched" in page(bounded, width=200, colour=False).split("\n")[0]
    assert "There is nothing to do" in page(upgrade(steps=(), goal=START), width=200, colour=False)


def test_a_goal_that_is_only_degraded_says_what_would_let_it_count() -> None:
    degraded = state(Verdict.DEGRADED, torch="2.13.0")
    told = upgrade(found=False, steps=(), goal=degraded, blocked=PIN)
    assert "--allow-degraded" in page(told, width=200, colour=False)
    assert "--allow-degraded" not in page(NO_WAY, width=200, colour=False)


def test_an_unknown_goal_says_what_was_not_given() -> None:
    goal = State(axes={"torch": "2.13.0"}, verdict=Verdict.UNKNOWN, reasons=(), supported_until=None, missing=("gpu",))
    told = page(upgrade(found=False, steps=(), goal=goal, blocked=PIN), width=200, colour=False)
    assert "not given, and could change the answer: gpu" in told


def test_where_nothing_near_can_be_reached_that_is_said() -> None:
    told = page(upgrade(found=False, steps=(), goal=REFUSED, blocked=PIN), width=200, colour=False)
    assert "Nothing near the goal can be reached either." in told


def test_colour_adds_nothing_that_is_not_also_a_word() -> None:
    import re

    plain, coloured = (page(upgrade(), width=120, colour=colour) for colour in (False, True))
    assert "\x1b" not in plain
    assert coloured != plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


@pytest.mark.parametrize("hostile", ["::error::owned", "##[set-env]x", "section_start:1:x\r\x1b[0K", "a\nb\x1b[2J"])
def test_text_from_outside_gives_no_command(hostile: str) -> None:
    bad = Reason(
        kind=RuleKind.PIN, rule=hostile, axes=(), verdict=Verdict.UNSUPPORTED, because=hostile, source=hostile, as_of=""
    )
    start = state(Verdict.UNSUPPORTED, bad, torch=hostile)
    shown = page(upgrade(start=start, goal=start, found=False, steps=(), blocked=bad), width=80, colour=False)
    assert not [line for line in shown.split("\n") if acts(line)]
    assert "\x1b" not in shown
    assert "\r" not in shown
