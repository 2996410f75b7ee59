"""The `limits`, `gates` and `edge` sections: how much a cell may use, how much slower is too slow, how far to look."""

from collections.abc import Mapping

from msgspec import Struct

from orchestrator.matrix import quantities
from orchestrator.matrix.forms import Field, Form, Record, choice, listing, scalar, table
from orchestrator.matrix.interactions import INTERACTIONS
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
_MONEY = Field(
    "money", scalar(quantities.number(0, 1e9), {"type": "number"}), "at most so much, by the runners' prices"
)
_HOURS = Field("gpu_hours", scalar(quantities.number(0, 1e6), {"type": "number"}), "at most so many GPU-hours")


class _Budget(Struct, frozen=True, kw_only=True):
    cells: int | None = None
    gpu_hours: float | None = None
    money: float | None = None


def _budget(record: Record, _: Problems) -> _Budget:
    return _Budget(cells=record.get(_CELLS), gpu_hours=record.get(_HOURS), money=record.get(_MONEY))


_NEIGHBOURS = Field(
    "neighbours",
    listing(choice(("oldest", "previous", "next", "newest"))),
    "which values of each axis are tried around each production row",
    default=(),
)
_PAIRWISE = Field(
    "pairwise",
    INTERACTIONS,
    "axes of which every valid pair of values is tried at least once, or mappings {axes: [...], strength: 3}",
    default=(),
)
_BUDGET = Field("budget", table((_CELLS, _HOURS, _MONEY), _budget), "where the edge ends", default=_Budget())


def _edge(record: Record, _: Problems) -> Edge:
    budget, neighbours = record[_BUDGET], record[_NEIGHBOURS]
    return Edge(
        neighbours=tuple(dict.fromkeys(neighbours)),
        pairwise=record[_PAIRWISE],
        cells=budget.cells,
        gpu_hours=budget.gpu_hours,
        money=budget.money,
    )


EDGE = table((_NEIGHBOURS, _PAIRWISE, _BUDGET), _edge)
