"""Files of facts as one."""

from types import SimpleNamespace

import pytest

from orchestrator.errors import InputError
from orchestrator.support.layers import join, merge
from orchestrator.support.rows import Compatibility, FactsFile, FullDriver, Source
from orchestrator.vocabulary import Evidence, RuleKind


def test_files_become_one_with_their_sources_kept_apart(world: SimpleNamespace) -> None:
    def file(text: str, torch: str, **more: object) -> FactsFile:
        source = Source(text=text, evidence=Evidence.METADATA)
        return FactsFile(sources={"doc": source}, rules=(world.rule(world.row({"torch": torch})),), **more)  # type: ignore[arg-type]

    full = Compatibility(full=(FullDriver(toolkit="12.4.0", driver="550.54", source="doc"),))
    whole = merge([("one", file("first", "1")), ("two", file("second", "2", compatibility=full))])
    assert {key: source.text for key, source in whole.sources.items()} == {"one/doc": "first", "two/doc": "second"}
    assert [rule.rows[0].source for rule in whole.rules] == ["one/doc", "two/doc"]
    assert whole.compatibility is not None
    assert whole.compatibility.full[0].source == "two/doc"


def test_a_source_that_is_not_there_is_told(world: SimpleNamespace) -> None:
    with pytest.raises(InputError) as caught:
        merge([("one", FactsFile(rules=(world.rule(world.row({"torch": "1"})),)))])
    assert "no source is named `doc`" in caught.value.fact


def above(world: SimpleNamespace, *rules: object, **more: object) -> FactsFile:
    return FactsFile(sources={"doc": world.sources["measured"]}, rules=rules, **more)  # type: ignore[arg-type]


def test_rows_of_a_rule_of_the_same_name_join_it(world: SimpleNamespace) -> None:
    below = world.facts(world.rule(world.row({"torch": "2.8"}), yes="the shipped sentence")).file
    own = world.rule(world.row({"torch": "2.9"}), yes="mine")
    joined = join(below, above(world, own), name="site")
    (rule,) = joined.rules
    assert [(row.when, row.source) for row in rule.rows] == [({"torch": "2.9"}, "site/doc"), ({"torch": "2.8"}, "doc")]
    assert rule.yes == "the shipped sentence"
    assert joined.sources["site/doc"].text == "by measured"


@pytest.mark.parametrize("change", [{"name": "other"}, {"kind": RuleKind.ABI}, {"mode": "table"}])
def test_a_rule_of_another_name_kind_or_mode_is_one_of_its_own(world: SimpleNamespace, change: dict[str, str]) -> None:
    below = world.facts(world.rule(world.row({"torch": "2.8"}))).file
    joined = join(below, above(world, world.rule(world.row({"torch": "2.9"}), **change)), name="site")
    assert [len(rule.rows) for rule in joined.rules] == [1, 1]


def test_what_a_site_derives_and_knows_of_devices_comes_first(world: SimpleNamespace) -> None:
    below = world.facts(
        derivations=(world.derivation({"distro": "debian-12"}, {"glibc": "2.36"}),),
        devices=(world.device("H100", arch="sm_90"),),
    ).file
    own = above(
        world,
        derivations=(world.derivation({"distro": "site-1"}, {"glibc": "2.50"}),),
        devices=(world.device("H100", r"H100 special", arch="sm_91"),),
    )
    joined = join(below, own, name="site")
    assert [row.source for row in joined.derivations] == ["site/doc", "doc"]
    assert [row.arch for row in joined.devices] == ["sm_91", "sm_90"]


@pytest.mark.parametrize("part", ["rules", "derivations", "devices"])
def test_a_source_that_an_overlay_does_not_name_is_told(world: SimpleNamespace, part: str) -> None:
    parts = {
        "rules": world.rule(world.row({"torch": "2.8"})),
        "derivations": world.derivation({"torch": "2.8"}, {"glibc": "2.28"}),
        "devices": world.device("H100"),
    }
    with pytest.raises(InputError, match="no source is named `doc`"):
        join(FactsFile(), FactsFile(**{part: (parts[part],)}), name="site")  # type: ignore[arg-type]


def test_an_overlay_that_speaks_of_compatibility_is_told_so() -> None:
    with pytest.raises(InputError, match="`compatibility` of an overlay is not read"):
        join(FactsFile(), FactsFile(compatibility=Compatibility()), name="site")
