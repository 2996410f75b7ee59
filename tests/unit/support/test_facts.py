from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator.errors import InputError
from orchestrator.support.check import Support
from orchestrator.support.facts import join, load_facts
from orchestrator.support.rows import Compatibility, FactsFile, FullDriver, MinorFloor
from orchestrator.vocabulary import RuleKind, Verdict


def test_the_values_that_facts_name_oldest_first(world: SimpleNamespace) -> None:
    facts = world.facts(
        world.rule(
            world.row({"torch": ">=2.6.0,<2.10"}, {"python": ("3.9", "3.13t", "!=3.9.1")}),
            world.row({"torch": "2.7.1", "distro": "ubuntu-*"}, need_any=({"torch_build": ("cu128", "cu*")},)),
            world.row({"torchvision": ">=0.21"}, {"torchvision": "same as torch"}),
        ),
        derivations=(world.derivation({"distro": "debian-12"}, {"glibc": "2.36"}),),
        compatibility=Compatibility(
            full=(FullDriver(toolkit="12.4.1", driver="550.54.15", source="doc"),),
            minor=(MinorFloor(major="12", driver="525.60.13", level="12.0", source="doc"),),
        ),
    )
    assert facts.values("torch") == ("2.6.0", "2.7.1", "2.10")
    assert facts.values("python") == ("3.9", "3.13t")
    assert facts.values("torch_build") == ("cu128",)
    assert facts.values("distro") == ("debian-12",)
    assert facts.values("torchvision") == ("0.21",)
    assert facts.values("driver") == ("525.60.13", "550.54.15")
    assert facts.values("cuda_runtime") == ("12.4",)
    assert facts.values("no axis") == ()


def test_each_row_is_known_with_its_rule_and_source(world: SimpleNamespace) -> None:
    end = world.row({"torch": "2.6"}, until="2026-01-01")
    rule = world.rule(world.row({"torch": "2.8"}), end)
    facts = world.facts(rule)
    assert [(known.rule.name, known.row.when, known.source.text) for known in facts.rows()] == [
        ("topic", {"torch": "2.8"}, "a vendor's page"),
        ("topic", {"torch": "2.6"}, "a vendor's page"),
    ]
    assert facts.lifetimes == [end]


def test_a_rows_own_day_outweighs_its_sources(world: SimpleNamespace) -> None:
    facts = world.facts()
    assert facts.source(world.row()) == ("a vendor's page", "2026-08-21")
    assert facts.source(world.row(as_of="2026-11-01")) == ("a vendor's page", "2026-11-01")
    assert facts.source_of("doc") == ("a vendor's page", "2026-08-21")
    assert facts.source_of("nowhere") == ("", "")


def test_the_cuda_builds_of_a_release_that_was_asked_without_a_build(world: SimpleNamespace) -> None:
    published = world.rule(
        world.row({"torch": "2.8"}, {"torch_build": ("cu126", "cu128", "cpu", "rocm6.4")}),
        world.row({"torch": "2.6"}, {"torch_build": ("cu124",)}),
        name="index-mapping",
    )
    facts = world.facts(published)
    ask = Support(facts).question
    assert facts.cuda_builds(ask({"torch": "2.8.0"})) == ("cu126", "cu128")
    assert facts.cuda_builds(ask({"torch": ">=2.6"})) == ("cu126", "cu128", "cu124")
    assert facts.cuda_builds(ask({"torch": "2.8.0", "torch_build": "cpu"})) == ()
    assert facts.cuda_builds(ask({})) == ()


# a site's own facts above the shipped ones


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


def test_an_overlay_is_asked_with_the_rest(tmp_path: Path) -> None:
    overlay = tmp_path / "site.yaml"
    overlay.write_text(
        "sources: {us: {text: our cluster, evidence: measured, as_of: '2026-11-01'}}\n"
        "rules:\n"
        "  - {name: ours, kind: interval, rank: 1, 'yes': 'fine', 'no': 'torch {torch} hangs here', rows: [\n"
        "      {when: {torch: '2.8'}, need: {python: '<3'}, source: us}]}\n"
    )
    asked = {"torch": "2.8.0", "torch_build": "cu128", "python": "3.12"}
    before, after = Support(load_facts()).answer(asked), Support(load_facts([overlay])).answer(asked)
    assert before.verdict is Verdict.SUPPORTED
    assert after.verdict is Verdict.UNSUPPORTED
    assert (after.reasons[0].because, after.reasons[0].source) == ("torch 2.8.0 hangs here", "our cluster")


def test_an_overlay_that_is_none_is_told(tmp_path: Path) -> None:
    overlay = tmp_path / "site.yaml"
    overlay.write_text("rules: 7")
    with pytest.raises(InputError, match="is no facts file"):
        load_facts([overlay])
