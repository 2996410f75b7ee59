"""Fractions: of the right peak, named in the row, and none where there is none."""

from types import SimpleNamespace
from typing import Any

import pytest

from suites import roofline
from suites.peaks import find
from suites.timing import Timed

H100, MATMUL = "NVIDIA H100 80GB HBM3", 2 * 4096**3


def written(
    name: str = H100,
    *,
    units: int | None = None,
    seconds: float | None = 1e-3,
    precision: str = "bf16",
    **work: Any,
) -> list[tuple[str, dict[str, Any]]]:
    rows: list[tuple[str, dict[str, Any]]] = []
    device = SimpleNamespace(title=lambda: name, units=lambda: units)
    bench: Any = SimpleNamespace(
        device=device,
        row=lambda _, metric, **more: rows.append((metric, more)),
    )
    known = {"load": "matmul.square", "flops": MATMUL, "bytes": 0, "formula": "2mnk"}
    took = Timed(seconds, 10, 1, "median", "cuda.Event", {}, {}, "" if seconds else "it was noisy", [seconds or 1e-3])
    roofline.write(bench, SimpleNamespace(precision=precision, **{**known, **work}), took)
    return rows


def test_the_row_names_its_peak_and_source() -> None:
    ((metric, row),) = written()
    assert metric == "roofline"
    assert row["value"] == pytest.approx(MATMUL / 1e-3 / 989e12)
    assert (row["unit"], row["direction"], row["why"]) == ("fraction", "higher", "")
    assert row["formula"] == "2mnk / 989 TFLOP/s bf16 of h100-sxm5-80, device-h100-sxm5-80"


def test_what_moves_much_is_held_to_the_bandwidth() -> None:
    ((_, row),) = written(flops=10**6, bytes=10**9)
    assert row["value"] == pytest.approx(10**9 / 3350e9 / 1e-3)
    assert row["formula"].startswith("2mnk, read+written / min(989 TFLOP/s bf16, 3350 GB/s * intensity) of ")


def test_what_computes_nothing_is_held_to_the_bandwidth_alone() -> None:
    ((_, row),) = written(flops=0, bytes=10**9, formula="")
    assert row["formula"].startswith("read+written / 3350 GB/s * intensity of ")


@pytest.mark.parametrize(
    ("precision", "peak", "told"),
    [("fp32-ieee", 67, "fp32"), ("tf32", 494.5, "tf32"), ("fp32-high", 494.5, "tf32"), ("fp32-medium", 494.5, "tf32")],
)
def test_fp32_products_that_may_be_tf32_are_held_to_its_peak(precision: str, peak: float, told: str) -> None:
    ((_, row),) = written(precision=precision, seconds=1e-2)
    assert row["value"] == pytest.approx(MATMUL / 1e-2 / (peak * 1e12))
    assert f"{peak} TFLOP/s {told} of h100" in row["formula"]


def test_more_than_can_be_is_an_invalid_row() -> None:
    ((_, row),) = written(seconds=1e-4)
    assert row["why"].startswith("data error: ")
    assert row["value"] > 1.02


def test_what_was_not_measured_has_no_fraction() -> None:
    ((_, row),) = written(seconds=None)
    assert (row["value"], row["why"]) == (None, "unmeasurable: it was noisy")


@pytest.mark.parametrize(
    ("name", "precision"), [("NVIDIA A10G", "bf16"), ("processor", "fp32"), ("Tesla T4", "bf16"), (H100, "fp4")]
)
def test_no_peak_no_row(name: str, precision: str) -> None:
    assert written(name, precision=precision) == []


def test_a_model_has_its_mfu_too() -> None:
    rows = dict(written(load="model.step", seconds=1e-3, bytes=10**6))
    assert rows["mfu"]["value"] == pytest.approx(MATMUL / 1e-3 / 989e12)
    assert rows["mfu"]["formula"].startswith("2mnk / 989 TFLOP/s bf16 of ")


def test_a_slice_is_named() -> None:
    ((_, row),) = written(f"{H100} MIG 1g.10gb", units=16, seconds=1e-2)
    assert "of h100-sxm5-80 (16/132 of its compute, 0.125 of its memory), " in row["formula"]
    assert find(H100).source_id in row["formula"]
