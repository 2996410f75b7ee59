"""The order of steps: every state good, the fewest steps, single ones where there is such an order."""

from collections.abc import Mapping
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.studies import route as routes
from orchestrator.studies.route import route

HOST = frozenset({"driver"})
WAYS = {"torch": ("2.6", "2.7", "2.8"), "build": ("cu124", "cu126"), "driver": ("535", "580")}


def walk(start: Mapping[str, str], steps: tuple[Mapping[str, str], ...]) -> list[dict[str, str]]:
    states = [dict(start)]
    for step in steps:
        states.append({**states[-1], **step})
    return states[1:]


START = {name: way[0] for name, way in WAYS.items()}
GOAL = {name: way[-1] for name, way in WAYS.items()}


def test_a_free_way_takes_one_step_an_axis_the_host_first() -> None:
    found = route({}, WAYS, HOST, lambda state: True)
    assert found.steps == ({"driver": "580"}, {"torch": "2.8"}, {"build": "cu126"})


def test_a_value_between_is_passed_through_where_it_must_be() -> None:
    def good(state: Mapping[str, str]) -> bool:
        return (state["torch"], state["build"]) in {
            ("2.6", "cu124"),
            ("2.7", "cu124"),
            ("2.7", "cu126"),
            ("2.8", "cu126"),
        }

    found = route({}, WAYS, HOST, good)
    assert found.steps == ({"driver": "580"}, {"torch": "2.7"}, {"build": "cu126"}, {"torch": "2.8"})


def test_axes_of_the_image_change_together_only_where_they_must() -> None:
    pairs = {("2.6", "cu124"), ("2.8", "cu126")}
    found = route({}, WAYS, HOST, lambda state: (state["torch"], state["build"]) in pairs)
    assert found.steps == ({"driver": "580"}, {"torch": "2.8", "build": "cu126"})


def test_host_and_image_never_change_together() -> None:
    pairs = {("2.6", "535"), ("2.8", "580")}
    found = route({}, WAYS, HOST, lambda state: (state["torch"], state["driver"]) in pairs)
    assert found.steps is None
    assert not found.bounded


def test_without_a_way_the_nearest_state_is_told() -> None:
    found = route({}, WAYS, HOST, lambda state: state["build"] == "cu124")
    assert found.steps is None
    assert found.nearest == {"torch": "2.8", "build": "cu124", "driver": "580"}


def test_nothing_to_do_takes_no_step() -> None:
    assert route({"a": "b"}, {}, HOST, lambda state: True).steps == ()


def test_a_search_that_ends_at_its_bound_says_so(monkeypatch) -> None:
    monkeypatch.setattr(routes, "MOST_STATES", 3)
    found = route({}, WAYS, HOST, lambda state: state != GOAL)
    assert found.steps is None
    assert found.bounded


@given(st.sets(st.tuples(*(st.sampled_from(way) for way in WAYS.values()))))
def test_every_state_is_good_and_no_order_is_shorter(allowed: set[tuple[str, ...]]) -> None:
    allowed = allowed | {tuple(GOAL.values())}

    def good(state: Mapping[str, str]) -> bool:
        return tuple(state[name] for name in WAYS) in allowed

    found = route({}, WAYS, HOST, good)
    assert found == route({}, WAYS, HOST, good)
    single = shortest(allowed)
    if found.steps is None:
        assert single is None
        return
    states = walk(START, found.steps)
    assert all(map(good, states))
    assert states[-1] == GOAL
    assert not any(len(step) > 1 and HOST & step.keys() for step in found.steps)
    if single is not None:
        assert all(len(step) == 1 for step in found.steps)
        assert len(found.steps) == single


def shortest(allowed: set[tuple[str, ...]]) -> int | None:
    """The fewest single steps by plain breadth-first search, every step forward."""
    waiting, steps = {tuple(START.values())}, 0
    ranks = {name: {value: rank for rank, value in enumerate(way)} for name, way in WAYS.items()}
    while waiting:
        if tuple(GOAL.values()) in waiting:
            return steps
        waiting = {
            there
            for here in waiting
            for there in product(*WAYS.values())
            if there in allowed
            and sum(a != b for a, b in zip(here, there, strict=True)) == 1
            and all(ranks[name][a] <= ranks[name][b] for name, a, b in zip(WAYS, here, there, strict=True))
        }
        steps += 1
    return None
