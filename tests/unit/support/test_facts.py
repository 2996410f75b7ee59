from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator.errors import InputError
from orchestrator.support.check import Support
from orchestrator.support.facts import load_facts
from orchestrator.support.rows import Compatibility, FullDriver, MinorFloor
from orchestrator.vocabulary import Verdict


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


def test_overlays_of_one_name_keep_their_sources_apart(tmp_path: Path) -> None:
    overlays = [tmp_path / folder / "site.yaml" for folder in ("one", "two")]
    for overlay in overlays:
        overlay.parent.mkdir()
        overlay.write_text(
            f"sources: {{us: {{text: 'of {overlay.parent.name}', evidence: measured}}}}\n"
            "rules:\n"
            "  - {name: ours, kind: interval, rank: 1, 'yes': 'fine', 'no': 'not so', rows: [\n"
            "      {when: {torch: '2.8'}, source: us}]}\n"
        )
    told = [known.source.text for known in load_facts(overlays).rows() if known.rule.name == "ours"]
    assert told == ["of two", "of one"]


def test_an_overlay_that_is_none_is_told(tmp_path: Path) -> None:
    overlay = tmp_path / "site.yaml"
    overlay.write_text("rules: 7")
    with pytest.raises(InputError, match="is no facts file"):
        load_facts([overlay])
