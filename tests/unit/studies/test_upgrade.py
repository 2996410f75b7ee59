"""Upgrades: the laws that hold for every start and goal, asked of the real facts, and what is told."""

import datetime as dt
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.model import Upgrade
from orchestrator.studies.answers import Answers
from orchestrator.studies.upgrade import is_of_host, upgrade
from orchestrator.support.check import Support
from orchestrator.support.facts import Facts, load_facts
from orchestrator.vocabulary import Verdict

TODAY = dt.date(2026, 11, 29)
VALUES = {
    "torch": ("2.6.0", "2.8.0", "2.10.0", "2.13.0", "2.14.1", "2.15.0"),
    "torch_build": ("cu124", "cu126", "cu128", "cu130", "cu132"),
    "python": ("3.9", "3.11", "3.13", "3.14"),
    "driver": ("535", "570", "580", "595"),
}
GPUS = ("V100", "A100", "H100", "B200")
CELLS = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in VALUES.items()})


@pytest.fixture(scope="module")
def facts() -> Facts:
    return load_facts()


@pytest.fixture(scope="module")
def support(facts: Facts) -> Support:
    return Support(facts, on=TODAY)


@given(start=CELLS, goal=CELLS, gpu=st.sampled_from(GPUS), allow=st.booleans())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_step_is_as_good_as_asked_for(
    support: Support, facts: Facts, start: dict[str, str], goal: dict[str, str], gpu: str, allow: bool
) -> None:
    start, goal = {**start, "gpu": gpu}, {**goal, "gpu": gpu}
    found = upgrade(Answers(support), facts.values, start, goal, on="2026-11-29", allow_degraded=allow)
    assert found == upgrade(Answers(support), facts.values, start, goal, on="2026-11-29", allow_degraded=allow)
    wanted = {Verdict.SUPPORTED, Verdict.DEGRADED} if allow else {Verdict.SUPPORTED}
    ways = [(found.steps, goal)] if found.found else []
    if found.nearest:
        ways.append((found.nearest.steps, {**goal, **found.nearest.change}))
    for steps, end in ways:
        state = dict(start)
        for step in steps:
            assert {is_of_host(name) for name in step.change} == {step.where == "host"}
            assert len(step.change) == 1 or step.where == "image"
            state |= step.change
            assert support.verdict(state) in wanted
        assert state == end
    if not found.found:
        assert support.verdict(goal) not in wanted or found.blocked is not None
        assert found.blocked is not None


def asked(make: SimpleNamespace, start: dict[str, str], change: dict[str, str], **refused: object) -> Upgrade:
    known = {"torch": ("2.6.0", "2.7.0", "2.8.0"), "driver": ("535", "580"), "torchvision": ("0.21.0", "0.22.0")}
    return upgrade(make.answers(refused), lambda axis: known.get(axis, ()), start, change, on="2026-11-29")


def test_nothing_to_change_is_a_way_without_steps(make: SimpleNamespace) -> None:
    found = asked(make, {"torch": "2.6.0"}, {"torch": "2.6.0"}, old=(("torch",), lambda torch: True))
    assert (found.found, found.steps, found.blocked) == (True, (), None)


def test_the_start_may_be_refused(make: SimpleNamespace) -> None:
    found = asked(make, {"torch": "2.6.0"}, {"torch": "2.8.0"}, old=(("torch",), lambda torch: torch == "2.6.0"))
    assert found.start.verdict is Verdict.UNSUPPORTED
    assert [dict(step.change) for step in found.steps] == [{"torch": "2.8.0"}]


def test_an_axis_can_come_and_go(make: SimpleNamespace) -> None:
    found = asked(make, {"torch": "2.6.0", "cuda_compat": "13.0"}, {"cuda_compat": "", "driver": "580"})
    assert [dict(step.change) for step in found.steps] == [{"driver": "580"}, {"cuda_compat": ""}]
    assert found.steps[-1].state.axes == {"torch": "2.6.0", "driver": "580"}


def test_a_coupled_step_names_the_rule_that_ties_it(make: SimpleNamespace) -> None:
    pairs = {("2.6.0", "0.21.0"), ("2.7.0", "0.22.0")}
    found = asked(
        make,
        {"torch": "2.6.0", "torchvision": "0.21.0"},
        {"torch": "2.7.0", "torchvision": "0.22.0"},
        pin=(("torch", "torchvision"), lambda torch, vision: (torch, vision) not in pairs),
    )
    (step,) = found.steps
    assert dict(step.change) == {"torch": "2.7.0", "torchvision": "0.22.0"}
    assert [reason.rule for reason in step.coupled] == ["pin"]


def test_a_goal_behind_a_wall_names_the_rule_and_the_nearest_goal_this_side_of_it(make: SimpleNamespace) -> None:
    """Host and image would have to change at once, which is no step."""
    pairs = {("2.6.0", "535"), ("2.7.0", "535"), ("2.8.0", "580")}
    found = asked(
        make,
        {"torch": "2.6.0", "driver": "535"},
        {"torch": "2.8.0", "driver": "580"},
        wall=(("torch", "driver"), lambda torch, driver: (torch, driver) not in pairs),
    )
    assert not found.found
    assert found.goal.verdict is Verdict.SUPPORTED
    assert found.blocked is not None
    assert found.blocked.rule == "wall"
    assert not found.bounded
    assert found.nearest is not None
    assert dict(found.nearest.change) == {"torch": "2.7.0", "driver": "535"}


def test_degraded_states_are_passed_only_when_allowed(make: SimpleNamespace) -> None:
    answers = make.answers({}, {"slow": (("torch",), lambda torch: torch == "2.8.0")})
    for allow in (False, True):
        found = upgrade(
            answers, lambda _: (), {"torch": "2.6.0"}, {"torch": "2.8.0"}, on="2026-11-29", allow_degraded=allow
        )
        assert found.found is allow
        assert (found.blocked is None) is allow
