"""What the plan covers of the combinations that the edge wants, and why it does not cover the others."""

from collections.abc import Sequence

from orchestrator.model import Coverage, LeftOut, PlannedCell, Uncovered
from orchestrator.planning.asking import Against
from orchestrator.planning.combinations import Combination, Combined, groups_of, held
from orchestrator.planning.coverage import tally
from orchestrator.vocabulary import LeftOutKind, Verdict

_DROPPED = frozenset({LeftOutKind.BUDGET, LeftOutKind.SELECTION, LeftOutKind.TIER})  # what could have been planned


def coverage(
    combined: Sequence[Combined], cells: Sequence[PlannedCell], left: Sequence[LeftOut]
) -> tuple[Coverage, ...]:
    """What comes of each interaction in a plan of some cells, with `left` being what the plan leaves out.

    A row of production that is unsupported is planned, but it covers nothing.
    """
    counting = [cell for cell in cells if cell.support.verdict is not Verdict.UNSUPPORTED]
    return tuple(_coverage(one, counting, left) for one in combined)


def _coverage(one: Combined, cells: Sequence[PlannedCell], left: Sequence[LeftOut]) -> Coverage:
    wanted, groups = frozenset(one.wanted), groups_of(one.wanted)
    planned = {each for cell in cells for each in held(cell.axes, wanted, groups)}
    missing = [each for each in one.wanted if each not in planned]
    counted = tally(
        one.values,
        (one.interaction.axes, one.interaction.strength),
        one.refuses,
        planned=[cell.axes for cell in cells],
        placed=[cell.axes for cell in cells if cell.placement.placed],
        others=[*one.rows, *(entry.axes for entry in left if entry.kind in _DROPPED)],
    )
    dropped = {
        each: entry for entry in reversed(left) if entry.kind in _DROPPED for each in held(entry.axes, wanted, groups)
    }
    return Coverage(
        axes=one.interaction.axes,
        strength=one.interaction.strength,
        wanted=counted.wanted,
        planned=counted.planned,
        placed=counted.placed,
        uncovered=tuple(_uncovered(each, one.kept_out.get(each) or _dropped(dropped.get(each))) for each in missing),
    )


def _dropped(entry: LeftOut | None) -> Against:
    """Why a combination is missing that some cell could have: the cell that would have it was left out."""
    assert entry is not None, "a combination without a cell is kept out by something"
    return Against(kind=entry.kind, reason=entry.reason, rule=entry.rule, source=entry.source)


def _uncovered(one: Combination, why: Against) -> Uncovered:
    return Uncovered(axes=dict(one), kind=why.kind, reason=why.reason, rule=why.rule, source=why.source)
