"""An independent count of what cells cover: it takes nothing on trust from the code that chose them.

Every combination is enumerated here again, looked for in the cells one by one, and called uncoverable only after a
plain search through all of its completions.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from msgspec import Struct

from orchestrator.model import Axes
from orchestrator.planning.completion import ABSENT, Refuses

Combination = tuple[tuple[str, str], ...]  # (axis, value) in the order of the group
_QUESTIONS = 5_000  # to the rules about one combination, before it is called undecided


class Tally(Struct, frozen=True, kw_only=True):
    """How many combinations of `strength` values of some axes can be in a cell, and are: planned, placed, run.

    Each one that is in no cell because the rules forbid it, by itself or in every completion, has their reasons. What
    the search could not decide is counted as wanted and listed.
    """

    axes: tuple[str, ...]
    strength: int
    wanted: int
    planned: int
    placed: int
    run: int
    uncoverable: tuple[tuple[Axes, tuple[str, ...]], ...]
    undecided: tuple[Axes, ...]


def tally(
    values: Mapping[str, Sequence[str]],
    interaction: tuple[Sequence[str], int],
    refuses: Refuses,
    *,
    planned: Sequence[Axes],
    placed: Sequence[Axes] = (),
    run: Sequence[Axes] = (),
    others: Sequence[Axes] = (),
) -> Tally:
    """The count for axes and a strength; `values` and `refuses` are those that `pairwise.cover` takes.

    A combination that a planned cell has is wanted, whatever the rules say of it. `others` are cells that were left
    out for other reasons than a rule: what an allowed one of them has can be had, and needs no search.
    """
    group, strength = interaction
    every = list(_combinations(values, group, strength))
    in_planned, in_placed, in_run = (_held(cells, group, strength) for cells in (planned, placed, run))
    allowed = [cell for cell in others if not refuses({name: cell.get(name, ABSENT) for name in values})]
    possible = in_planned | _held(allowed, group, strength)
    uncoverable: list[tuple[Axes, tuple[str, ...]]] = []
    undecided: list[Axes] = []
    for one in every:
        if one not in possible:
            reason = refuses(dict(one))
            reasons = [reason] if reason else _reasons_against(dict(one), values, refuses, iter(range(_QUESTIONS)))
            if reasons is None:
                undecided.append(dict(one))
            elif reasons:
                uncoverable.append((dict(one), tuple(dict.fromkeys(reasons))))
    return Tally(
        axes=tuple(group),
        strength=strength,
        wanted=len(every) - len(uncoverable),
        planned=sum(one in in_planned for one in every),
        placed=sum(one in in_placed for one in every),
        run=sum(one in in_run for one in every),
        uncoverable=tuple(uncoverable),
        undecided=tuple(undecided),
    )


def _combinations(values: Mapping[str, Sequence[str]], group: Sequence[str], strength: int) -> Iterator[Combination]:
    for names in combinations(group, strength):
        for chosen in product(*([value for value in values[name] if value != ABSENT] for name in names)):
            yield tuple(zip(names, chosen, strict=True))


def _held(cells: Sequence[Axes], group: Sequence[str], strength: int) -> set[Combination]:
    """The combinations that some cell has."""
    return {
        one for cell in cells for one in combinations([(name, cell[name]) for name in group if name in cell], strength)
    }


def _reasons_against(
    partial: Axes, values: Mapping[str, Sequence[str]], refuses: Refuses, questions: Iterator[int]
) -> list[str] | None:
    """The reasons met in all completions; none when one of them is allowed; None when the questions run out.

    The axis with the fewest values left is decided first: a contradiction shows at once.
    """
    options = {
        name: [
            (value, refuses({**partial, name: value})) for value in values[name] if next(questions, None) is not None
        ]
        for name in values
        if name not in partial
    }
    if next(questions, None) is None:
        return None
    if not options:
        return []
    name = min(options, key=lambda name: sum(not reason for _, reason in options[name]))
    met: list[str] = []
    for value, reason in options[name]:
        reasons = [reason] if reason else _reasons_against({**partial, name: value}, values, refuses, questions)
        if not reasons:
            return reasons
        met += reasons
    return met
