"""Bundles of a few cases, as the judge is given them."""

from collections.abc import Mapping
from typing import Any

from orchestrator import formats
from orchestrator.model import Case
from orchestrator.results.bundle import Bundle
from orchestrator.results.progress import Progress
from orchestrator.vocabulary import Cause, Outcome

PASS = Case(name="test_matmul", outcome=Outcome.PASSED)
CONV = Case(name="test_conv", outcome=Outcome.FAILED, message="numerics: off by 1")
SKIP = Case(name="test_gpu", outcome=Outcome.SKIPPED, message="no GPU")
STICKY = Case(name="test_conv", outcome=Outcome.FAILED, message="device lost: CUDA error: misaligned address")
CASCADE = Case(name="cascade", outcome=Outcome.SKIPPED, message="cascade: 198 cases were not run")
FELL = Case(name="test_ov", outcome=Outcome.FAILED, message="backend fell back: took 0 of 3")
NO_COMPILER = Case(name="test_softmax", outcome=Outcome.SKIPPED, message="compiler missing: no g++")
OBSERVED = {"torch": "2.13.0+cpu", "torch_build": "cpu", "python": "3.11.2", "backend": "eager"}
OTHER_TORCH = {**OBSERVED, "torch": "2.12.1+cu130", "torch_build": "cu130"}


def whole(*cases: Case, exit: int = 0, observed: Mapping[str, str] = OBSERVED, **changes: Any) -> Bundle:  # noqa: A002
    """A whole bundle with these cases."""
    failed = sum(case.outcome in {Outcome.FAILED, Outcome.ERROR} for case in cases)
    progress = Progress(
        started=len(cases),
        ended=len(cases),
        failed=failed,
        passed=sum(case.outcome is Outcome.PASSED for case in cases),
        final=formats.ProgressFinal(exit=exit, tests=len(cases)),
    )
    environment = formats.EnvironmentFile(started="2026-11-29T10:00:00Z", axes=observed, facts={})
    facts: dict[str, Any] = {"environment": environment, "cases": cases, "progress": progress, **changes}
    return Bundle(**facts)


def cut(*cases: Case, in_flight: str = "test_conv", **changes: Any) -> Bundle:
    """A bundle that ends in the middle of a test."""
    progress = Progress(started=len(cases) + 1, ended=len(cases), in_flight=in_flight)
    return whole(*cases, progress=progress, gaps=("junit.xml is missing or ends too early",), **changes)


COMPILED = {**OBSERVED, "backend": "inductor"}
ASKED = {"axes": {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11", "backend": "inductor"}}


def compiled(*cases: Case, taken: int = 1, backend: str = "inductor", **changes: Any) -> Bundle:
    """A whole bundle of a run in which the backend took so much of one load that it should take."""
    use = formats.BackendUse(
        load="softmax",
        backend=backend,
        graphs=1,
        graph_breaks=0,
        break_reasons=(),
        taken=taken,
        expected=1,
        unit="graphs",
    )
    return whole(*cases, observed=COMPILED, structure=formats.StructureFile(backends=(use,)), **changes)


NOTHING = Bundle(gaps=("progress.jsonl is missing",))

# name of the row, what the engine saw, what was left, what the cell allows, the cause, the reason
Line = tuple[str, Mapping[str, Any], Bundle | None, Mapping[str, Any], Cause, str]
