"""`metrics.parquet` of a run: each metric row of each cell with the axes that history asks about, as one sorted table.

The same rows give the same bytes in whatever order they come: the table is sorted by all of its columns, its types are
written down here, and one thread writes it.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

import msgspec

from orchestrator.errors import InfrastructureError
from orchestrator.formats import MetricRow
from orchestrator.model import Attempt, CellResult
from orchestrator.results.files import unwritable

# Observed axes that get a column of their own; the others are in `summary.json`.
AXES = ("torch", "torch_build", "python", "host_arch", "backend", "driver", "gpu")
COLUMNS: Mapping[str, str] = {
    "cell": "VARCHAR",
    "metric": "VARCHAR",
    "value": "DOUBLE",
    "unit": "VARCHAR",
    "direction": "VARCHAR",
    "load": "VARCHAR",
    "model": "VARCHAR",
    "model_version": "VARCHAR",
    "shapes": "VARCHAR",
    "precision": "VARCHAR",
    "device": "VARCHAR",
    "warmup": "BIGINT",
    "samples": "BIGINT",
    "statistic": "VARCHAR",
    "timer": "VARCHAR",
    "seed": "BIGINT",
    "scope": "VARCHAR",
    "method": "VARCHAR",
    "formula": "VARCHAR",
    "spread": "STRUCT(minimum DOUBLE, p5 DOUBLE, p50 DOUBLE, p95 DOUBLE, p99 DOUBLE, iqr DOUBLE, discarded BIGINT)",
    "conditions": "STRUCT(clock_mhz DOUBLE, temperature_c DOUBLE, power_w DOUBLE, throttle VARCHAR[])",
    "valid": "BOOLEAN",
    "why": "VARCHAR",
    "status": "VARCHAR",
    "purpose": "VARCHAR",
    "attempt": "BIGINT",
    "block": "BIGINT",
    "order": "BIGINT",
    **{f"observed_{axis}": "VARCHAR" for axis in AXES},
}
_MEMORY = "256MB"


def add(file: IO[bytes], result: CellResult, attempt: Attempt, rows: Iterable[MetricRow]) -> None:
    """Appends the rows of one attempt to a file of lines, the input of `write`."""
    shared: dict[str, str | int] = {
        "status": result.status,
        "purpose": attempt.purpose,
        "attempt": attempt.number,
        "block": attempt.block,
        "order": attempt.order,
        **{f"observed_{axis}": result.observed[axis] for axis in AXES if axis in result.observed},
    }
    for row in rows:
        file.write(msgspec.json.encode({**msgspec.structs.asdict(row), **shared}) + b"\n")


def write(lines: Path, table: Path, aside: Path) -> None:
    """The Parquet file of a file of lines; memory stays flat: what does not fit is sorted in the folder `aside`."""
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "memory_limit": _MEMORY,
        "temp_directory": str(aside),
        # Nothing is fetched: what is needed is in the wheel, and networks are closed.
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items())
    try:
        with duckdb.connect(":memory:", config=settings) as database:
            database.execute(
                f"COPY (SELECT * FROM read_json({_quoted(lines)}, format='newline_delimited', columns={{{columns}}}) "  # noqa: S608 - our own names
                f"ORDER BY ALL) TO {_quoted(table)} (FORMAT parquet, COMPRESSION zstd)"
            )
    except duckdb.IOException as error:
        raise unwritable(table, str(error)) from error
    except duckdb.Error as error:
        raise InfrastructureError(f"the metrics could not be written: {error}", place=str(table)) from error


def read(table: Path) -> tuple[MetricRow, ...]:
    """The rows of each cell's last attempt, as a report shows them; InfrastructureError for a file that is no table."""
    import duckdb

    names = MetricRow.__struct_fields__
    chosen = ", ".join(f'"{name}"' for name in names)
    last = "attempt = max(attempt) OVER (PARTITION BY cell)"
    try:
        with duckdb.connect(":memory:", config={"threads": 1}) as database:
            rows = database.execute(f"SELECT {chosen} FROM read_parquet({_quoted(table)}) QUALIFY {last}").fetchall()  # noqa: S608 - our own names
    except duckdb.Error as error:
        raise InfrastructureError(f"the metrics could not be read: {error}", place=str(table)) from error
    return tuple(msgspec.convert(dict(zip(names, row, strict=True)), MetricRow) for row in rows)


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
