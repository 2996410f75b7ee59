"""From combinations to planned cells: one row is one cell, and rows of one cell are one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from orchestrator import axes
from orchestrator.model import (
    Answer,
    Axes,
    ContainerNeeds,
    Host,
    KnownFailure,
    LeftOut,
    Limits,
    Matrix,
    Placement,
    PlannedCell,
    Row,
    SecretSource,
)
from orchestrator.planning.aliases import aliases_of
from orchestrator.planning.asking import Against, Asking, against, support_of
from orchestrator.planning.neighbours import Candidate
from orchestrator.planning.place import place, runner_for
from orchestrator.vocabulary import LeftOutKind, Tier, Verdict


class Expansion(Struct, frozen=True, kw_only=True):
    """What combinations become cells with: the matrix, the machine (None: its runner classes), and what is said."""

    matrix: Matrix
    host: Host | None
    asking: Asking


def left_out(row: Row, against: Against) -> LeftOut:
    """The entry of a row that is not planned."""
    return _left_out(row.name, Tier.PRODUCTION, axes.complete(row.axes), against)


def edge_left_out(candidate: Candidate, against: Against) -> LeftOut:
    """The entry of an edge cell that is not planned."""
    return _left_out(candidate.name, Tier.EDGE, candidate.cell, against)


def _left_out(name: str, tier: Tier, cell: Axes, against: Against) -> LeftOut:
    return LeftOut(
        name=name,
        tier=tier,
        axes=cell,
        kind=against.kind,
        reason=against.reason,
        rule=against.rule,
        source=against.source,
    )


def same_cell(name: str, id_: str) -> Against:
    """What keeps a combination out that is in the plan already, under another name."""
    return Against(kind=LeftOutKind.DUPLICATE, reason=f"is the same cell as {name}: {id_}")


def cells_of(rows: Sequence[Row], expansion: Expansion) -> tuple[list[PlannedCell], list[LeftOut]]:
    """The cells of some production rows, in the order of the file, and the rows that name a cell for a second time.

    Rows that name a cell together give it all their names and owners, and the most time that one asks for. A cell that
    is unsupported is planned and has no machine.
    """
    by_id: dict[str, list[Row]] = {}
    for row in rows:
        by_id.setdefault(axes.cell_id(row.axes), []).append(row)
    cells = [_production_cell(same, expansion) for same in by_id.values()]
    again = [
        left_out(row, same_cell(f"production row `{same[0].name}`", id_))
        for id_, same in by_id.items()
        for row in same[1:]
    ]
    return cells, again


def _production_cell(rows: Sequence[Row], expansion: Expansion) -> PlannedCell:
    aliases = {name: alias for row in rows for name, alias in row.aliases.items()}
    cell = axes.complete(rows[0].axes)
    why = " and ".join(f"production row `{row.name}` ({row.place.file}:{row.place.line})" for row in rows)
    planned = PlannedCell(
        **_common(cell, rows, Tier.PRODUCTION, expansion),
        name=", ".join(row.name for row in rows),
        why=why + _meaning(cell, aliases),
        aliases=aliases,
    )
    return _answered(planned, expansion.asking.answer(cell))


def edge_cell(candidate: Candidate, expansion: Expansion) -> PlannedCell:
    """The cell of a combination at the edge: who is told, how long it may take and what it may is as in its row."""
    row, cell = candidate.row, candidate.cell
    kept = {name for name in row.axes if cell.get(name) == row.axes[name]}
    aliases = {name: alias for name, alias in aliases_of(cell, expansion.matrix.axes).items() if name not in kept}
    aliases |= {name: alias for name, alias in row.aliases.items() if name in kept}
    planned = PlannedCell(
        **_common(cell, [row], Tier.EDGE, expansion),
        name=candidate.name,
        why=candidate.why + _meaning(cell, aliases),
        aliases=aliases,
    )
    return _answered(planned, expansion.asking.answer(cell))


def _common(cell: Axes, rows: Sequence[Row], tier: Tier, expansion: Expansion) -> dict[str, Any]:
    """What a cell of either tier has from its combination and from the rows that it stands for."""
    matrix, host = expansion.matrix, expansion.host
    runner = runner_for(cell, matrix.runners, host) or runner_for(cell, matrix.runners)
    return {
        "id": axes.cell_id(cell),
        "tier": tier,
        "owner": ", ".join(dict.fromkeys(row.owner for row in rows if row.owner)),
        "axes": cell,
        "image": cell.get("image") or axes.image_id(cell),
        "placement": place(cell, host, matrix.runners),
        "allow_fallback": all(row.allow_fallback for row in rows),
        "limits": _limits(rows, matrix.limits),
        "container": runner.container if runner else ContainerNeeds(),
        "known_issues": _known_issues(matrix, cell),
        "secrets": _secrets(matrix, rows, tier),
    }


def _secrets(matrix: Matrix, rows: Sequence[Row], tier: Tier) -> tuple[SecretSource, ...]:
    """The secrets that the rows name, and the loads that the tier runs; a file's path begins beside the matrix."""
    named = {name for row in rows for name in row.secrets}
    named |= {name for load in matrix.loads if tier in load.tiers for name in load.secrets}
    beside = Path(matrix.file).parent
    return tuple(
        SecretSource(
            name=secret.name,
            file=str(beside / Path(secret.file).expanduser()) if secret.file else "",
            env=secret.env,
        )
        for secret in matrix.secrets
        if secret.name in named
    )


def _meaning(cell: Axes, aliases: Axes) -> str:
    return "".join(f"; {axis} {cell[axis]} is `{alias}`" for axis, alias in aliases.items())


def _answered(cell: PlannedCell, answer: Answer) -> PlannedCell:
    """The cell with what vendors say of it; no machine can help one that is unsupported."""
    placement = cell.placement
    if answer.verdict is Verdict.UNSUPPORTED:
        placement = Placement(placed=False, runner=None, reason=against(answer.reasons[0]).reason)
    return replace(cell, support=support_of(answer), placement=placement)


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
