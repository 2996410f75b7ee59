"""The trend flag: quiet where nothing changed, quick where something did, on simulated and on public series."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import Numbers, runs, stepped

from orchestrator.model import TrendFlag
from orchestrator.results.trend import BASELINE, WINDOWS, trend

PUBLIC = Path(__file__).parents[4] / "shared" / "cases" / "series"
# what the Perfherder detector found in six of these series, as shipped with them, and nothing in the bimodal one
TALOS: Mapping[str, Sequence[int]] = {
    "runs1": (111,),
    "runs2": (899, 972, 1551),
    "runs3": (24, 98),
    "runs4": (5010,),
    "runs5": (),
    "a11y": (882,),
    "tp5rss": (995, 1167, 1178),
}


def flags(values: Sequence[float] | Numbers) -> tuple[TrendFlag, ...]:
    found = trend(list(values), list(range(len(values)))).flags
    assert found is not None
    return found


@pytest.mark.parametrize(
    "noise",
    [
        {"noise": 0.01},
        {"noise": 0.03},
        {"noise": 0.01, "correlation": 0.5},
        {"noise": 0.01, "outliers": 0.03},
        {"noise": 0.01, "speeds": (1.0, 1.3)},
    ],
    ids="-".join,
)
def test_of_series_without_a_change_at_most_1_in_100_is_flagged(noise: dict[str, Any]) -> None:
    random = np.random.default_rng(30)
    assert sum(bool(flags(runs(random, 100, **noise))) for _ in range(400)) <= 4


@pytest.mark.parametrize("share", [0.05, -0.05])
def test_a_step_of_5_percent_is_flagged_by_its_third_point(share: float) -> None:
    random = np.random.default_rng(31)
    found = [flags(stepped(runs(random, 63, 0.01), 60, share)) for _ in range(300)]
    hit = [one for one in found if len(one) == 1 and abs(one[0].index - 60) <= 3]
    assert len(hit) >= 0.9 * len(found)
    assert np.mean([one[0].effect for one in hit]) == pytest.approx(share, abs=0.005)


def test_what_is_small_is_seen_in_time() -> None:
    random = np.random.default_rng(32)
    found = [flags(stepped(runs(random, 100, 0.01), 60, 0.03)) for _ in range(200)]
    assert sum(any(abs(flag.index - 60) <= 3 for flag in one) for one in found) >= 190


@pytest.mark.parametrize(
    ("total", "points", "noise"), [(0.5, 100, 0.01), (0.1, 100, 0.01), (0.02, 100, 0.001), (1.0, 365, 0.01)]
)
def test_a_steady_rise_is_a_change(total: float, points: int, noise: float) -> None:
    random = np.random.default_rng(39)
    for sign in (1, -1):
        rising = runs(random, points, noise) * (1 + total) ** (sign * np.arange(points) / points)
        found = flags(rising)
        assert found
        assert all((flag.effect > 0) is (sign > 0) for flag in found)


def test_what_could_have_been_seen_is_said() -> None:
    found = trend(runs(np.random.default_rng(40), 100, 0.2).tolist(), range(100))
    assert found.flags == ()
    seen = float(found.why.split("no lasting step of ")[1].split(" %")[0])
    assert 20 < seen < 60
    assert found.why.endswith("the last 2 are too new to tell")


def test_there_and_back_are_two_changes() -> None:
    random = np.random.default_rng(33)
    found = flags(stepped(stepped(runs(random, 120, 0.01), 60, 0.06), 75, -0.06))
    assert [flag.index for flag in found] == pytest.approx([60, 75], abs=1)
    assert [flag.effect > 0 for flag in found] == [True, False]


def test_a_blip_is_no_change() -> None:
    series = runs(np.random.default_rng(34), 120, 0.01)
    series[60:63] *= 1.2
    assert flags(series) == ()


@pytest.mark.parametrize("points", [0, 1, BASELINE + WINDOWS[0] - 1])
def test_too_few_points_are_told_from_no_change(points: int) -> None:
    found = trend([100.0] * points, range(points))
    assert (found.flags, found.points) == (None, points)
    assert f"a change is told from {BASELINE + WINDOWS[0]} points on" in found.why


@pytest.mark.parametrize("at", [3, 10, 20, 29])
def test_a_step_within_the_first_baseline_is_seen_from_behind(at: int) -> None:
    random = np.random.default_rng(38)
    found = [flags(stepped(runs(random, 100, 0.01), at, 0.05)) for _ in range(100)]
    hit = [one for one in found if len(one) == 1 and abs(one[0].index - at) <= 3]
    assert len(hit) >= 90
    assert np.mean([one[0].effect for one in hit]) == pytest.approx(0.05, abs=0.005)


def test_what_never_moves_has_not_changed_and_what_moves_once_has() -> None:
    assert flags([100.0] * 90) == ()
    assert [flag.index for flag in flags([100.0] * 60 + [101.0] * 30)] == [60]


def test_a_tick_of_a_coarse_clock_is_no_change() -> None:
    random = np.random.default_rng(35)
    assert flags(np.where(random.random(200) < 0.15, 30.0, 29.0)) == ()


def test_a_slow_machine_among_fast_ones_is_no_change_and_slower_machines_are() -> None:
    series = runs(np.random.default_rng(36), 160, 0.01, speeds=(1.0, 1.3))
    assert flags(series) == ()
    assert [flag.index for flag in flags(stepped(series, 120, 0.1))] == pytest.approx([120], abs=3)


@pytest.mark.parametrize("number", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_measurement_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        trend([1.0, number], [1, 2])
    with pytest.raises(ValueError, match="make no series"):
        trend([1.0], [1, 2])


@given(st.lists(st.floats(1e-300, 1e300), max_size=120), st.data())
@settings(max_examples=100, deadline=None)
def test_flags_lie_in_the_series_in_order_and_carry_their_times(values: list[float], data: st.DataObject) -> None:
    times = data.draw(st.lists(st.text(max_size=3), min_size=len(values), max_size=len(values)))
    found = trend(values, times)
    assert (found.flags is None) == (len(values) < BASELINE + WINDOWS[0])
    at = [flag.index for flag in found.flags or ()]
    assert at == sorted(set(at))
    assert all(0 < flag.index < len(values) and flag.time == times[flag.index] for flag in found.flags or ())
    assert all(math.isfinite(flag.effect) and flag.effect > -1 for flag in found.flags or ())


def test_a_unit_changes_nothing() -> None:
    series = stepped(runs(np.random.default_rng(37), 100, 0.01), 60, 0.05)
    in_ms, in_ns = flags(series), flags(series * 1e6)
    assert [flag.index for flag in in_ms] == [flag.index for flag in in_ns]


@pytest.mark.parametrize("name", TALOS)
def test_real_series_have_their_known_changes_and_few_others(name: str) -> None:
    file = PUBLIC / "mozilla-talos" / "talos_series.json"
    if not file.is_file():
        pytest.skip("the public Talos series are not at hand: they are other people's data")
    at = [flag.index for flag in flags(json.loads(file.read_bytes())[name]["y"])]
    for known in TALOS[name]:
        assert any(abs(known - found) <= 3 for found in at), (known, at)
    assert len(at) <= (len(TALOS[name]) + 3 if TALOS[name] else 0)
