"""The facts that the table asks about."""

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from orchestrator.formats import CellFile, EnvironmentFile
from orchestrator.model import OWN_SYSTEM, Case, Counts, Log
from orchestrator.results.bundle import Bundle
from orchestrator.results.evidence import count, gather, says_fell_back
from orchestrator.results.progress import Progress
from orchestrator.vocabulary import Outcome


@pytest.mark.parametrize(
    ("facts", "number"),
    [
        ({"code": 0}, None),
        ({"code": 128}, None),
        ({"code": None}, None),
        ({"code": 139}, 11),
        ({"code": -11}, 11),
        ({"code": None, "signal": 11}, 11),
        ({"code": 137, "signal": 9}, 9),
        ({"code": 1, "signal": 0}, None),
    ],
)
def test_the_signal_however_the_engine_wrote_it(
    make: SimpleNamespace, facts: dict[str, Any], number: int | None
) -> None:
    assert gather(make.cell(), make.attempt(**facts), None).signal == number


def test_requested_axes_that_nobody_saw_are_no_difference_but_the_known_ones_must_be_seen(
    make: SimpleNamespace,
) -> None:
    environment = EnvironmentFile(started="2026-11-29", axes={"torch": "2.13.0+cpu"}, facts={})

    seen = gather(make.cell(), make.attempt(), Bundle(environment=environment))

    assert seen.differences == {}
    assert seen.unwitnessed == ("torch_build", "python", "backend")
    full = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11", "backend": "openvino", "openvino": "2025.4.1"}
    bundle = Bundle(environment=EnvironmentFile(started="2026-11-29", axes=make.observed, facts={}))
    assert gather(make.cell(axes=full), make.attempt(), bundle).unwitnessed == ("openvino",)
    assert gather(make.cell(axes={**make.axes, "gpu": "H100"}), make.attempt(), bundle).unwitnessed == ("gpu",)
    assert gather(make.cell(axes={"image": "sha256:0"}), make.attempt(), None).unwitnessed == ()


def test_what_was_asked_under_the_cells_name_is_the_cell(make: SimpleNamespace) -> None:
    def told(asked: CellFile, **planned: str) -> tuple[str, ...]:
        return gather(make.cell(axes={**make.axes, **planned}), make.attempt(), Bundle(cell=asked)).problems

    assert told(CellFile(id="c1", axes=make.axes)) == ()
    assert told(CellFile(id="c1", axes={**make.axes, "base": "debian12", "env": ""})) == ()  # defaults are not told
    assert told(CellFile(id="c1", axes={**make.axes, "torch": "2.6.0\n"}), env="OMP_NUM_THREADS=1") == (
        "cell.json asks for env none, the plan for `OMP_NUM_THREADS=1`",
        "cell.json asks for torch `2.6.0`, the plan for `2.13.0`",
    )
    assert told(CellFile(id="c1", axes={**make.axes, "torch_build": "cu130"}, device="cpu"), torch_build="cu130") == (
        "cell.json asks for the processor, the cell runs on a cuda device",
    )


def test_a_short_log_is_all_in_its_head(make: SimpleNamespace) -> None:
    assert gather(make.cell(), make.attempt(log=Log(head="a", tail="b")), None).log == "ab"
    assert len(gather(make.cell(), make.attempt(log=Log(head="a" * 100_000)), None).log) == 65536


def test_the_engines_clock_comes_first(make: SimpleNamespace) -> None:
    bundle = Bundle(environment=EnvironmentFile(started="2025-01-01", axes={}, facts={}))

    assert gather(make.cell(), make.attempt(started="2026-01-01"), bundle).started == "2026-01-01"
    assert gather(make.cell(), make.attempt(started=""), bundle).started == "2025-01-01"
    assert gather(make.cell(), make.attempt(started=""), None).started == ""


def test_only_refused_bundle_files_count(make: SimpleNamespace) -> None:
    refused = ("junit.xml: there twice", "junit.xml.bak: not a file of a bundle", "and 3 more files")

    assert gather(make.cell(), make.attempt(refused=refused), None).refused == ("junit.xml: there twice",)


def test_where_names_the_test_in_flight_in_one_line(make: SimpleNamespace) -> None:
    bundle = Bundle(progress=Progress(in_flight="a\n\x1b[31mb"))

    assert gather(make.cell(), make.attempt(), bundle).where == " in a b"
    assert gather(make.cell(), make.attempt(), None).where == ""


@pytest.mark.parametrize(
    ("message", "fell"),
    [
        ("backend fell back: took 0", True),
        ("AssertionError: backend fell back: took 0", True),
        ("Failed: backend fell back: took 0", True),
        ("it says backend fell back: took 0", False),
        ("backend fell over", False),
    ],
)
def test_what_says_that_a_backend_fell_back(message: str, fell: bool) -> None:
    assert says_fell_back(Case(name="a", outcome=Outcome.FAILED, message=message)) is fell


def test_counts() -> None:
    cases = (
        Case(name="a", outcome=Outcome.PASSED),
        Case(name="b", outcome=Outcome.FAILED),
        Case(name="c", outcome=Outcome.FAILED, known_issue="link"),
        Case(name="d", outcome=Outcome.ERROR),
        Case(name="e", outcome=Outcome.SKIPPED),
        Case(name="f", outcome=Outcome.PASSED),
    )

    assert count(cases) == Counts(passed=2, failed=1, error=1, skipped=1, known=1)


@pytest.mark.parametrize(
    ("relaxed", "asked", "differs"),
    [
        ((OWN_SYSTEM,), "debian12", False),  # the default: nobody asked for a system
        ((OWN_SYSTEM,), "debian13", True),
        ((), "debian12", True),
    ],
)
def test_a_system_that_was_not_asked_for_is_no_difference_without_a_container(
    make: SimpleNamespace, relaxed: tuple[str, ...], asked: str, differs: bool
) -> None:
    observed = {**make.observed, "base": "ubuntu24.04"}
    bundle = Bundle(environment=EnvironmentFile(started="2026-11-29", axes=observed, facts={}))
    cell = make.cell(axes={**make.axes, "base": asked})
    seen = gather(cell, replace(make.attempt(), relaxed=relaxed), bundle)
    assert ("base" in seen.differences) is differs
