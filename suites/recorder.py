"""The pytest plugin: progress as it happens, the cases for the JUnit file, the profile, and the bench."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional

import pytest

from suites import exits
from suites.devices import word_for
from suites.junit import Case
from suites.request import PROFILES

if TYPE_CHECKING:
    from suites.bench import Bench
    from suites.bundle import Bundle


class Recorder:
    """Follows a pytest session."""

    def __init__(self, bundle: Bundle, bench: Bench) -> None:
        self.bundle = bundle
        self._bench = bench
        self.cases: List[Case] = []
        self.device_lost = ""
        self._phases: Dict[str, Any] = {}
        self._lines: Dict[str, str] = {}

    @pytest.fixture(scope="session")
    def bench(self) -> Bench:
        """The bench of this run."""
        return self._bench

    def pytest_collection_modifyitems(self, config: Any, items: List[Any]) -> None:
        """Leave out what only a larger profile runs; the environment comes first, as what explains all else."""
        level = PROFILES.index(self._bench.cell.profile)
        compiled = self._bench.backend != "eager"
        out = [item for item in items if PROFILES.index(_least_profile(item, compiled)) > level]
        if out:
            config.hook.pytest_deselected(items=out)
        items[:] = sorted(
            (item for item in items if item not in out), key=lambda item: "_environment" not in item.nodeid
        )

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self._phases = {}
        self._bench.case = nodeid
        self.bundle.progress(event="start", test=nodeid)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """Note the line that a failure is told by."""
        yield
        if call.excinfo is not None and not call.excinfo.errisinstance(pytest.skip.Exception):
            self._lines[item.nodeid] = self.essential(call.excinfo.value)

    def essential(self, error: BaseException) -> str:
        """The one line that says what went wrong, beginning with its cause where that is known."""
        text = str(error).strip()
        line = next((line for line in text.splitlines() if line.strip()), "")
        if exits.begins_with_word(line):
            word: Optional[str] = line.split(":", 1)[0]
        else:
            word = word_for(self._bench.device, text)
            named = line if type(error) is AssertionError and line else f"{type(error).__name__}: {line}"
            line = f"{word}: {named}" if word else named
        if word == exits.DEVICE_LOST:
            self.device_lost = line
        return line

    def pytest_runtest_logreport(self, report: Any) -> None:
        """One phase of a test ended."""
        self._phases[report.when] = report

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test ended: keep its case."""
        case = self._case(nodeid)
        self.cases.append(case)
        self.bundle.progress(event="end", test=nodeid, outcome=case.outcome)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: Any) -> None:
        """A lost device fails everything after it: stop at the first."""
        if self.device_lost:
            item.session.shouldstop = self.device_lost

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be collected is a case of its own, not a silence."""
        if report.failed:
            self.bundle.progress(event="start", test=report.nodeid)
            text = report.longreprtext
            lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
            message = f"collection: {lines[0] if lines else 'failed'}"
            self.cases.append(Case(name=report.nodeid, outcome="error", message=message, detail=text, seconds=0.0))
            self.bundle.progress(event="end", test=report.nodeid, outcome="error")

    def pytest_internalerror(self, excrepr: Any) -> None:
        """Our own bug is an error in the report, not a silence."""
        text = str(excrepr)
        message = f"internal error of the suite: {text.strip().splitlines()[-1]}"
        self.cases.append(Case(name="session", outcome="error", message=message, detail=text, seconds=0.0))

    def _case(self, nodeid: str) -> Case:
        seconds = sum(report.duration for report in self._phases.values())
        bad = next((report for report in self._phases.values() if report.outcome != "passed"), None)
        if bad is None:
            return Case(name=nodeid, outcome="passed", message="", detail="", seconds=seconds)
        if bad.outcome == "skipped":
            message = bad.longrepr[2] if isinstance(bad.longrepr, tuple) else str(bad.longrepr)
            message = message.removeprefix("Skipped: ")
            return Case(name=nodeid, outcome="skipped", message=message, detail="", seconds=seconds)
        outcome = "failed" if bad.when == "call" else "error"
        message = self._lines.get(nodeid, "failed")
        return Case(name=nodeid, outcome=outcome, message=message, detail=bad.longreprtext, seconds=seconds)


def _least_profile(item: Any, compiled: bool) -> str:
    marks = [item.get_closest_marker(name) for name in ("profile", "compiled_from") if compiled or name == "profile"]
    return max((mark.args[0] for mark in marks if mark), key=PROFILES.index, default=PROFILES[0])
