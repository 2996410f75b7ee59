"""The metrics of a run as one table: the same rows, the same bytes."""

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import msgspec
import pytest

from orchestrator.errors import InfrastructureError
from orchestrator.formats import MetricRow
from orchestrator.model import Attempt, CellResult, Exit
from orchestrator.results import metrics_table
from orchestrator.results.judge import judge
from orchestrator.vocabulary import Purpose


@pytest.fixture
def cell_result(make: SimpleNamespace) -> CellResult:
    return msgspec.structs.replace(judge(make.cell(), []), observed={**make.observed, "driver": "580.65"})


def rows(make: SimpleNamespace, *changes: dict[str, Any]) -> list[MetricRow]:
    return [msgspec.convert({**make.metric, **change}, MetricRow) for change in changes]


def table(tmp_path: Path, result: CellResult, given: list[MetricRow], *, attempt: Attempt | None = None) -> bytes:
    lines = tmp_path / "rows.jsonl"
    with lines.open("wb") as file:
        metrics_table.add(file, result, attempt or Attempt(cell="c1", number=2, block=3, order=4, exit=Exit()), given)
    metrics_table.write(lines, tmp_path / "metrics.parquet", tmp_path)
    return (tmp_path / "metrics.parquet").read_bytes()


def test_every_field_and_the_observed_axes_are_columns(
    tmp_path: Path, make: SimpleNamespace, cell_result: CellResult
) -> None:
    table(tmp_path, cell_result, rows(make, {}))

    relation = duckdb.sql(f"SELECT * FROM '{tmp_path / 'metrics.parquet'}'")
    found = dict(zip(relation.columns, relation.fetchall()[0], strict=True))

    assert {name: found[name] for name in make.metric} == dict(make.metric)
    assert set(MetricRow.__struct_fields__) <= set(metrics_table.COLUMNS)
    assert {name: found[name] for name in ("attempt", "block", "order", "purpose", "status")} == {
        "attempt": 2,
        "block": 3,
        "order": 4,
        "purpose": "run",
        "status": "not-run",
    }
    assert (found["observed_torch"], found["observed_driver"], found["observed_gpu"]) == ("2.13.0+cpu", "580.65", None)
    assert [str(kind) for kind in relation.types] == list(metrics_table.COLUMNS.values())


def test_the_same_rows_in_any_order_are_the_same_bytes(
    tmp_path: Path, make: SimpleNamespace, cell_result: CellResult
) -> None:
    given = rows(make, *({"seed": seed, "value": seed / 7, "shapes": f"s{seed % 5}"} for seed in range(500)))
    first = table(tmp_path, cell_result, given)

    for seed in range(3):
        random.Random(seed).shuffle(given)
        assert table(tmp_path, cell_result, given) == first
    assert table(tmp_path, cell_result, given[1:]) != first


def test_values_are_kept_to_the_last_bit(tmp_path: Path, make: SimpleNamespace, cell_result: CellResult) -> None:
    values = sorted([0.0, 0.1, 1 / 3, 1e-300, 5e-324, 1.7976931348623157e308, 2**53 + 1.0])
    table(tmp_path, cell_result, rows(make, *({"value": value} for value in values)))

    found = duckdb.sql(f"SELECT value FROM '{tmp_path / 'metrics.parquet'}' ORDER BY value").fetchall()

    assert [value for (value,) in found] == values


def test_hostile_texts_are_values_and_nothing_else(
    tmp_path: Path, make: SimpleNamespace, cell_result: CellResult
) -> None:
    texts = ["'; DROP TABLE x; --", "a\nb", '"', "NaN", "null", "é\U0001f600", "{}", "a\x00b"]
    folder = tmp_path / "it's a 'folder'"
    folder.mkdir()
    table(folder, cell_result, rows(make, *({"metric": text} for text in texts)))

    found = duckdb.read_parquet(str(folder / "metrics.parquet")).project("metric").fetchall()

    assert sorted(text for (text,) in found) == sorted(texts)


def test_no_row_at_all_is_an_empty_table(tmp_path: Path, cell_result: CellResult) -> None:
    table(tmp_path, cell_result, [])

    relation = duckdb.sql(f"SELECT * FROM '{tmp_path / 'metrics.parquet'}'")
    assert relation.fetchall() == []
    assert relation.columns == list(metrics_table.COLUMNS)


def test_the_purpose_of_an_attempt_tells_its_rows_apart(
    tmp_path: Path, make: SimpleNamespace, cell_result: CellResult
) -> None:
    attempt = Attempt(cell="c1", number=1, purpose=Purpose.CALIBRATE, exit=Exit())
    table(tmp_path, cell_result, rows(make, {}), attempt=attempt)

    assert duckdb.sql(f"SELECT purpose FROM '{tmp_path / 'metrics.parquet'}'").fetchall() == [("calibrate",)]


def test_lines_that_are_no_rows_are_told(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b'{"value": "much"}\n')

    with pytest.raises(InfrastructureError, match=r"metrics\.parquet: the metrics could not be written: "):
        metrics_table.write(tmp_path / "rows.jsonl", tmp_path / "metrics.parquet", tmp_path)


def test_a_table_that_cannot_be_written_is_told(tmp_path: Path, make: SimpleNamespace, cell_result: CellResult) -> None:
    lines = tmp_path / "rows.jsonl"
    lines.write_bytes(b"")

    with pytest.raises(InfrastructureError, match=r"metrics\.parquet: "):
        metrics_table.write(lines, tmp_path / "no" / "metrics.parquet", tmp_path)


def test_what_is_read_is_the_last_attempt_of_each_cell(
    tmp_path: Path, make: SimpleNamespace, cell_result: CellResult
) -> None:
    lines, written = tmp_path / "rows.jsonl", tmp_path / "metrics.parquet"
    first, other = rows(make, {"value": 1.0}, {"cell": "c2", "value": 3.0})
    (last,) = rows(make, {"value": 2.0})
    with lines.open("wb") as file:
        for number, row in ((1, first), (2, last), (1, other)):
            attempt = Attempt(cell=row.cell, number=number, exit=Exit())
            metrics_table.add(file, cell_result, attempt, [row])
    metrics_table.write(lines, written, tmp_path)

    assert sorted(metrics_table.read(written), key=lambda row: row.value) == [last, other]


def test_a_file_that_is_no_table_is_told(tmp_path: Path) -> None:
    (tmp_path / "metrics.parquet").write_bytes(b"PAR1")

    with pytest.raises(InfrastructureError, match=r"metrics\.parquet: the metrics could not be read: "):
        metrics_table.read(tmp_path / "metrics.parquet")
