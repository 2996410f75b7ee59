"""Context: a row of each metric without any one key that it must tell is refused, by reader and schema alike."""

import json
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from orchestrator import schemas
from orchestrator.results.context import CONTEXT, NOTHING
from orchestrator.results.metrics import read_metrics

FULL = {"scope": "aten::mm", "formula": "2mnk / 989 TFLOP/s bf16 of h100-sxm5-80, device-h100-sxm5-80"}
SOURCELESS = "2mnk, read+written / min(989 TFLOP/s bf16, 3350 GB/s * intensity) of h100-sxm5-80"
EACH = [(metric, key) for metric, needed in CONTEXT.items() for key in needed]


def refused(row: dict[str, Any]) -> tuple[dict[str, int], bool]:
    """How the reader rejects a row, and whether the schema does."""
    validator = jsonschema.Draft202012Validator(schemas.read("metric"))
    read = read_metrics(json.dumps(row).encode() + b"\n", row["cell"])
    return dict(read.rejected), any(validator.iter_errors(row))


@pytest.mark.parametrize("metric", CONTEXT)
def test_a_row_with_all_of_it_is_taken(make: SimpleNamespace, metric: str) -> None:
    assert refused({**make.metric, **FULL, "metric": metric}) == ({}, False)


@pytest.mark.parametrize(("metric", "key"), EACH)
def test_a_row_that_lacks_one_key_is_refused(make: SimpleNamespace, metric: str, key: str) -> None:
    lost = {"formula": SOURCELESS} if key == "source" else {key: NOTHING[key]}
    reasons, by_schema = refused({**make.metric, **FULL, "metric": metric, **lost})
    assert list(reasons) in ([f"{metric} lacks its {key}"], [f"{metric} lacks its {key} and source"])
    assert by_schema


@pytest.mark.parametrize("metric", CONTEXT)
def test_what_could_not_be_measured_needs_none_of_it(make: SimpleNamespace, metric: str) -> None:
    row = {**make.metric, **NOTHING, "metric": metric, "value": None, "valid": False, "why": "unmeasurable: noise"}
    assert refused(row) == ({}, False)


@pytest.mark.parametrize("key", ["spread", "conditions", "formula"])
def test_a_key_that_is_not_there_is_no_key_that_says_nothing(make: SimpleNamespace, key: str) -> None:
    row = {name: value for name, value in make.metric.items() if name != key}
    assert refused(row) == ({f"missing required field `{key}`": 1}, True)


def test_an_error_or_a_count_needs_no_more_than_every_row_has(make: SimpleNamespace) -> None:
    assert refused({**make.metric, **NOTHING, "metric": "error_ratio"}) == ({}, False)
