"""Which reasons spoil a figure."""

from types import SimpleNamespace
from typing import Any

import pytest

from suites.throttle import harmful
from suites.timing import timed


def device(reasons: list[str] | None) -> Any:
    conditions = {"clock_mhz": 1400.0, "temperature_c": 80.0, "power_w": 700.0, "throttle": reasons}
    return SimpleNamespace(
        STATISTIC="median",
        timer=lambda: "told",
        samples=lambda _, number: [1.0] * number,
        conditions=lambda _: conditions,
    )


@pytest.mark.parametrize(
    ("reasons", "spoilt"),
    [
        (None, []),
        ([], []),
        (["software power cap", "application clocks", "power limit PL1"], []),
        (["software power cap", "hardware thermal slowdown"], ["hardware thermal slowdown"]),
        (["hardware power brake"], ["hardware power brake"]),
        (["reason 0x200"], ["reason 0x200"]),
    ],
)
def test_heat_and_brakes_spoil_a_figure_and_a_power_cap_is_told_with_it(
    reasons: list[str] | None, spoilt: list[str]
) -> None:
    assert harmful(reasons) == spoilt
    took = timed(lambda: None, device(reasons), 10, "smoke")
    assert (took.seconds is None) is bool(spoilt)
    assert took.conditions["throttle"] == (None if reasons is None else sorted(reasons))
    assert took.why == (f"the device throttled: {', '.join(spoilt)}" if spoilt else "")
