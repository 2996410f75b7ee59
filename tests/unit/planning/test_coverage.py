from collections.abc import Mapping
from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.planning.coverage import Tally, tally

VALUES = {"torch": ("1", "2"), "build": ("cpu", "cu"), "driver": ("535", "580", "")}


def refuses(partial: Mapping[str, str]) -> str:
    """A driver is there exactly with a CUDA build; torch 1 has no CUDA build."""
    if partial.get("build") == "cpu" and partial.get("driver"):
        return "no driver on a CPU"
    if partial.get("build") == "cu" and partial.get("driver") == "":
        return "CUDA takes a driver"
    if partial.get("torch") == "1" and partial.get("build") == "cu":
        return "torch 1 has no cu"
    return ""


def test_pairs_are_counted_where_they_are_planned_placed_and_run() -> None:
    cells = [
        {"torch": "2", "build": "cu", "driver": "535", "python": "3.12"},
        {"torch": "2", "build": "cpu"},
        {"torch": "1", "build": "cpu"},
    ]
    group = (("torch", "build", "driver"), 2)
    assert tally(VALUES, group, refuses, planned=cells, placed=cells[:2], run=cells[1:2]) == Tally(
        axes=("torch", "build", "driver"),
        strength=2,
        wanted=7,
        planned=5,
        placed=4,
        run=1,
        uncoverable=(
            ({"torch": "1", "build": "cu"}, ("torch 1 has no cu",)),
            ({"torch": "1", "driver": "535"}, ("no driver on a CPU", "torch 1 has no cu")),
            ({"torch": "1", "driver": "580"}, ("no driver on a CPU", "torch 1 has no cu")),
            ({"build": "cpu", "driver": "535"}, ("no driver on a CPU",)),
            ({"build": "cpu", "driver": "580"}, ("no driver on a CPU",)),
        ),
        undecided=(),
    )


def test_a_combination_in_a_cell_is_wanted_whatever_the_rules_say() -> None:
    cell = {"torch": "1", "build": "cu", "driver": "535"}
    count = tally(VALUES, (("torch", "build"), 2), refuses, planned=[cell])
    assert (count.wanted, count.planned, count.uncoverable) == (4, 1, ())


def test_a_cell_that_is_only_too_dear_shows_what_can_be_had() -> None:
    asked: list[Mapping[str, str]] = []

    def counting(partial: Mapping[str, str]) -> str:
        asked.append(partial)
        return refuses(partial)

    dear = {"torch": "2", "build": "cu", "driver": "580"}
    refused = {"torch": "1", "build": "cu", "driver": "580"}
    count = tally(VALUES, (("torch", "build"), 2), counting, planned=[], others=[dear, refused])
    assert (count.wanted, count.planned) == (3, 0)
    assert [one for one, _ in count.uncoverable] == [{"torch": "1", "build": "cu"}]
    assert {"torch": "2", "build": "cu"} not in asked


def test_what_takes_too_many_questions_is_undecided_and_stays_wanted() -> None:
    values = dict.fromkeys("abcdefghijklm", ("0", "1"))
    count = tally(values, (("a", "b"), 2), lambda partial: "whole" if len(partial) == 13 else "", planned=[])
    assert (count.wanted, count.uncoverable) == (4, ())
    assert count.undecided == tuple({"a": a, "b": b} for a, b in product("01", repeat=2))


@st.composite
def counted(draw: st.DrawFn) -> tuple[dict[str, tuple[str, ...]], list[dict[str, str]], list[dict[str, str]], int]:
    names = "abcd"[: draw(st.integers(2, 4))]
    values = {name: tuple(map(str, range(draw(st.integers(1, 3))))) for name in names}
    parts = st.fixed_dictionaries({}, optional={name: st.sampled_from(values[name]) for name in names}).filter(len)
    rows = st.fixed_dictionaries({name: st.sampled_from(values[name]) for name in names})
    return values, draw(st.lists(parts, max_size=6)), draw(st.lists(rows, max_size=5)), draw(st.integers(2, len(names)))


@settings(max_examples=200, deadline=None)
@given(counted())
def test_the_count_is_that_of_brute_force(
    model: tuple[dict[str, tuple[str, ...]], list[dict[str, str]], list[dict[str, str]], int],
) -> None:
    values, rules, cells, strength = model

    def forbidden(partial: Mapping[str, str]) -> str:
        return next((f"{rule}" for rule in rules if rule.items() <= partial.items()), "")

    def parts(rows: list[dict[str, str]]) -> set[frozenset[tuple[str, str]]]:
        return {frozenset(part) for row in rows for part in combinations(row.items(), strength)}

    every = [dict(zip(values, row, strict=True)) for row in product(*values.values())]
    possible = parts([row for row in every if not forbidden(row)]) | parts(cells)
    count = tally(values, (tuple(values), strength), forbidden, planned=cells, placed=cells[1:], run=cells[2:])
    assert count.wanted == len(possible)
    assert (count.planned, count.placed, count.run) == tuple(len(parts(cells[n:])) for n in range(3))
    assert {frozenset(one.items()) for one, _ in count.uncoverable} == parts(every) - possible
    assert all(reasons for _, reasons in count.uncoverable)
    assert count.undecided == ()
