"""The check that an image makes before it starts, just below, at and above what it requires."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from orchestrator.support.requirement import requirement
from orchestrator.support.rows import Compatibility, Requirement
from orchestrator.support.said import Said
from orchestrator.vocabulary import Verdict

YES, NO, OPEN = Verdict.SUPPORTED, Verdict.UNSUPPORTED, Verdict.UNKNOWN
ROWS = Compatibility(
    require=(Requirement(cuda="12.4", branches=("470", "535"), source="doc"),), brands=("datacenter", "workstation")
)
Ask = Callable[..., list[Said]]


@pytest.fixture
def said(world: SimpleNamespace) -> Ask:
    def ask(branch: str = "", rows: Compatibility = ROWS, **axes: str) -> list[Said]:
        question = world.question(axes)
        level = question.values.get("driver_cuda")
        image = question.values["container_cuda"]
        return list(requirement(question, image, level, branch, rows, lambda key: (f"source {key}", "2026-01-01")))

    return ask


@pytest.mark.parametrize(
    ("level", "branch", "kind", "verdict"),
    [
        ("12.5", "550", "geforce", YES),
        ("12.4", "550", "geforce", YES),
        ("12.3", "545", "geforce", NO),
        ("12.3", "535", "datacenter", YES),
        ("12.3", "535", "workstation", YES),
        ("12.3", "535", "geforce", NO),
        ("12.3", "545", "datacenter", NO),
        ("11.4", "470", "datacenter", YES),
        (">=12.4", "", "geforce", YES),
        (">=12.2", "", "geforce", OPEN),
        ("<12.4", "", "geforce", NO),
    ],
)
def test_a_driver_passes_by_its_level_or_its_branch(
    said: Ask, level: str, branch: str, kind: str, verdict: Verdict
) -> None:
    enforced = {"container_cuda": "12.4.1", "require_check": "enforced"}
    (found,) = said(branch, **enforced, driver_cuda=level, gpu_class=kind)
    assert found.verdict is verdict
    assert (found.source, found.as_of) == ("source doc", "2026-01-01")


def test_a_branch_passes_on_some_devices_only(said: Ask) -> None:
    (found,) = said("535", container_cuda="12.4", require_check="enforced", driver_cuda="12.2")
    assert (found.verdict, found.missing) == (OPEN, ("gpu_class",))


@pytest.mark.parametrize("kind", [{"gpu_class": "datacenter"}, {}])
def test_a_list_that_was_not_seen_lets_nothing_be_said(said: Ask, kind: dict[str, str]) -> None:
    asked = {"container_cuda": "13.0", "require_check": "enforced", "driver_cuda": "12.2", **kind}
    assert [each.verdict for each in said("535", **asked)] == [OPEN]


@pytest.mark.parametrize(("level", "verdict"), [("12.7", YES), ("12.6", OPEN), ("11.8", OPEN)])
def test_of_several_images_all_must_start(said: Ask, level: str, verdict: Verdict) -> None:
    asked = {"container_cuda": ">=12.4,<=12.6", "require_check": "enforced", "gpu_class": "geforce"}
    assert [each.verdict for each in said("550", **asked, driver_cuda=level)] == [verdict]


@pytest.mark.parametrize("kind", ["datacenter", "geforce"])
@pytest.mark.parametrize("asked", [{"container_cuda": "12.4"}, {"container_cuda": "12", "driver_cuda": "12.2"}])
def test_a_level_or_a_minor_that_is_not_known_leaves_it_open(said: Ask, asked: dict[str, str], kind: str) -> None:
    assert [each.verdict for each in said("", **asked, require_check="enforced", gpu_class=kind)] == [OPEN]


def test_a_check_that_is_skipped_says_nothing(said: Ask) -> None:
    assert said("545", container_cuda="12.4", driver_cuda="12.3", require_check="skipped") == []


def test_whether_it_is_enforced_matters_where_it_would_refuse(said: Ask) -> None:
    (refusing,) = said("545", container_cuda="12.4", driver_cuda="12.3", gpu_class="geforce")
    assert (refusing.verdict, refusing.missing) == (OPEN, ("require_check",))
    (passing,) = said("550", container_cuda="12.4", driver_cuda="12.4")
    assert (passing.because, passing.missing) == ("", ())
