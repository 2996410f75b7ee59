"""The pytest plugin: progress as it happens, the cases for the JUnit file, the profile, and the bench.

After a test that failed the device is asked whether it still works. An error that sticks to it (CUDA's do: all calls
after the first fail likewise) would fail every test that follows: the session stops, the first failure is marked as the
cause, and one line stands for the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple

import pytest

from suites import cases, exits, settings
from suites.devices import sticky, word_for
from suites.junit import Case
from suites.request import PROFILES

if TYPE_CHECKING:
    from suites.bench import Bench
    from suites.bundle import Bundle
    from suites.request import Request


class Recorder:
    """Follows a pytest session."""

    def __init__(self, bundle: Bundle, bench: Bench, request: Request) -> None:
        self.bundle = bundle
        self._bench = bench
        self._request = request
        self._session: Any = None
        self.cases: List[Case] = []
        self.device_lost = ""
        self._phases: Dict[str, Any] = {}
        self._lines: Dict[str, str] = {}

    @pytest.fixture(scope="session")
    def bench(self) -> Bench:
        """The bench of this run."""
        return self._bench

    @pytest.fixture(scope="session")
    def request_of_run(self) -> Request:
        """What was asked for on the command line."""
        return self._request

    @pytest.fixture(autouse=True)
    def _leaves_settings(self) -> Iterator[None]:
        """What a case changes of the whole process is put back, and its own failure, not that of those after it."""
        before = settings.read()
        yield
        changed = settings.put_back(before)
        if changed:
            raise AssertionError(f"what follows would have been measured otherwise: changed {', '.join(changed)}")

    def pytest_collection_modifyitems(self, session: Any, config: Any, items: List[Any]) -> None:
        """Leave out other loads and larger profiles; the environment comes first, as what explains all else."""
        self._session = session
        profile, compiled = self._bench.cell.profile, self._bench.backend != "eager"
        kept: List[Any] = []
        out: List[Any] = []
        for item in items:
            runs = cases.runs_in(least_profiles(item), profile, compiled) and cases.fits(
                item.nodeid, self._request.loads
            )
            (kept if runs else out).append(item)
        if out:
            config.hook.pytest_deselected(items=out)
        items[:] = sorted(kept, key=lambda item: "_environment" not in item.nodeid)

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
        """A test ended: keep its case, and stop when it left a device on which nothing can run any more."""
        case = self._case(nodeid)
        if case.outcome in {"failed", "error"}:
            case = self._examined(case)
        self.cases.append(case)
        self.bundle.progress(event="end", test=nodeid, outcome=case.outcome)
        if self.device_lost and self._session is not None:
            self._session.shouldstop = self.device_lost

    def pytest_sessionfinish(self, session: Any) -> None:
        """One line for all that the device did not live to see."""
        if self.device_lost:
            left = len(session.items) - sum(case.name in {item.nodeid for item in session.items} for case in self.cases)
            first = self.cases[-1].name
            if left > 0:
                self._add(
                    "cascade", "skipped", f"cascade: {left} cases were not run, the device is broken since {first}"
                )

    def miss(self, expected: Sequence[str]) -> bool:
        """Make a case of it when some that are expected were lost without a word; whether there were such."""
        lost = cases.lost(expected, [case.name for case in self.cases])
        if lost:
            some = ", ".join(map(cases.short, lost[:5])) + (", ..." if len(lost) > 5 else "")
            self._add(
                "number of cases", "error", f"collection: {len(lost)} of {len(expected)} cases did not run: {some}"
            )
        return bool(lost)

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be collected is a case of its own, not a silence."""
        if report.failed:
            text = report.longreprtext
            lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
            self._add(report.nodeid, "error", f"collection: {lines[0] if lines else 'failed'}", text)

    def pytest_internalerror(self, excrepr: Any) -> None:
        """Our own bug is an error in the report, not a silence."""
        text = str(excrepr)
        self._add("session", "error", f"internal error of the suite: {text.strip().splitlines()[-1]}", text)

    def _add(self, name: str, outcome: str, message: str, detail: str = "") -> None:
        """A case that is no test."""
        self.bundle.progress(event="start", test=name)
        self.cases.append(Case(name=name, outcome=outcome, message=message, detail=detail, seconds=0.0))
        self.bundle.progress(event="end", test=name, outcome=outcome)

    def _examined(self, case: Case) -> Case:
        """The failed case, as the cause of all that follows where the device does not answer since."""
        stays = sticky(self._bench.device, case.detail)
        ill = "" if self.device_lost else self._illness() or ("not asked, this error stays" if stays else "")
        if not ill:
            return case
        told = case.message if case.message.startswith(exits.DEVICE_LOST) else f"{exits.DEVICE_LOST}: {case.message}"
        self.device_lost = told
        return replace(case, message=told, detail=f"{case.detail}\nThe device's health check afterwards: {ill}\n")

    def _illness(self) -> str:
        """What the device's health check raises, or an empty text: wrong numbers are for the loads to tell."""
        try:
            self._bench.device.synchronise()
            self._bench.device.health()
        except AssertionError:
            return ""
        except Exception as error:  # noqa: BLE001 - each device's library has its own
            full = word_for(self._bench.device, str(error)) == exits.OUT_OF_MEMORY
            return "" if full else f"{type(error).__name__}: {error}"
        return ""

    def _case(self, nodeid: str) -> Case:
        seconds = sum(report.duration for report in self._phases.values())
        bad = next((report for report in self._phases.values() if report.outcome != "passed"), None)
        if bad is None:
            return Case(name=nodeid, outcome="passed", message="", detail="", seconds=seconds)
        if bad.outcome == "skipped":
            message = bad.longrepr[2] if isinstance(bad.longrepr, tuple) else str(bad.longrepr)
            message = message.removeprefix("Skipped: ")
            known = getattr(bad, "wasxfail", "")
            if known:
                message = f"known issue: {known}: {self._lines.get(nodeid, 'failed')}"
            return Case(name=nodeid, outcome="skipped", message=message, detail="", seconds=seconds)
        outcome = "failed" if bad.when == "call" else "error"
        # What is known to fail and passes has no error: pytest says so itself.
        message = self._lines.get(nodeid, bad.longreprtext)
        return Case(name=nodeid, outcome=outcome, message=message, detail=bad.longreprtext, seconds=seconds)


def least_profiles(item: Any) -> Tuple[str, str]:
    """The least profile that runs a test: by itself, and through a compile backend."""
    marked = [item.get_closest_marker(name) for name in ("profile", "compiled_from")]
    itself, compiled = (mark.args[0] if mark else PROFILES[0] for mark in marked)
    return itself, max(itself, compiled, key=PROFILES.index)
