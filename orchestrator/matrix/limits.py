"""The `limits`, `gates` and `edge` sections: how much a cell may use, how much slower is too slow, how far to look."""

from collections.abc import Mapping

from orchestrator.matrix import quantities
from orchestrator.matrix.conditions import cell_axis
from orchestrator.matrix.forms import TEXT_SCHEMA, Field, Form, Record, choice, listing, scalar, table
from orchestrator.matrix.problems import Problems
from orchestrator.model import Edge, Limits

_DEFAULT = Limits()
_TEXT = {"type": "string"}
_COUNT = {"type": "integer"}

_TIMEOUT = Field("timeout", scalar(quantities.duration, _TEXT), "of one cell: 90s, 20m", default=_DEFAULT.timeout_s)
_MEMORY = Field("memory", scalar(quantities.size, _TEXT), "of one cell: 16GiB", default=_DEFAULT.memory)
_SHM = Field("shm", scalar(quantities.size, _TEXT), "shared memory for each GPU: 2GiB", default=_DEFAULT.shm)
_PIDS = Field("pids", scalar(quantities.count(16, 1 << 22), _COUNT), "processes and threads", default=_DEFAULT.pids)


def _limits(record: Record, _: Problems) -> Limits:
    return Limits(timeout_s=record[_TIMEOUT], memory=record[_MEMORY], shm=record[_SHM], pids=record[_PIDS])


LIMITS = table((_TIMEOUT, _MEMORY, _SHM, _PIDS), _limits)

_PERCENT = scalar(quantities.percent, _TEXT)
_GATES = (
    Field("e2e", _PERCENT, "a whole training or inference step"),
    Field("op", _PERCENT, "one operator"),
    Field("busbw", _PERCENT, "bus bandwidth of a collective"),
    Field("memory", _PERCENT, "peak memory"),
    Field("compile", _PERCENT, "time to compile"),
)


def _gates(record: Record, _: Problems) -> Mapping[str, float]:
    return {field.name: value for field in _GATES if (value := record.get(field)) is not None}


GATES: Form[Mapping[str, float]] = table(_GATES, _gates)

_CELLS = Field("cells", scalar(quantities.count(1, 10_000), _COUNT), "at most so many edge cells")
_HOURS = Field("gpu_hours", scalar(quantities.number(0, 1e6), {"type": "number"}), "at most so many GPU-hours")


def _budget(record: Record, _: Problems) -> tuple[int | None, float | None]:
    return record.get(_CELLS), record.get(_HOURS)


_NEIGHBOURS = Field(
    "neighbours",
    listing(choice(("oldest", "previous", "next", "newest"))),
    "which values of each axis are tried around each production row",
    default=(),
)
_PAIRWISE = Field(
    "pairwise",
    listing(scalar(cell_axis, TEXT_SCHEMA)),
    "axes of which every valid pair of values is tried at least once",
    default=(),
)
_BUDGET = Field("budget", table((_CELLS, _HOURS), _budget), "where the edge ends", default=(None, None))


def _edge(record: Record, _: Problems) -> Edge:
    cells, gpu_hours = record[_BUDGET]
    return Edge(neighbours=record[_NEIGHBOURS], pairwise=record[_PAIRWISE], cells=cells, gpu_hours=gpu_hours)


EDGE = table((_NEIGHBOURS, _PAIRWISE, _BUDGET), _edge)
