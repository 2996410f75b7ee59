from collections import Counter
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.model import Answer, CellSupport
from orchestrator.planning.asking import NO_WHEEL, Asking, against, contexts_of, site_refusal, support_of
from orchestrator.support.check import Support
from orchestrator.support.facts import load_facts
from orchestrator.vocabulary import LeftOutKind, Verdict


def test_the_rules_of_the_site_come_first(make: SimpleNamespace) -> None:
    asking = Asking(make.vendor(make.says(Verdict.UNSUPPORTED, torch="2.13.0")), (make.rule(7, torch=">=2.13"),))
    reason = asking.refusal(make.cpu)
    assert reason is not None
    keeps = against(reason)
    assert (keeps.kind, keeps.reason) == (LeftOutKind.RULE, "we said so (site-rule, matrix.yaml:7)")
    assert site_refusal({"python": "3.11"}, (make.rule(7, torch=">=2.13"),)) is None


def test_the_source_of_a_site_rule_is_told(make: SimpleNamespace) -> None:
    from msgspec.structs import replace

    rule = replace(make.rule(7, torch="*"), source="ticket 12")
    reason = site_refusal(make.cpu, (rule,))
    assert reason is not None
    assert against(reason).reason == "we said so (site-rule, ticket 12, matrix.yaml:7)"


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ("index-mapping", LeftOutKind.NO_WHEEL),
        ("distribution", LeftOutKind.NO_WHEEL),
        ("triton-wheel", LeftOutKind.NO_WHEEL),
        ("driver-floor", LeftOutKind.UNSUPPORTED),
    ],
)
def test_a_wheel_that_is_not_there_is_no_wheel(make: SimpleNamespace, rule: str, kind: LeftOutKind) -> None:
    _, reason = make.says(Verdict.UNSUPPORTED, rule, torch="*")
    keeps = against(reason)
    assert (keeps.kind, keeps.rule, keeps.source) == (kind, rule, "manual, 2026-11-01")
    assert keeps.reason == f"{rule} says unsupported ({rule}, manual, 2026-11-01)"


def test_the_topics_of_missing_wheels_are_those_of_the_facts() -> None:
    topics = {rule.name for rule in load_facts().file.rules}
    assert topics >= NO_WHEEL
    assert any(topic.endswith("-wheel") for topic in topics)


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        (Verdict.SUPPORTED, None),
        (Verdict.DEGRADED, None),
        (Verdict.UNKNOWN, LeftOutKind.UNKNOWN),
        (Verdict.UNSUPPORTED, LeftOutKind.UNSUPPORTED),
    ],
)
def test_only_what_somebody_says_works_is_planned_at_the_edge(
    make: SimpleNamespace, verdict: Verdict, kind: LeftOutKind | None
) -> None:
    keeps = Asking(make.vendor(make.says(verdict, torch="*")), ()).against(make.cpu)
    assert (keeps and keeps.kind) == kind


def test_an_unknown_without_a_reason_says_what_would_help(make: SimpleNamespace) -> None:
    class Silent(make.vendor):  # type: ignore[misc, name-defined]
        def answer(self, combination: Mapping[str, object], *, nearest: bool = False) -> Answer:
            return Answer(verdict=Verdict.UNKNOWN, reasons=(), supported_until=None, missing=("driver", "gpu"))

    keeps = Asking(Silent(), ()).against(make.cpu)
    assert keeps is not None
    assert keeps.reason == "nobody says that it works; it would help to know driver, gpu"


def test_the_support_of_a_cell_is_its_verdict_and_what_decides_it(make: SimpleNamespace) -> None:
    vendor = make.vendor(make.says(Verdict.DEGRADED, "window", driver="580"))
    assert support_of(vendor.answer(make.cuda)) == CellSupport(
        verdict=Verdict.DEGRADED, rule="window", because="window says degraded", source="manual", as_of="2026-11-01"
    )
    assert support_of(vendor.answer(make.cpu)) == CellSupport(verdict=Verdict.SUPPORTED)


def test_nobody_is_asked_twice_nor_for_what_a_refusal_told_already(make: SimpleNamespace) -> None:
    asked: Counter[frozenset[Any]] = Counter()

    class Counting(make.vendor):  # type: ignore[misc, name-defined]
        def answer(self, combination: Mapping[str, object], *, nearest: bool = False) -> Answer:
            asked[frozenset(combination.items())] += 1
            return super().answer(combination, nearest=nearest)  # type: ignore[no-any-return]

    asking = Asking(Counting(make.says(Verdict.UNSUPPORTED, torch="2.6.0", python="3.13")), ())
    cell = make.cpu | {"torch": "2.6.0", "python": "3.13"}
    assert asking.refusal(cell) is asking.refusal(cell) is not None
    assert asking.refusal(make.cpu) is None
    before = asked.total()
    assert asking.refusal(cell | {"backend": "inductor", "numpy": "2.0"}) is asking.refusal(cell)
    assert asked.total() == before
    assert max(asked.values()) == 1


def test_a_reason_that_says_too_little_teaches_nothing(make: SimpleNamespace) -> None:
    """A reason may speak of fewer axes than it hangs on: what it names is asked before anything is concluded."""
    when, reason = make.says(Verdict.UNSUPPORTED, torch="2.6.0", python="3.13")
    from msgspec.structs import replace

    asking = Asking(make.vendor((when, replace(reason, axes=("torch",)))), ())
    cell = make.cpu | {"torch": "2.6.0", "python": "3.13"}
    assert asking.refusal(cell) is not None
    assert asking.refusal(cell | {"python": "3.12"}) is None


def test_what_another_axis_could_mend_is_no_refusal_of_all() -> None:
    """CUDA's compatibility package lets an old driver serve a new runtime: the pair is refused without it only."""
    support = Support(load_facts())
    pair = {"torch_build": "cu130", "driver": "535"}
    plain = {"torch": "2.13.0", "python": "3.12", "gpu": "A100", **pair}
    asking = Asking(support, (), ({}, {"cuda_compat": "13.0"}))
    assert asking.refusal(plain) is not None
    assert asking.refusal(plain | {"cuda_compat": "13.0"}) is None
    assert asking.refusal_of_all(pair) is None
    assert Asking(support, ()).refusal_of_all(pair) is not None


def test_a_pair_is_refused_when_it_is_in_every_context(make: SimpleNamespace) -> None:
    told = (make.says(Verdict.UNSUPPORTED, torch="2.6.0"), make.says(Verdict.UNSUPPORTED, torch_from="distribution"))
    asking = Asking(make.vendor(*told), (), ({}, {"torch_from": "distribution"}))
    assert asking.refusal_of_all({"torch": "2.6.0"}) is not None
    assert asking.refusal_of_all({"torch": "2.13.0"}) is None


def test_the_contexts_of_a_matrix_are_those_of_its_rows(make: SimpleNamespace) -> None:
    rows = [
        make.row("a", make.cpu),
        make.row("b", make.cpu | {"torch_from": "distribution"}),
        make.row("c", make.cuda | {"cuda_compat": "13.0", "host_arch": "aarch64"}),
        make.row("d", make.cpu | {"torch_from": "distribution", "python": "3.12"}),
    ]
    assert contexts_of(rows, frozenset()) == (
        {},
        {"torch_from": "distribution"},
        {"host_arch": "aarch64", "cuda_compat": "13.0"},
        {"host_arch": "aarch64"},
    )
    assert contexts_of(rows, frozenset({"torch_from", "cuda_compat"})) == ({}, {"host_arch": "aarch64"})
