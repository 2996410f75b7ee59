"""What is known about one attempt when it is judged: the facts of engine and bundle, side by side."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct, structs

from orchestrator import axes, text
from orchestrator.formats import BUNDLE_FILES, CELL, BackendUse
from orchestrator.model import OWN_SYSTEM, Attempt, Axes, Case, Counts, Exit, PlannedCell
from orchestrator.results import known
from orchestrator.results.bundle import Bundle
from orchestrator.vocabulary import Outcome

FELL_BACK = "backend fell back:"
COMPILER_MISSING = "compiler missing:"
_FAILING = frozenset({Outcome.FAILED, Outcome.ERROR})
_ON_A_DEVICE = frozenset({"cuda", "rocm", "xpu"})
# What the suite always knows of what it runs in; a companion is there, or its axis was not met.
_COMPANIONS = tuple(axis.name for axis in axes.AXES.values() if axis.package and axis.where is axes.Where.IMAGE)
_WITNESSED = tuple(dict.fromkeys(("torch", "torch_build", "python", *_COMPANIONS, "backend", "gpu")))
_LOG = 64 << 10  # characters in which last words and causes are looked for
_SIGNAL_BASE = 128  # a shell, and an engine, report death by signal N as exit 128 + N


class Evidence(Struct, frozen=True, kw_only=True):
    """One attempt at one cell. `cases` are after the known issues, `reported` are the suite's own words."""

    cell: PlannedCell
    attempt: Attempt
    bundle: Bundle
    reported: tuple[Case, ...]
    cases: tuple[Case, ...]

    @property
    def exit(self) -> Exit:
        """What the engine saw."""
        return self.attempt.exit

    @property
    def started(self) -> str:
        """When it began, as an ISO moment: by the engine's clock where there was one."""
        return self.exit.started or (self.bundle.environment.started if self.bundle.environment is not None else "")

    @property
    def observed(self) -> Axes:
        """What was there, by the bundle."""
        return self.bundle.environment.axes if self.bundle.environment is not None else {}

    @property
    def differences(self) -> Mapping[str, tuple[str, str]]:
        """Requested axes that were observed as something else."""
        found = axes.differences(self.cell.axes, self.observed)
        own_system = OWN_SYSTEM in self.attempt.relaxed and self.cell.axes.get("base") == axes.AXES["base"].default
        return {name: pair for name, pair in found.items() if not (own_system and name == "base")}

    @property
    def unwitnessed(self) -> tuple[str, ...]:
        """Axes that the suite always knows, were requested, and are not in its environment."""
        return tuple(name for name in _WITNESSED if name in self.cell.axes and name not in self.observed)

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the report cannot be believed: what the engine refused, what the bundle says of itself, what it is of."""
        return (*(f"refused {name}" for name in self.refused), *self.bundle.problems, *self._asked_otherwise)

    @property
    def _asked_otherwise(self) -> tuple[str, ...]:
        """How what the suite was asked to run is not this cell, though it has the cell's id."""
        asked = self.bundle.cell
        if asked is None:
            return ()
        theirs, ours = axes.canonical(asked.axes), axes.canonical(self.cell.axes)
        found = [
            f"{CELL} asks for {name} {_stated(theirs, name)}, the plan for {_stated(ours, name)}"
            for name in sorted(theirs.keys() | ours.keys())
            if theirs.get(name) != ours.get(name)
        ]
        if asked.device == "cpu" and axes.platform(self.cell.axes) in _ON_A_DEVICE:
            found.append(f"{CELL} asks for the processor, the cell runs on a {axes.platform(self.cell.axes)} device")
        return tuple(found)

    @property
    def signal(self) -> int | None:
        """The signal that ended the process, however the engine wrote it."""
        code = self.exit.code
        if self.exit.signal:
            return self.exit.signal
        if code is not None and code < 0:
            return -code
        return code - _SIGNAL_BASE if code is not None and code > _SIGNAL_BASE else None

    @property
    def log(self) -> str:
        """The end of what the cell printed; a short log is all in its head."""
        return (self.exit.log.head + self.exit.log.tail)[-_LOG:]

    @property
    def died_late(self) -> bool:
        """Whether a signal ended the process after the suite had said how it would end."""
        final = self.bundle.progress.final
        return self.signal is not None and final is not None and self.exit.code != final.exit

    @property
    def refused(self) -> tuple[str, ...]:
        """Bundle files that the engine would not copy."""
        return tuple(name for name in self.exit.refused if name.split(":", 1)[0].strip() in BUNDLE_FILES)

    @property
    def failing(self) -> tuple[Case, ...]:
        """Failing cases that nothing excuses."""
        return tuple(case for case in self.cases if is_failing(case) and not self.is_fallback(case))

    @property
    def fallbacks(self) -> tuple[Case, ...]:
        """Failing cases that only say that the backend fell back, where the row allows that."""
        return tuple(case for case in self.cases if is_failing(case) and self.is_fallback(case))

    def is_fallback(self, case: Case) -> bool:
        """Whether a failing case is an allowed fall-back."""
        return self.cell.allow_fallback and says_fell_back(case)

    @property
    def backend(self) -> str:
        """The compile backend that was asked for, or an empty text where torch runs by itself."""
        asked = self.cell.axes.get("backend", "eager")
        return "" if asked == "eager" else asked

    @property
    def uncompiled(self) -> tuple[Case, ...]:
        """Cases that were skipped because the backend's own compiler is missing."""
        return tuple(case for case in self.cases if case.message.startswith(COMPILER_MISSING)) if self.backend else ()

    @property
    def untaken(self) -> tuple[BackendUse, ...]:
        """Loads of which the backend took nothing, though it is expected to, by the exact counts of the run."""
        return tuple(use for use in self._uses if use.expected > 0 and use.taken <= 0)

    @property
    def unused(self) -> bool:
        """Whether a backend was asked for and no load is counted that went through it."""
        return bool(self.backend) and not self._uses

    @property
    def _uses(self) -> tuple[BackendUse, ...]:
        every = self.bundle.structure.backends if self.bundle.structure is not None else ()
        return tuple(use for use in every if use.backend == self.backend)

    @property
    def ran(self) -> int:
        """Cases that did something: all but the skipped ones."""
        return sum(case.outcome is not Outcome.SKIPPED for case in self.cases)

    @property
    def disagreement(self) -> str:
        """How exit code, progress and report contradict each other, or an empty text."""
        failed = sum(case.outcome in _FAILING for case in self.reported)
        final = self.bundle.progress.final
        code = self.exit.code
        if final is not None and code != final.exit:
            return f"the process ended with {code}, its last progress line says {final.exit}"
        if code != (1 if failed else 0):
            return f"the process ended with {code}, the report has {text.counting(failed, 'failed case')}"
        if final is not None and len(self.reported) != final.tests:
            return f"{text.counting(final.tests, 'test')} ran, the report has {len(self.reported)}"
        if final is not None and final.expected is not None and final.tests < final.expected:
            return f"{text.counting(final.expected, 'test')} asked for, {final.tests} ran"
        return self._untrue

    @property
    def _untrue(self) -> str:
        """What the report says better than it was while the tests ran, or an empty text."""
        progress = self.bundle.progress
        failed = sum(case.outcome in _FAILING for case in self.reported)
        passed = sum(case.outcome is Outcome.PASSED for case in self.reported)
        if failed < progress.failed:
            return f"{text.counting(progress.failed, 'test')} failed while they ran, in the report {failed}"
        if passed > progress.passed + progress.unread:
            return f"{text.counting(progress.passed, 'test')} passed while they ran, in the report {passed}"
        if progress.started > progress.ended + progress.unread:
            began = f": {text.one_line(progress.in_flight, 200)} did not" if progress.in_flight else ""
            return f"{text.counting(progress.started, 'test')} began, {progress.ended} ended{began}"
        return ""

    @property
    def where(self) -> str:
        """` in TEST`, naming the test in flight at the end, or an empty text."""
        progress = self.bundle.progress
        return f" in {text.one_line(progress.in_flight, 200)}" if progress.in_flight and progress.final is None else ""


def gather(cell: PlannedCell, attempt: Attempt, bundle: Bundle | None) -> Evidence:
    """The evidence of one attempt, its known issues applied; an attempt without a bundle has an empty one."""
    bundle = bundle or Bundle()
    seen = Evidence(cell=cell, attempt=attempt, bundle=bundle, reported=bundle.cases, cases=bundle.cases)
    return structs.replace(seen, cases=known.apply(cell.known_issues, bundle.cases, known.day_of(seen.started)))


def is_failing(case: Case) -> bool:
    """Whether a case failed and no known issue says that it does."""
    return case.outcome in _FAILING and not case.known_issue


def _stated(stated: Axes, name: str) -> str:
    return f"`{text.one_line(stated[name], 60)}`" if name in stated else "none"


def says_fell_back(case: Case) -> bool:
    """Whether the suite says by this failure that a backend left the work to another one."""
    return case.message.removeprefix("AssertionError: ").removeprefix("Failed: ").startswith(FELL_BACK)


def count(cases: tuple[Case, ...]) -> Counts:
    """Cases by what became of them."""
    found = Counter("known" if case.known_issue else case.outcome.value for case in cases)
    return Counts(**{name: found[name] for name in Counts.__struct_fields__})
