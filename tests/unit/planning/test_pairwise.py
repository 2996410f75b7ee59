from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.planning.completion import ABSENT
from orchestrator.planning.pairwise import cover

Values = Mapping[str, Sequence[str]]
Strengths = Sequence[tuple[Sequence[str], int]]
Rules = Sequence[Mapping[str, str]]


def refusing(rules: Rules) -> Callable[[Mapping[str, str]], str]:
    """Refuses what contains one of some parts, and names the first of them."""

    def refuses(partial: Mapping[str, str]) -> str:
        return next((f"rule {n}" for n, rule in enumerate(rules) if rule.items() <= partial.items()), "")

    return refuses


def all_rows(values: Values, rules: Rules) -> list[dict[str, str]]:
    rows = (dict(zip(values, row, strict=True)) for row in product(*values.values()))
    return [row for row in rows if not refusing(rules)(row)]


def all_wanted(values: Values, strengths: Strengths) -> list[dict[str, str]]:
    wanted = [
        dict(zip(names, chosen, strict=True))
        for group, strength in strengths
        for names in combinations(group, strength)
        for chosen in product(*([value for value in values[name] if value] for name in names))
    ]
    return [one for n, one in enumerate(wanted) if one not in wanted[:n]]


def held(one: Mapping[str, str], rows: Sequence[Mapping[str, str]]) -> bool:
    return any(one.items() <= row.items() for row in rows)


def whole(values: Values, row: Mapping[str, str]) -> dict[str, str]:
    """A row with its absent axes written out."""
    return {name: row.get(name, ABSENT) for name in values}


@st.composite
def models(draw: st.DrawFn) -> tuple[Values, Strengths, Rules]:
    names = "abcde"[: draw(st.integers(2, 5))]
    values = {
        name: tuple(f"{name}{n}" for n in range(draw(st.integers(1, 3)))) + ((ABSENT,) if draw(st.booleans()) else ())
        for name in names
    }
    groups = st.lists(st.sampled_from(names), min_size=2, max_size=len(names), unique=True)
    strengths = [
        (tuple(group), draw(st.integers(2, min(len(group), 3)))) for group in draw(st.lists(groups, max_size=2))
    ]
    parts = st.lists(st.sampled_from(names), min_size=1, max_size=min(len(names), 4), unique=True)
    rules = [
        {name: draw(st.sampled_from(values[name])) for name in part} for part in draw(st.lists(parts, max_size=12))
    ]
    return values, [(tuple(names), 2), *strengths], rules


@settings(max_examples=400, deadline=None)
@given(models(), st.data())
def test_what_is_allowed_is_covered_and_the_rest_has_its_reasons(
    model: tuple[Values, Strengths, Rules], data: st.DataObject
) -> None:
    values, strengths, rules = model
    rows = all_rows(values, rules)
    seeds = data.draw(st.lists(st.sampled_from(rows), max_size=2)) if rows else []
    covering = cover(values, strengths, refusing(rules), seeds)
    wanted = all_wanted(values, strengths)
    assert all(whole(values, row) in rows for row in covering.rows)
    assert all(ABSENT not in row.values() for row in covering.rows)
    assert covering.undecided == ()
    assert [one.axes for one in covering.uncoverable] == [one for one in wanted if not held(one, rows)]
    assert all(held(one, [*covering.rows, *seeds]) for one in wanted if held(one, rows))
    for one in covering.uncoverable:
        named = [rules[int(reason.removeprefix("rule "))] for reason in one.reasons]
        assert not held(one.axes, all_rows(values, named)), "the reasons alone keep it out"


@settings(max_examples=30, deadline=None)
@given(models())
def test_the_same_model_gives_the_same_rows(model: tuple[Values, Strengths, Rules]) -> None:
    values, strengths, rules = model
    assert cover(values, strengths, refusing(rules)) == cover(values, strengths, refusing(rules))
