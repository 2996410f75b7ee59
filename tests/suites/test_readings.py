"""What readings under load mean."""

from typing import Any

import pytest

from suites import exits, readings
from suites.readings import Round

COOL = {"clock_mhz": 1980.0, "temperature_c": 60.0, "power_w": 600.0, "throttle": []}
HOT = {"clock_mhz": 1200.0, "temperature_c": 92.0, "power_w": 500.0, "throttle": ["hardware thermal slowdown"]}


def rounds(*rates: float, wrong: int = 0, conditions: dict[str, Any] = COOL) -> list[Round]:
    return [Round(rate, 10, wrong if number == 2 else 0, conditions, 0.25, "fp16") for number, rate in enumerate(rates)]


def test_a_steady_device_is_well() -> None:
    assert readings.sustained("cuda:0", rounds(50, 700, 700, 690, 695), slowing=True) == []
    assert readings.settled_rate(rounds(50, 700, 700, 690, 695)) == 695


def test_wrong_in_one_round_only() -> None:
    (line,) = readings.sustained("cuda:1", rounds(50, 700, 700, 690, wrong=3), slowing=True)
    assert line == "numerics: cuda:1: 3 elements wrong in 1 of 4 rounds under load"


def test_throttled_with_a_reason() -> None:
    (line,) = readings.sustained("cuda:0", [*rounds(50, 700), *rounds(300, 300, conditions=HOT)], slowing=True)
    assert line == "throttled: cuda:0: hardware thermal slowdown under load (1980 to 1200 MHz, 92 C)"


def test_slower_without_a_reason() -> None:
    falling = rounds(50, 700, 700, 400, 400)
    (line,) = readings.sustained("cuda:0", falling, slowing=True)
    assert line.startswith("throttled: cuda:0: from 700 to 400 TFLOP/s under load, and no reason is told")
    assert readings.sustained("cpu", falling, slowing=False) == []


def test_a_power_cap_and_what_it_costs_are_no_finding() -> None:
    capped = {**COOL, "throttle": ["software power cap"]}
    assert readings.sustained("cuda:0", rounds(50, 700, 690, 610, 600, conditions=capped), slowing=True) == []


def test_one_of_several_is_behind() -> None:
    (line,) = readings.beside({"cuda:0": 700.0, "cuda:1": 690.0, "cuda:2": 500.0, "cuda:3": None})
    assert line == "throttled: cuda:2: keeps up 500 TFLOP/s, another of its kind 700"


def test_one_by_itself_is_slow_from_the_start() -> None:
    # An H100 at 382 of 1980 MHz, which a power cap may tell and is harmless: 190 of 989 TFLOP/s
    (line,) = readings.against("cuda:0", "fp16", 190.0, 989.0, "TFLOP/s")
    assert line == (
        "throttled: cuda:0: keeps up 190 TFLOP/s fp16, 19% of its peak of 989; 25% at the least are expected"
    )
    assert readings.against("cuda:0", "fp16", 300.0, 989.0, "TFLOP/s") == []
    assert readings.against("xpu:0", "fp16", 1.0, None, "TFLOP/s") == [], "no peak, no judgement"


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([(4, 16, 4, 16)], []),
        ([None], []),
        ([], []),
        ([(1, 16, 4, 16), (4, 16, 4, 16)], []),  # it rested when it was read first
        ([(4, 8, 4, 16), (1, 8, 4, 16)], ["throttled: cuda:0: its PCIe link runs at 4x8 of 4x16 under load"]),
        ([(1, 16, 5, 16)], ["throttled: cuda:0: its PCIe link runs at 1x16 of 5x16 under load"]),
    ],
)
def test_a_link_to_the_host_is_held_to_what_its_ends_can(
    seen: list[tuple[int, int, int, int] | None], expected: list[str]
) -> None:
    assert readings.narrow("cuda:0", seen) == expected


def test_a_counter_tells_what_no_reading_fell_into() -> None:
    first, last = (
        {**COOL, "throttled": {"hardware power brake": number, "software thermal slowdown": 7}} for number in (3, 9)
    )
    (line,) = readings.sustained(
        "cuda:0", [*rounds(50, 700, conditions=first), *rounds(690, 690, conditions=last)], slowing=True
    )
    assert line.startswith("throttled: cuda:0: hardware power brake under load")


def test_a_link_is_slow_one_way() -> None:
    (line,) = readings.links({("a", "b"): 20.0, ("b", "a"): 50.0, ("a", "c"): 20.0, ("c", "a"): 21.0})
    assert line == "throttled: link a -> b: 20 GB/s, the other way 50"


def test_errors_that_the_hardware_counted_meanwhile() -> None:
    before = {"uncorrected memory errors": 1, "correctable errors": 0}
    assert readings.counted("cuda:0", before, {"uncorrected memory errors": 1, "correctable errors": 9}) == []
    (line,) = readings.counted("cuda:0", before, {"uncorrected memory errors": 3})
    assert line == "device lost: cuda:0: 2 uncorrected memory errors during the check"


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, []),
        ({"others": [12, 13]}, ["cuda:0: 2 other processes are on it"]),
        ({"free": 10**9}, ["cuda:0: 1.0 of 80.0 GB are free"]),
        ({"throttle": ["hardware power brake"]}, ["cuda:0: throttled while idle: hardware power brake"]),
        ({"throttle": ["software power cap"]}, []),
        ({"counters": {"uncorrected memory errors": 2}}, ["cuda:0: 2 uncorrected memory errors"]),
    ],
)
def test_notes(facts: dict[str, Any], expected: list[str]) -> None:
    known: dict[str, Any] = {"free": 80 * 10**9, "whole": 80 * 10**9, "others": [], "throttle": [], "counters": {}}
    assert readings.notes("cuda:0", **{**known, **facts}) == expected


def test_every_finding_begins_with_its_cause() -> None:
    lines = readings.beside({"a": 1.0, "b": 9.0}) + readings.links({("a", "b"): 1.0, ("b", "a"): 9.0})
    assert all(map(exits.begins_with_word, lines))


@pytest.mark.parametrize(
    ("processes", "others"), [(None, None), ([], []), ([41], []), ([41, 42], [41]), ([77, 78], [78])]
)
def test_others_on_the_device(processes: list[int] | None, others: list[int] | None) -> None:
    ours = 42 if processes == [41, 42] else 1  # in a container the host knows us by another number
    assert readings.foreign(processes, ours) == others
