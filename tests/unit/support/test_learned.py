"""What was learned, laid over the facts: it is believed, and unsays nothing."""

import datetime as dt
from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator.support.check import Support
from orchestrator.support.facts import Facts, load_facts
from orchestrator.support.layers import join
from orchestrator.support.learn import from_wheel
from orchestrator.support.learned import in_order, overlay
from orchestrator.support.rows import FactsFile
from orchestrator.support.wheel import read
from orchestrator.vocabulary import Evidence, Verdict

DAY = dt.date(2026, 11, 29)
NEW = {"torch": "2.99.0", "torch_build": "cu141", "python": "3.13t"}


@pytest.fixture(scope="module")
def facts() -> Facts:
    return load_facts()


@pytest.fixture
def made(make: SimpleNamespace, tmp_path: Path, facts: Facts) -> FactsFile:
    return overlay(from_wheel(read(make.torch_wheel(tmp_path))), facts, "torch.whl", DAY)


@pytest.fixture
def support(made: FactsFile, facts: Facts) -> Support:
    return Support(Facts(join(facts.file, made, name="mine")))


def test_rows_name_what_was_looked_at_and_when(made: FactsFile) -> None:
    assert {key: (source.text, source.evidence, source.as_of) for key, source in made.sources.items()} == {
        "measured": ("measured: torch.whl", Evidence.MEASURED, "2026-11-29"),
        "metadata": ("metadata: torch.whl", Evidence.METADATA, "2026-11-29"),
    }
    assert {row.source for rule in made.rules for row in rule.rows} == {"measured", "metadata"}


def test_rules_are_weighed_as_the_shipped_ones(made: FactsFile, facts: Facts) -> None:
    shipped = {(rule.name, rule.kind, rule.mode, rule.rank, rule.yes, rule.no) for rule in facts.file.rules}
    assert {(rule.name, rule.kind, rule.mode, rule.rank, rule.yes, rule.no) for rule in made.rules} <= shipped
    assert sum(len(rule.rows) for rule in made.rules) == 7


def test_a_torch_that_nobody_knew_is_known(support: Support, facts: Facts) -> None:
    assert Support(facts).verdict(NEW) is not Verdict.SUPPORTED
    answer = support.answer(NEW)
    assert answer.verdict is Verdict.SUPPORTED, answer.reasons
    assert {reason.source for reason in answer.reasons} >= {"metadata: torch.whl"}


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ({"gpu_arch": "sm_80", "gpu_vendor": "nvidia"}, "arch-binary"),
        ({"glibc": "2.17"}, "glibc"),
        ({"python": "3.11"}, "python-wheel"),
    ],
)
def test_what_a_wheel_measurably_lacks_is_refused(support: Support, more: dict[str, str], rule: str) -> None:
    answer = support.answer({**NEW, **more})
    assert answer.verdict is Verdict.UNSUPPORTED
    assert answer.reasons[0].rule == rule


def test_another_triton_is_degraded_and_none_is_no_matter(support: Support) -> None:
    assert support.verdict({**NEW, "triton": "4.2.0"}) is Verdict.SUPPORTED
    assert support.verdict({**NEW, "triton": "4.1.0"}) is Verdict.DEGRADED


def test_one_wheel_does_not_unsay_the_others_of_its_release(
    make: SimpleNamespace, tmp_path: Path, facts: Facts
) -> None:
    known = [row for known in facts.rows() for row in [known.row] if known.rule.name == "index-mapping"]
    release = next(
        each
        for row in reversed(known)
        for each in [row.when.get("torch")]
        if isinstance(each, str) and each[:1].isdigit()
    )
    version = f"{release}.0" if release.count(".") == 1 else release
    rows = from_wheel(read(make.torch_wheel(tmp_path, version=version)))
    over = Support(Facts(join(facts.file, overlay(rows, facts, "torch.whl", DAY), name="mine")))
    for build in facts.values("torch_build"):
        asked = {"torch": version, "torch_build": build, "os": "linux"}
        if build != "cu141":
            assert over.verdict(asked) is Support(facts).verdict(asked), asked


@pytest.mark.parametrize(
    ("given", "ordered"),
    [
        (["sm_100", "sm_75", "compute_120", "sm_90a", "sm_90"], ("sm_75", "sm_90", "sm_100", "sm_90a", "ptx_120")),
        (["gfx1100", "gfx90a", "gfx942", "gfx942"], ("gfx90a", "gfx942", "gfx1100")),
    ],
)
def test_architectures_stand_in_the_order_of_their_numbers(given: list[str], ordered: tuple[str, ...]) -> None:
    assert in_order(given) == ordered
