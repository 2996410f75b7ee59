"""An impact as it is printed."""

from collections.abc import Callable

import pytest
from ci_servers import acts

from orchestrator.model import Axes, Cost, Impact, Move, Observation, Place, Reason, RowImpact, State
from orchestrator.reports.columns import width_of
from orchestrator.reports.impact_table import page
from orchestrator.vocabulary import RuleKind, Status, Verdict

Golden = Callable[[str, str], None]
COST = Cost(cells=2, placed=2, unplaced=0, images=1, minutes=12.5, gpu_hours=0.4, money=3.2, build_bytes=7_800_000_000)
FLOOR = Reason(
    kind=RuleKind.COMPATIBILITY_MODE,
    rule="driver-floor",
    axes=("torch_build", "driver"),
    verdict=Verdict.UNSUPPORTED,
    because="CUDA 13.0 needs driver 580.65.06 or newer; driver 535 is older",
    source="NVIDIA CUDA Compatibility",
    as_of="2026-08-21",
)
CARD = Reason(
    kind=RuleKind.BINARY_COMPATIBILITY,
    rule="arch-binary",
    axes=("torch", "torch_build", "gpu"),
    verdict=Verdict.UNSUPPORTED,
    because="the cu130 build of torch 2.13.0 holds no code for sm_70",
    source="measured",
    as_of="2026-08-21",
)
ENDED = Reason(
    kind=RuleKind.LIFETIME,
    rule="end-of-life",
    axes=("base",),
    verdict=Verdict.DEGRADED,
    because="it reached its end of life on 2026-07-11",
    source="endoflife.date",
    as_of="2026-08-22",
)


def state(verdict: Verdict, *reasons: Reason, until: str | None = "2028-06-30", **axes: str) -> State:
    return State(axes={"torch": "2.13.0", **axes}, verdict=verdict, reasons=reasons, supported_until=until)


def row(name: str, after: State, unchanged: str = "", **more: object) -> RowImpact:
    values: dict[str, object] = {"moves": None, "blocked": None, "cell": None, "observed": ()}
    return RowImpact(
        name=name,
        owner="",
        place=Place(file="matrix.yaml", line=1, column=1),
        unchanged=unchanged,
        before=state(Verdict.SUPPORTED),
        after=after,
        **(values | more),  # type: ignore[arg-type]
    )


SEEN = Observation(run="20261128T000000Z-ab12", cell="c", status=Status.PASSED, axes={})
ROWS = (
    row("good", state(Verdict.SUPPORTED), cell="a", observed=(SEEN,)),
    row("ended", state(Verdict.DEGRADED, ENDED, until="2026-07-11"), cell="b", blocked=ENDED),
    row(
        "behind",
        state(Verdict.UNSUPPORTED, FLOOR),
        cell="c",
        moves=Move(change={"driver": "580"}, state=state(Verdict.SUPPORTED, driver="580")),
    ),
    row("volta", state(Verdict.UNSUPPORTED, CARD), blocked=CARD),
    row("silent", state(Verdict.UNKNOWN, until=None)),
    *(row(f"cpu-{number}", state(Verdict.SUPPORTED), "has no driver: it runs without a GPU") for number in range(7)),
)


def impact(*rows: RowImpact, later: str | None = None, cost: Cost = COST) -> Impact:
    change: Axes = {} if later else {"torch_build": "cu130"}
    return Impact(
        matrix="matrix.yaml",
        on="2026-11-29",
        change=change,
        later=later,
        rows=rows,
        cost=cost,
        plan="impact-plan.json",
    )


@pytest.mark.parametrize("width", [80, 160])
def test_it_reads_as_it_always_has(golden: Golden, width: int) -> None:
    golden(f"impact-{width}.txt", page(impact(*ROWS), width=width, colour=False) + "\n")


def test_what_needs_somebody_comes_first_and_the_time_keeps_its_order() -> None:
    names = [row.name for row in ROWS if not row.unchanged]

    def order(later: str | None) -> list[str]:
        shown = page(impact(*ROWS, later=later), width=200, colour=False).split("\n")
        verdicts = {verdict.value for verdict in Verdict}
        return [line.split()[2] for line in shown if line.split()[:1] and line.split()[0] in verdicts]

    assert order(None) == ["behind", "volta", "silent", "ended", "good"]
    assert order("2027-11-29") == names


def test_every_row_is_counted() -> None:
    assert page(impact(*ROWS), width=200, colour=False).startswith(
        "torch_build=cu130: 5 of 12 rows concerned: 1 supported, 1 degraded, 1 unknown, 2 unsupported\n"
    )
    assert "7 rows unchanged" in page(impact(*ROWS), width=200, colour=False)
    assert "and 2 more" in page(impact(*ROWS), width=200, colour=False)


def test_nothing_to_test_asks_for_no_run() -> None:
    shown = page(impact(ROWS[3]), width=200, colour=False)
    assert "There is nothing to test." in shown
    assert "run --plan" not in shown


def test_what_all_runs_have_seen_costs_nothing() -> None:
    nothing = Cost(cells=0, placed=0, unplaced=0, images=0, minutes=0, gpu_hours=0, money=0, build_bytes=0)
    assert "1 cell to test, all were run before" in page(impact(ROWS[0], cost=nothing), width=200, colour=False)


def test_colour_adds_nothing_that_is_not_also_a_word() -> None:
    import re

    plain, coloured = (page(impact(*ROWS), width=120, colour=colour) for colour in (False, True))
    assert "\x1b" not in plain
    assert coloured != plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


@pytest.mark.parametrize("hostile", ["::error::owned", "##[set-env]x", "section_start:1:x\r\x1b[0K", "a\nb\x1b[2J"])
def test_text_from_outside_gives_no_command(hostile: str) -> None:
    bad = Reason(
        kind=RuleKind.PIN, rule=hostile, axes=(), verdict=Verdict.UNSUPPORTED, because=hostile, source="", as_of=""
    )
    told = impact(
        row(hostile, state(Verdict.UNSUPPORTED, bad), blocked=bad), row(hostile, state(Verdict.SUPPORTED), hostile)
    )
    shown = page(told, width=80, colour=False)
    assert not [line for line in shown.split("\n") if acts(line)]
    assert "\x1b" not in shown
    assert "\r" not in shown


def test_no_line_is_wider_than_the_terminal() -> None:
    assert max(width_of(line) for line in page(impact(*ROWS), width=80, colour=False).split("\n")) <= 80
