"""From production rows to planned cells: one row is one cell, and rows of one cell are one."""

from collections.abc import Sequence

from orchestrator import axes
from orchestrator.model import (
    ContainerNeeds,
    Host,
    KnownFailure,
    LeftOut,
    Limits,
    Matrix,
    PlannedCell,
    Row,
    Rule,
)
from orchestrator.planning.place import place, runner_for
from orchestrator.vocabulary import LeftOutKind, Tier


def forbidding(row: Row, rules: Sequence[Rule]) -> Rule | None:
    """The first site rule that forbids a row, if one does."""
    full = axes.complete(row.axes)
    return next((rule for rule in rules if axes.selects(rule.forbid, full)), None)


def left_out(row: Row, kind: LeftOutKind, reason: str) -> LeftOut:
    """The entry of a row that is not planned."""
    return LeftOut(name=row.name, tier=Tier.PRODUCTION, axes=axes.complete(row.axes), kind=kind, reason=reason)


def cells_of(rows: Sequence[Row], matrix: Matrix, host: Host | None) -> tuple[list[PlannedCell], list[LeftOut]]:
    """The cells of some production rows, in the order of the file, and the rows that name a cell for a second time."""
    by_id: dict[str, list[Row]] = {}
    for row in rows:
        by_id.setdefault(axes.cell_id(row.axes), []).append(row)
    cells = [_cell(id_, same, matrix, host) for id_, same in by_id.items()]
    again = [
        left_out(row, LeftOutKind.DUPLICATE, f"is the same cell as production row `{same[0].name}`: {id_}")
        for id_, same in by_id.items()
        for row in same[1:]
    ]
    return cells, again


def _cell(id_: str, rows: Sequence[Row], matrix: Matrix, host: Host | None) -> PlannedCell:
    """One cell. Rows that name it together give it all their names and owners, and the most time that one asks for."""
    full = axes.complete(rows[0].axes)
    placement = place(full, host, matrix.runners)
    runner = runner_for(full, matrix.runners, host) or runner_for(full, matrix.runners)
    return PlannedCell(
        id=id_,
        name=", ".join(row.name for row in rows),
        owner=", ".join(dict.fromkeys(row.owner for row in rows if row.owner)),
        tier=Tier.PRODUCTION,
        why=" and ".join(f"production row `{row.name}` ({row.place.file}:{row.place.line})" for row in rows),
        axes=full,
        image=full.get("image") or axes.image_id(full),
        placement=placement,
        allow_fallback=all(row.allow_fallback for row in rows),
        limits=_limits(rows, matrix.limits),
        container=runner.container if runner else ContainerNeeds(),
        known_issues=_known_issues(matrix, full),
    )


def _limits(rows: Sequence[Row], limits: Limits) -> Limits:
    return Limits(
        timeout_s=max(limits.timeout_s if row.timeout_s is None else row.timeout_s for row in rows),
        memory=limits.memory,
        shm=limits.shm,
        pids=limits.pids,
    )


def _known_issues(matrix: Matrix, full: axes.Axes) -> tuple[KnownFailure, ...]:
    return tuple(
        KnownFailure(test=known.test, status=known.status, because=known.because, issue=known.issue, until=known.until)
        for known in matrix.known_issues
        if axes.selects(known.when, full)
    )
