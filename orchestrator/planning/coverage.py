"""An independent count of what cells cover: it takes nothing on trust from the code that chose them.

Every combination is enumerated here again, looked for in the cells one by one, and called uncoverable only after a
plain search through all of its completions.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from msgspec import Struct

from orchestrator.model import Axes
from orchestrator.planning.completion import ABSENT, Refuses

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
    possible = [cell for cell in others if not refuses({name: cell.get(name, ABSENT) for name in values})]
    group, strength = interaction
    every = list(_combinations(values, group, strength))
    uncoverable: list[tuple[Axes, tuple[str, ...]]] = []
    undecided: list[Axes] = []
    for one in every:
        if not _is_held(one, planned) and not _is_held(one, possible):
            reason = refuses(one)
            reasons = [reason] if reason else _reasons_against(one, values, refuses, iter(range(_QUESTIONS)))
            if reasons is None:
                undecided.append(one)
            elif reasons:
                uncoverable.append((one, tuple(dict.fromkeys(reasons))))
    return Tally(
        axes=tuple(group),
        strength=strength,
        wanted=len(every) - len(uncoverable),
        planned=sum(_is_held(one, planned) for one in every),
        placed=sum(_is_held(one, placed) for one in every),
        run=sum(_is_held(one, run) for one in every),
        uncoverable=tuple(uncoverable),
        undecided=tuple(undecided),
    )


def _combinations(values: Mapping[str, Sequence[str]], group: Sequence[str], strength: int) -> Iterator[dict[str, str]]:
    for names in combinations(group, strength):
        for chosen in product(*([value for value in values[name] if value != ABSENT] for name in names)):
            yield dict(zip(names, chosen, strict=True))


def _is_held(one: Axes, cells: Sequence[Axes]) -> bool:
    return any(one.items() <= cell.items() for cell in cells)


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
