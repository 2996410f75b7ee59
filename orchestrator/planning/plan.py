"""From a Matrix to a Plan: every production row is either a cell or left out with its reason; none disappears."""

from collections.abc import Sequence

from orchestrator.errors import InputError, NothingSelected
from orchestrator.model import Host, LeftOut, Matrix, Plan, Row
from orchestrator.planning.cost import cost
from orchestrator.planning.expand import cells_of, forbidding, left_out
from orchestrator.planning.selection import check_globs, is_selected
from orchestrator.vocabulary import LeftOutKind, Tier

MAX_CELLS = 10_000


def make_plan(matrix: Matrix, host: Host | None, *, tiers: frozenset[Tier], select: tuple[str, ...]) -> Plan:
    """The plan for one machine (`host`) or for the runner classes of the matrix (None).

    `select` are globs on cell ids and row names; empty takes all. NothingSelected when no cell is left, InputError
    when there are more than MAX_CELLS. The same arguments give the same plan.
    """
    check_globs(matrix.production, select)
    chosen, left = _choose(matrix, tiers, select)
    if len(chosen) > MAX_CELLS:
        raise InputError(
            f"{len(chosen)} cells are more than the {MAX_CELLS} of one plan",
            place=matrix.file,
            hint="select fewer with `--select`",
        )
    if not chosen:
        raise NothingSelected("no cell is left to work on", place=matrix.file, hint=_first_reason(left))
    cells, again = cells_of(chosen, matrix, host)
    return Plan(
        matrix=matrix.file,
        cells=tuple(cells),
        left_out=(*left, *again),
        cost=cost(cells, matrix.runners),
    )


def _choose(matrix: Matrix, tiers: frozenset[Tier], select: tuple[str, ...]) -> tuple[list[Row], list[LeftOut]]:
    """The rows that are planned, and those that are not with the first reason that keeps each out."""
    chosen: list[Row] = []
    left: list[LeftOut] = []
    for row in matrix.production:
        if Tier.PRODUCTION not in tiers:
            left.append(left_out(row, LeftOutKind.TIER, "the tier production was not asked for"))
        elif not is_selected(row, select):
            left.append(left_out(row, LeftOutKind.SELECTION, "`--select` does not name it"))
        elif rule := forbidding(row, matrix.rules):
            place = f"{rule.place.file}:{rule.place.line}"
            left.append(left_out(row, LeftOutKind.RULE, f"{rule.because} (site rule, {place})"))
        else:
            chosen.append(row)
    return chosen, left


def _first_reason(left: Sequence[LeftOut]) -> str:
    """Why nothing was left: the row that came nearest to being planned."""
    nearest = next((entry for entry in left if entry.kind is LeftOutKind.RULE), left[0] if left else None)
    return f"`{nearest.name}`: {nearest.reason}" if nearest else "the matrix has no production row"


def plan_json(plan: Plan) -> bytes:
    """`plan.json`, and what `plan --json` prints."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(plan), indent=1) + b"\n"
