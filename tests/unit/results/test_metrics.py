"""Metric rows that can be believed, and the others counted by reason."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.results import metrics
from orchestrator.results.metrics import read_metrics

WITHOUT = object()


def lines(make: SimpleNamespace, *rows: dict[str, Any]) -> bytes:
    return b"".join(
        json.dumps({key: value for key, value in {**make.metric, **row}.items() if value is not WITHOUT}).encode()
        + b"\n"
        for row in rows
    )


def spread(minimum: float, **changed: float) -> dict[str, float]:
    """One whose samples lie closely above the least of them."""
    lay = {name: minimum + 0.1 * place for place, name in enumerate(("minimum", "p5", "p50", "p95", "p99"))}
    return {**lay, "iqr": 0.1, **changed}


def test_a_good_row(make: SimpleNamespace) -> None:
    found = read_metrics(lines(make, {}), "c1")

    assert [row.value for row in found.rows] == [1.5]
    assert found.rejected == {}
    assert found.notes == ()


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("NaN", "no JSON (NaN and Infinity are none)"),
        ("-nan", "no JSON (NaN and Infinity are none)"),
        ("Infinity", "no JSON (NaN and Infinity are none)"),
        ("-Infinity", "no JSON (NaN and Infinity are none)"),
        ("1e999", "Number out of range: `value`"),
        ("-1e999", "Number out of range: `value`"),
        ("1" + "0" * 400, "Number out of range: `value`"),
        ("-0.5", "its value is negative: every figure here is a size"),
        ('"1.5"', "Expected `float | null`, got `str`: `value`"),
        ("true", "Expected `float | null`, got `bool`: `value`"),
        ("null", "it is called valid and has no value"),
        ('1.5, "unread": "\xc3"', "no JSON (NaN and Infinity are none)"),
    ],
)
def test_a_value_that_is_no_figure_is_rejected_and_counted(make: SimpleNamespace, written: str, reason: str) -> None:
    bad = lines(make, {"value": 77777}).replace(b"77777", written.encode("latin-1"))

    found = read_metrics(lines(make, {"metric": "other"}) + bad, "c1")

    assert [row.metric for row in found.rows] == ["other"]
    assert found.rejected == {reason: 1}
    assert found.notes == (f"1 metric row rejected: {reason} (1)",)


def test_what_could_not_be_measured_is_kept_with_its_reason(make: SimpleNamespace) -> None:
    found = read_metrics(lines(make, {"value": None, "valid": False, "why": "the clock never settled"}), "c1")
    assert [(row.value, row.valid, row.why) for row in found.rows] == [(None, False, "the clock never settled")]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"unit": WITHOUT}, "missing required field `unit`"),
        ({"unit": ""}, "Expected `str` of length >= 1: `unit`"),
        ({"unit": " \t"}, r"Expected `str` matching regex '\\S': `unit`"),
        ({"samples": 0}, "Expected `int` >= 1: `samples`"),
        ({"samples": -3}, "Expected `int` >= 1: `samples`"),
        ({"samples": 1.5}, "Expected `int`, got `float`: `samples`"),
        ({"samples": 1 << 53}, "Expected `int` <= 9007199254740991: `samples`"),
        ({"warmup": -1}, "Expected `int` >= 0: `warmup`"),
        ({"warmup": 1 << 70}, "Expected `int` <= 9007199254740991: `warmup`"),
        ({"seed": 10**30}, "Expected `int` <= 9007199254740991: `seed`"),
        ({"seed": -(1 << 53)}, "Expected `int` >= -9007199254740991: `seed`"),
        ({"direction": "sideways"}, "Invalid enum value 'sideways': `direction`"),
        ({"surprise": 1}, "contains unknown field `surprise`"),
        ({"cell": "c2"}, "it names another cell"),
        ({"valid": False}, "it is called invalid and does not say why"),
        ({"valid": False, "value": -1.0, "why": "throttled"}, "its value is negative: every figure here is a size"),
        ({"valid": False, "why": " "}, "it is called invalid and does not say why"),
        ({"why": "throttled"}, "it is called valid and says why it is not"),
        ({"spread": spread(1.6)}, "its value and its spread cannot be of the same samples"),
        (
            {"statistic": "median", "spread": spread(1.0, p99=1.4)},
            "its value and its spread cannot be of the same samples",
        ),
        ({"spread": spread(1.0, p5=1.3)}, "its value and its spread cannot be of the same samples"),
        ({"spread": {"minimum": 1.0}}, "missing required field `p5`: `spread`"),
        ({"metric": "m" * 401}, "Expected `str` of length <= 400: `metric`"),
        ({"metric": "m" * 70_000}, "longer than 65536 bytes"),
    ],
)
def test_a_row_that_is_not_as_the_schema_says_is_rejected(
    make: SimpleNamespace, change: dict[str, Any], reason: str
) -> None:
    found = read_metrics(lines(make, change), "c1")

    assert found.rows == ()
    assert found.rejected == {reason: 1}


@pytest.mark.parametrize(
    ("statistic", "value"), [("median", 1.2), ("min", 1.0), ("min", 1.0 - 1e-12), ("min", 2.0), ("median", 1.4)]
)
def test_a_value_may_lie_wherever_its_samples_do_and_a_best_rate_above_them(
    make: SimpleNamespace, statistic: str, value: float
) -> None:
    found = read_metrics(lines(make, {"statistic": statistic, "value": value, "spread": spread(1.0)}), "c1")
    assert [row.value for row in found.rows] == [value]


def test_mixed_units_of_one_metric_reject_all_of_its_rows(make: SimpleNamespace) -> None:
    data = lines(make, {"unit": "ms"}, {"unit": "s", "value": 2}, {"shapes": "other", "unit": "s"})

    found = read_metrics(data, "c1")

    assert [row.shapes for row in found.rows] == ["other"]
    assert found.rejected == {"its metric has mixed units": 2}


def test_half_a_row_at_the_end_is_left_out_and_noted(make: SimpleNamespace) -> None:
    data = lines(make, {}, {"metric": "other"})

    found = read_metrics(data[:-1], "c1")

    assert len(found.rows) == 1
    assert found.notes == ("half a metric row at the end was left out",)


def test_interleaved_lines_cost_only_themselves(make: SimpleNamespace) -> None:
    one, other = lines(make, {}), lines(make, {"metric": "other"})

    found = read_metrics(one[:50] + other + one[50:] + other, "c1")

    assert [row.metric for row in found.rows] == ["other"]
    assert sum(found.rejected.values()) == 2


def test_a_row_that_is_there_twice_counts_once(make: SimpleNamespace) -> None:
    found = read_metrics(lines(make, {}, {}, {"value": 2}), "c1")

    assert [row.value for row in found.rows] == [1.5, 2]
    assert found.notes == ("1 metric row stood there twice",)


def test_rows_are_capped(make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MAX_ROWS", 2)

    assert read_metrics(lines(make, {"seed": 1}, {"seed": 2}), "c1").problem == ""
    found = read_metrics(lines(make, {"seed": 1}, {"seed": 2}, {"seed": 3}), "c1")
    assert found.problem == "it has more than 2 rows"
    assert len(found.rows) == 2


@given(st.binary(max_size=200))
def test_no_bytes_raise(make: SimpleNamespace, data: bytes) -> None:
    found = read_metrics(data, "c1")

    assert len(found.rows) + sum(found.rejected.values()) == data.count(b"\n")
