"""Timing: when a device has settled, when samples are no measurement, and what a row then says."""

import statistics
from collections.abc import Callable
from itertools import chain, cycle, repeat
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suites import timing
from suites.timing import UNREAD, host_samples, one_figure, settled, spread, timed, together, unsteady

COOL = {"clock_mhz": 1700.0, "temperature_c": 50.0, "power_w": 300.0, "throttle": []}


def device(seconds: Any, conditions: Any = UNREAD, statistic: str = "median") -> Any:
    """A device whose calls take these times one after the other; it counts them in `calls`."""
    given = iter(seconds)
    made = SimpleNamespace(STATISTIC=statistic, timer=lambda: "told", calls=0)

    def samples(call: Callable[[], Any], number: int) -> list[float]:
        made.calls += number
        return [next(given) for _ in range(number)]

    made.samples = samples
    told = iter(conditions) if isinstance(conditions, list) else repeat(conditions)
    made.conditions = lambda index: next(told)
    return made


def test_one_sample_for_each_call_and_the_device_waited_for_around_each() -> None:
    told: list[str] = []
    samples = host_samples(lambda: told.append("call"), 2, lambda: told.append("wait"))
    assert told == ["wait", "call", "wait"] * 2
    assert len(samples) == 2
    assert min(samples) >= 0


def test_the_figure_is_the_least_or_the_middle() -> None:
    assert one_figure([3.0, 1.0, 2.0], "min") == 1.0
    assert one_figure([3.0, 1.0, 9.0], "median") == 3.0


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ([], False),
        ([1.0, 1.0], False),
        ([1.0, 1.0, 1.0], True),
        ([9.0, 1.0, 1.004, 1.0], True),
        ([1.0, 1.0, 1.0, 1.006], False),
    ],
)
def test_settled_are_three_windows_that_agree(windows: list[float], expected: bool) -> None:
    assert settled(windows, 0.005) is expected


def test_a_warm_up_goes_on_until_the_clock_has_settled() -> None:
    falling = [0.02] * 11 + [0.015] * 10 + [0.012] * 10
    made = device(chain(falling, repeat(0.01)))
    took = timed(lambda: None, made, 20, "deep")
    assert took.seconds == 0.01
    assert took.warmup == 61, "one that tells how long it takes, three windows that fall, three that agree"
    assert took.samples == 20


def test_a_device_that_never_settles_and_never_repeats_is_unmeasurable() -> None:
    took = timed(lambda: None, device(cycle([0.01, 0.02, 0.03, 0.04, 0.05])), 10, "smoke")
    assert took.seconds is None
    assert took.why.startswith("the middle half of its samples is ")
    assert took.samples == 10 * timing.ROUNDS


def test_noise_that_passes_is_sampled_through() -> None:
    made = device(chain(repeat(0.001, 31), cycle_of(0.001, 0.004, 10), repeat(0.001)))
    took = timed(lambda: None, made, 10, "smoke")
    assert (took.seconds, took.samples, took.why) == (0.001, 30, "")


def test_a_slow_step_gets_fewer_samples_and_shorter_windows() -> None:
    made = device(repeat(0.25))
    took = timed(lambda: None, made, 50, "standard")
    assert (took.seconds, took.samples, took.why) == (0.25, 8, ""), "2 s of samples"
    assert took.warmup == 1 + 3 * 2, "and 2 s to warm up in"


def test_a_slower_step_gets_as_many_as_tell_whether_they_agree() -> None:
    took = timed(lambda: None, device(repeat(1.5)), 50, "standard")
    assert (took.seconds, took.samples, took.why) == (1.5, timing.FEWEST, "")


def test_nobody_gets_more_samples_than_were_asked_for() -> None:
    assert timed(lambda: None, device(repeat(1.5)), 2, "standard").samples == 2


def test_noise_does_not_outlast_the_room_for_samples() -> None:
    took = timed(lambda: None, device(cycle([0.1, 0.1, 0.9, 0.9])), 50, "standard")
    assert took.seconds is None
    assert took.samples == 20, "one round: it takes 10 s where 2 were left"


def test_a_step_that_takes_too_long_is_given_up() -> None:
    made = device(repeat(2.5))
    took = timed(lambda: None, made, 50, "standard")
    assert (took.seconds, took.samples) == (None, 1)
    assert took.why == "a step takes 2.5 s, and all its samples may take 2 s"
    assert took.spread["minimum"] == 2.5
    assert made.calls == took.warmup, "no call more"


def test_one_slow_call_is_no_slow_step() -> None:
    assert timed(lambda: None, device(chain([9.0], repeat(0.01))), 10, "smoke").seconds == 0.01


def cycle_of(low: float, high: float, number: int) -> list[float]:
    return [low, high] * (number // 2)


def test_what_happens_between_two_readings_is_told_by_the_counter() -> None:
    counted = [{**COOL, "throttled": {"hardware power brake": number}} for number in (7, 9)]
    took = timed(lambda: None, device(repeat(0.01), counted), 5, "smoke")
    assert (took.seconds, took.why) == (None, "the device throttled: hardware power brake")
    assert took.conditions["throttle"] == ["hardware power brake"]
    steady = timed(lambda: None, device(repeat(0.01), [counted[0]] * 2), 5, "smoke")
    assert (steady.seconds, steady.conditions["throttle"]) == (0.01, [])


def test_a_counter_that_is_all_there_is_says_that_nothing_throttled() -> None:
    counted = {**UNREAD, "throttled": {"thermal slowdown": 3}}
    assert together([UNREAD, UNREAD])["throttle"] is None
    assert together([counted, counted])["throttle"] == []


def test_the_device_that_the_call_runs_on_is_read() -> None:
    made = device(repeat(0.01))
    asked: list[int] = []
    made.conditions = lambda index: asked.append(index) or UNREAD
    timed(lambda: None, made, 5, "smoke", index=3)
    assert asked == [3, 3]


def test_a_throttled_figure_is_none_and_names_the_reason() -> None:
    hot = {**COOL, "throttle": ["hardware thermal slowdown"], "temperature_c": 91.0}
    took = timed(lambda: None, device(repeat(0.01), [COOL, hot]), 5, "smoke")
    assert took.seconds is None
    assert took.why == "the device throttled: hardware thermal slowdown"
    assert took.conditions["temperature_c"] == 91.0


@pytest.mark.parametrize(
    ("samples", "statistic", "expected"),
    [
        ([1.0, 9.0], "median", ""),
        ([1.0, 1.0, 1.1, 9.0], "min", ""),
        ([2.0, 2.0, 1.0, 1.0], "min", "its two halves lie 100% apart"),
        ([1.0, 1.0, 1.0, 1.0, 50.0], "median", ""),
        ([1.0, 1.0, 2.0, 2.0], "median", "the middle half of its samples is 67% wide"),
        ([0.0, 0.0, 0.0, 0.0], "min", ""),
    ],
)
def test_unsteady(samples: list[float], statistic: str, expected: str) -> None:
    assert unsteady(samples, statistic) == expected


def test_a_quarter_of_noise_is_borne_and_no_more() -> None:
    assert unsteady([1.0] * 10 + [1.2] * 10, "min") == ""
    assert unsteady([1.0] * 10 + [1.3] * 10, "min") == "its two halves lie 30% apart"
    assert unsteady([1.0] * 10 + [1.2] * 10, "median") == ""
    assert unsteady([1.0] * 10 + [1.4] * 10, "median").endswith("% wide")


@given(st.lists(st.floats(1e-9, 1e3), min_size=2, max_size=50))
def test_the_spread_is_that_of_the_standard_library(samples: list[float]) -> None:
    told = spread(samples)
    cut = statistics.quantiles(samples, n=100, method="inclusive")
    assert told["minimum"] == min(samples)
    assert told["p50"] == pytest.approx(statistics.median(samples))
    for name, at in (("p5", 5), ("p95", 95), ("p99", 99)):
        assert told[name] == pytest.approx(cut[at - 1])
    assert told["iqr"] == pytest.approx(cut[74] - cut[24], abs=1e-12)


def test_conditions_that_cannot_be_read_are_none_and_not_none_seen() -> None:
    assert together([UNREAD, UNREAD]) == UNREAD
    assert together([COOL, {**COOL, "clock_mhz": 1500.0, "power_w": None}]) == {**COOL, "clock_mhz": 1600.0}
