from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator import axes
from orchestrator.planning.completion import ABSENT
from orchestrator.planning.pairwise import Uncoverable, cover

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


@pytest.mark.parametrize(
    ("sizes", "most"),
    [
        ([3] * 4, 9),
        ([3] * 13, 18),
        ([4] * 15 + [3] * 17 + [2] * 29, 40),
        ([4] + [3] * 39 + [2] * 35, 29),
        ([2] * 100, 14),
        ([10] * 20, 240),
    ],
    ids=["3^4", "3^13", "4^15 3^17 2^29", "4^1 3^39 2^35", "2^100", "10^20"],
)
def test_published_models_take_few_rows(sizes: list[int], most: int) -> None:
    """At most a tenth more than the better of allpairspy and covertable's simple mode, which the benchmark runs."""
    values = {f"axis{n}": tuple(map(str, range(size))) for n, size in enumerate(sizes)}
    covering = cover(values, [(tuple(values), 2)], lambda _: "")
    pairs = {pair for row in covering.rows for pair in combinations(row.items(), 2)}
    assert len(pairs) == sum(one * other for one, other in combinations(sizes, 2))
    assert len(covering.rows) <= most


def test_some_axes_may_be_covered_at_a_larger_strength() -> None:
    values = dict.fromkeys("abcdefgh", ("0", "1"))
    pairs = cover(values, [(tuple(values), 2)], lambda _: "")
    mixed = cover(values, [(tuple(values), 2), (("a", "b", "c"), 3)], lambda _: "")
    triples = cover(values, [(tuple(values), 3)], lambda _: "")
    assert {(row["a"], row["b"], row["c"]) for row in mixed.rows} == set(product("01", repeat=3))
    assert len(pairs.rows) < len(mixed.rows) < len(triples.rows)


def test_an_axis_is_absent_where_it_has_no_meaning() -> None:
    values = {"cuda_compat": ("13.0", ABSENT), "driver": ("535", "580", ABSENT), "torch_build": ("cpu", "cu130")}

    def refuses(partial: Mapping[str, str]) -> str:
        for name, value in partial.items():
            meant = axes.applies(axes.AXES[name], partial)
            if "torch_build" in partial and name == "driver" and meant == (value == ABSENT):
                return f"driver {value} beside {partial['torch_build']}"
            if "torch_build" in partial and value != ABSENT and not meant:
                return f"{name} has no meaning there"
        return ""

    covering = cover(values, [(tuple(values), 2)], refuses)
    assert {"torch_build": "cpu"} not in covering.rows, "it holds no pair"
    assert all("driver" in row for row in covering.rows)
    assert {(row["driver"], row.get("cuda_compat")) for row in covering.rows} >= {("535", "13.0"), ("580", "13.0")}
    assert covering.uncoverable == (
        Uncoverable({"cuda_compat": "13.0", "torch_build": "cpu"}, ("cuda_compat has no meaning there",)),
        Uncoverable({"driver": "535", "torch_build": "cpu"}, ("driver 535 beside cpu",)),
        Uncoverable({"driver": "580", "torch_build": "cpu"}, ("driver 580 beside cpu",)),
    )


def test_what_a_seed_holds_is_covered_even_where_it_is_refused() -> None:
    values = {"a": ("0", "1"), "b": ("0", "1")}
    seeds = [{"a": "0", "b": "0", "elsewhere": "x"}, {"a": "1", "b": "never heard of"}, {"b": "1"}]
    covering = cover(values, [(("a", "b"), 2)], refusing([{"a": "0", "b": "0"}, {"a": "1", "b": "1"}]), seeds)
    assert sorted(map(str, covering.rows)) == ["{'a': '0', 'b': '1'}", "{'a': '1', 'b': '0'}"]
    assert covering.uncoverable == (Uncoverable({"a": "1", "b": "1"}, ("rule 1",)),)


def test_only_the_rules_that_keep_a_combination_out_are_named() -> None:
    """a0 leaves c1 only, b0 leaves d1 only, and c1 and d1 exclude each other; the rule about e is beside the point."""
    values = {name: (f"{name}0", f"{name}1") for name in "abcdef"}
    rules = [
        {"e": "e0", "f": "f0"},
        {"a": "a0", "c": "c0"},
        {"b": "b0", "d": "d0"},
        {"c": "c1", "d": "d1"},
    ]
    covering = cover(values, [(tuple(values), 2)], refusing(rules))
    (found,) = (one for one in covering.uncoverable if one.axes == {"a": "a0", "b": "b0"})
    assert sorted(found.reasons) == ["rule 1", "rule 2", "rule 3"]
    assert {"rule 0"} == {reason for one in covering.uncoverable if "e" in one.axes for reason in one.reasons}


def test_where_nothing_is_allowed_every_combination_says_why() -> None:
    values = {"a": ("0", "1"), "b": ("0", "1")}
    covering = cover(values, [(("a", "b"), 2)], lambda _: "closed")
    assert covering.rows == ()
    assert [one.reasons for one in covering.uncoverable] == [("closed",)] * 4


def test_what_the_bound_leaves_open_is_undecided_and_not_lost() -> None:
    values = dict.fromkeys("abcdefghijkl", ("0", "1"))

    def refuses(partial: Mapping[str, str]) -> str:
        """Only whole rows are ever refused, and all of them but one: the rules give a search no hint."""
        return "whole" if len(partial) == len(values) and set(partial.values()) != {"1"} else ""

    covering = cover(values, [(("a", "b"), 2)], refuses, patience=100)
    settled = [*covering.undecided, *(one.axes for one in covering.uncoverable)]
    assert all(held(one, covering.rows) or one in settled for one in all_wanted(values, [(("a", "b"), 2)]))
    assert {"a": "0", "b": "0"} in covering.undecided


def test_the_rules_are_asked_little_and_never_twice_the_same() -> None:
    values = {f"a{n}": tuple("0123") for n in range(10)}
    rules = [{f"a{n}": "0", f"a{(n * 3 + 1) % 10}": "1", f"a{(n * 7 + 5) % 10}": "2"} for n in range(10)]
    asked: list[frozenset[tuple[str, str]]] = []

    def refuses(partial: Mapping[str, str]) -> str:
        asked.append(frozenset(partial.items()))
        return refusing(rules)(partial)

    covering = cover(values, [(tuple(values), 2)], refuses)
    assert covering.undecided == ()
    assert len(asked) == len(set(asked))
    assert len(asked) < 3_000, "of a million combinations"
