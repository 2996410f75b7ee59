"""Forward compatibility: who is entitled, which branch accepts which package, and what a branch's end does to it."""

from types import SimpleNamespace

import pytest

from orchestrator.support import written
from orchestrator.support.forward import Grant, entitled, grant
from orchestrator.support.rows import Accepted, Compatibility, CompatRow, Entitled, Released, SiteCompat
from orchestrator.vocabulary import Verdict

YES, NO, OPEN = Verdict.SUPPORTED, Verdict.UNSUPPORTED, Verdict.UNKNOWN
ROWS = Compatibility(
    entitled=(
        Entitled(class_="datacenter", verdict="yes", source="doc"),
        Entitled(class_="workstation", verdict="unknown", source="doc"),
        Entitled(class_="geforce", verdict="no", source="doc"),
    ),
    table=(
        CompatRow(branch="550", cuda="13.0", verdict="yes", source="metadata"),
        CompatRow(branch="550", cuda="13.1", verdict="no", source="metadata"),
        CompatRow(branch="550", cuda="12.4", verdict="native", source="metadata"),
    ),
    accepted=(
        Accepted(branch="535", cuda=("12.8", "13.0"), source="doc"),
        Accepted(branch="550", cuda=("13.1",), source="doc"),
    ),
    site=(
        SiteCompat(branch="530", max_cuda="12.9", guess=False, source="secondary"),
        SiteCompat(branch="545", max_cuda="12.9", guess=True, source="secondary"),
    ),
    new_feature_branches=("560",),
    released=(
        Released(cuda="12.8", date="2025-01-20", source="doc"),
        Released(cuda="13.0", date="2025-08-04", source="doc"),
    ),
)


def granted(
    world: SimpleNamespace, branch: str, package: str, *, kind: str = "datacenter", end: str = "", runtime: str = "12.8"
) -> Grant:
    question = world.question({"gpu_class": kind} if kind else {})
    versions = [written.version("cuda_runtime", text) for text in (package, runtime)]
    assert versions[0] is not None
    assert versions[1] is not None
    return grant(question, ROWS, branch, versions[0], versions[1], lambda _: end)


@pytest.mark.parametrize(
    ("kind", "said"),
    [("datacenter", "yes"), ("workstation", "unknown"), ("geforce", "no"), ("jetson", "unknown"), ("", "unknown")],
)
def test_who_is_entitled(world: SimpleNamespace, kind: str, said: str) -> None:
    assert entitled(world.question({"gpu_class": kind} if kind else {}), ROWS) == said


@pytest.mark.parametrize(
    ("kind", "verdict", "missing"),
    [("datacenter", YES, ()), ("geforce", NO, ()), ("workstation", OPEN, ()), ("", OPEN, ("gpu_class",))],
)
def test_a_package_is_for_entitled_devices(
    world: SimpleNamespace, kind: str, verdict: Verdict, missing: tuple[str, ...]
) -> None:
    found = granted(world, "535", "12.8", kind=kind)
    assert (found.verdict, found.missing) == (verdict, missing)


@pytest.mark.parametrize(
    ("branch", "package", "verdict", "source"),
    [
        ("550", "13.0", YES, "metadata"),  # the vendor's table
        ("550", "12.4", YES, "metadata"),
        ("550", "13.1", NO, "metadata"),  # outweighs the list of images that start
        ("535", "13.0", YES, "doc"),
        ("535", "13.1", OPEN, "doc"),
        ("560", "13.0", NO, "doc"),  # a new-feature branch
        ("530", "12.9", YES, "secondary"),
        ("530", "13.0", OPEN, "doc"),
        ("545", "12.9", OPEN, "doc"),  # a guess is no word
        ("", "13.0", OPEN, "doc"),
    ],
)
def test_a_branch_accepts_some_packages(
    world: SimpleNamespace, branch: str, package: str, verdict: Verdict, source: str
) -> None:
    found = granted(world, branch, package)
    assert (found.verdict, found.source) == (verdict, source)


@pytest.mark.parametrize(
    ("end", "package", "verdict"),
    [
        ("", "12.8", YES),
        ("2025-01-19", "12.8", OPEN),
        ("2025-01-20", "12.8", YES),
        ("2025-01-21", "12.8", YES),
        ("2025-01-21", "13.0", OPEN),
        ("2026-01-01", "13.0", YES),
    ],
)
def test_past_its_end_a_branch_gets_no_package_of_a_later_toolkit(
    world: SimpleNamespace, end: str, package: str, verdict: Verdict
) -> None:
    assert granted(world, "535", package, end=end).verdict is verdict


@pytest.mark.parametrize(("package", "verdict"), [("12.8", NO), ("13.0", YES)])
def test_a_package_of_an_older_major_does_not_serve_a_newer_runtime(
    world: SimpleNamespace, package: str, verdict: Verdict
) -> None:
    assert granted(world, "535", package, runtime="13.0").verdict is verdict
