"""The nearest combinations: few changes, each checked itself."""

from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.support.check import Support
from orchestrator.support.facts import Facts
from orchestrator.support.nearest import whole
from orchestrator.vocabulary import RuleKind, Verdict

YES, PART, NO, OPEN = Verdict.SUPPORTED, Verdict.DEGRADED, Verdict.UNSUPPORTED, Verdict.UNKNOWN
DRIVERS = {"cu118": ">=450.80", "cu128": ">=570.26", "cu130": ">=580.65"}
PYTHONS = {"2.6.0": "<3.13", "2.7.0": "<3.14", "2.8.0": "<3.14"}
BUILDS = {"2.6.0": ("cu118", "cpu"), "2.7.0": ("cu118", "cu128", "cpu"), "2.8.0": ("cu128", "cu130", "cpu")}


@pytest.fixture(scope="module")
def support(world: SimpleNamespace) -> Support:
    rules = (
        world.rule(
            *(world.row({"torch": torch}, {"torch_build": builds}) for torch, builds in BUILDS.items()), name="builds"
        ),
        world.rule(
            *(world.row({"torch": torch}, {"python": python}) for torch, python in PYTHONS.items()), name="pythons"
        ),
        world.rule(
            *(world.row({"torch_build": build}, {"driver": floor}) for build, floor in DRIVERS.items()), name="floors"
        ),
        world.rule(
            world.row({"python": "3.12"}, otherwise=PART),
            world.row({"python": ("3.11", "3.13", "3.14")}, {}),
            name="slow",
        ),
    )
    ends = world.rule(world.row({"driver": "450"}, until="2020-01-01"), name="ends", kind=RuleKind.LIFETIME)
    return Support(world.facts(*rules, ends))


def nearest(support: Support, **asked: Any) -> list[tuple[dict[str, str], Verdict]]:
    answer = support.answer(asked, nearest=True)
    return [(dict(each.change), each.verdict) for each in answer.nearest]


def test_each_alternative_is_what_it_says(support: Support) -> None:
    asked = {"torch": "2.8.0", "torch_build": "cu130", "python": "3.14", "driver": "535.10"}
    found = nearest(support, **asked)
    assert found
    for change, verdict in found:
        assert support.verdict({**asked, **change}) is verdict
        assert all(asked[axis] != value for axis, value in change.items())


def test_one_change_is_enough_where_one_mends_it(support: Support) -> None:
    asked = {"torch": "2.7.0", "torch_build": "cu130", "python": "3.11", "driver": "590"}
    assert nearest(support, **asked) == [
        ({"torch_build": "cu128"}, YES),
        ({"torch": "2.8.0"}, YES),
    ]


def test_two_changes_where_none_alone_is_enough(support: Support) -> None:
    asked = {"torch": "2.8.0", "torch_build": "cu128", "python": "3.11", "driver": "460.10"}
    found = nearest(support, **asked)
    assert ({"driver": "570.26"}, YES) in found
    assert ({"torch_build": "cu118", "torch": "2.7.0"}, YES) in found


def test_what_only_changes_more_is_not_told(support: Support) -> None:
    found = [change for change, _ in nearest(support, torch="2.7.0", torch_build="cu130", python="3.11", driver="590")]
    assert not any(one.items() > other.items() for one in found for other in found)


def test_what_is_supported_needs_no_other(support: Support) -> None:
    assert nearest(support, torch="2.8.0", torch_build="cu128", python="3.11", driver="590") == []


def test_from_a_refusal_a_restriction_is_better(support: Support) -> None:
    found = nearest(support, torch="2.6.0", torch_build="cu118", python="3.13", driver="590")
    assert found[0][1] is YES
    assert ({"python": "3.11"}, YES) in found or ({"python": "3.12"}, PART) in found


def test_from_a_restriction_only_support_is_better(support: Support) -> None:
    found = nearest(support, torch="2.8.0", torch_build="cu128", python="3.12", driver="590")
    assert found
    assert {verdict for _, verdict in found} == {YES}


def test_at_most_a_handful_is_told(support: Support) -> None:
    assert len(nearest(support, torch="2.8.0", torch_build="cu130", python="3.14", driver="440.1")) <= 5


def test_none_are_searched_unless_asked_for(support: Support) -> None:
    assert support.answer({"torch": "2.7.0", "torch_build": "cu130"}).nearest == ()


def test_what_was_said_of_a_changed_component_in_another_way_changes_with_it(real: Facts) -> None:
    support = Support(real)
    asked = {"driver": "535.104.05", "driver_cuda": "12.2", "torch": "2.8.0"}
    change = whole(support, asked, {"driver": "580.65.06"})
    assert change["driver"] == "580.65.06"
    assert change["driver_cuda"].startswith("13.")
    assert whole(support, {"torch": "2.8.0"}, {"driver": "580.65.06"}) == {"driver": "580.65.06"}
    assert whole(support, {"base": "x", "libc": "musl"}, {"base": "mine"})["libc"] == "any"
