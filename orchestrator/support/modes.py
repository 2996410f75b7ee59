"""How an NVIDIA driver serves a CUDA runtime: natively, by minor-version or by forward compatibility.

Beside the three, an image's own requirement check decides whether a container starts at all. NVIDIA, CUDA Compatibility
(https://docs.nvidia.com/deploy/cuda-compatibility/). Every number is a row of the facts' `compatibility` section.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from orchestrator.support import forward, spans
from orchestrator.support.axes import cuda_of_build
from orchestrator.support.conditions import Fit, Value
from orchestrator.support.forward import Grant
from orchestrator.support.question import Question
from orchestrator.support.requirement import requirement
from orchestrator.support.rows import Compatibility
from orchestrator.support.said import Said
from orchestrator.vocabulary import RuleKind, Verdict

SourceOf = Callable[[str], tuple[str, str]]
_NATIVE_RANK = 50
_MINOR_RANK = 16
_FORWARD_RANK = 18
_FLOOR_RANK = 47
_LINUX = {"linux", "wsl2"}


class Runtime(Struct, frozen=True):
    """A CUDA runtime that has to be served: its version and the axis that brings it."""

    version: Value
    axis: str


class Driver(Struct, frozen=True):
    """What is known of the driver: its number on Linux, the CUDA level that it reports, and the axes that told."""

    number: Value | None
    level: Value | None
    axes: tuple[str, ...]


class Modes:
    """The compatibility section of the facts, ready to be asked. `ends` gives the end of life of a branch, or ''."""

    def __init__(self, rows: Compatibility, source: SourceOf, ends: Callable[[str], str]) -> None:
        self._rows = rows
        self._source = source
        self._ends = ends
        self._minor = {spans.release(row.major)[0]: row for row in rows.minor}
        self._full = [(spans.release(row.toolkit), spans.release(row.driver), row.source) for row in rows.full]

    def said(self, question: Question, builds: Sequence[str]) -> Iterator[Said]:
        """What the driver says of each runtime. `builds` are the CUDA builds that may be meant when none was named."""
        values = question.values
        vendor = values.get("gpu_vendor")
        if vendor is not None and "nvidia" not in vendor.words:
            return
        driver = _driver(question)
        container = values.get("container_cuda")
        if container is not None and driver is not None:
            yield from requirement(question, container, driver.level, self._branch(driver), self._rows, self._source)
        runtimes = _runtimes(question)
        if not runtimes and builds and driver is not None:
            yield from self._of_many(question, builds, driver)
            return
        for place, runtime in enumerate(runtimes):
            if driver is None:
                yield self._say(question, "driver-floor", Verdict.UNKNOWN, "", missing=("driver",))
            elif place == 0:
                yield from self._serve(question, runtime, driver)
            else:
                yield from self._beside(question, runtime, driver)

    def _of_many(self, question: Question, builds: Sequence[str], driver: Driver) -> Iterator[Said]:
        """A release without a build: the driver serves all of its CUDA builds, none, or it depends on the build."""
        runtimes = [Runtime(_cuda_of(build), "torch") for build in builds]
        doubt = f"it depends on the build: {_shown(question, driver)} serves some of {', '.join(builds)}, not all"
        yield from self._all_alike(question, runtimes, driver, doubt, ("torch_build",))

    def _of_range(self, question: Question, runtime: Runtime, driver: Driver) -> Iterator[Said]:
        """Several runtimes that may be meant: each CUDA version among them that is known."""
        known = {".".join(map(str, toolkit[:2])) for toolkit, _, _ in self._full}
        named = runtime.version.text.split("|")  # each of several that were named, or those of a range that are known
        meant = [Value(each, spans.read(each)) for each in (named if len(named) > 1 else spans.order(known))]
        runtimes = [Runtime(each, runtime.axis) for each in meant if spans.overlap(each.spans, runtime.version.spans)]
        doubt = f"{driver.axes[0]} serves CUDA {runtime.version.text} in part: it depends on which of them is meant"
        yield from self._all_alike(question, runtimes, driver, doubt, ())

    def _all_alike(
        self, question: Question, runtimes: Sequence[Runtime], driver: Driver, doubt: str, missing: tuple[str, ...]
    ) -> Iterator[Said]:
        """What the driver says of all of them, when it is the same; else a doubt."""
        found = [said for each in runtimes for said in self._serve(question, each, driver) if said.because]
        if len({said.verdict for said in found}) == 1:
            yield found[0]
        elif found:
            axis = runtimes[0].axis
            yield self._say(question, "driver-floor", Verdict.UNKNOWN, doubt, axis, missing=missing)

    def _beside(self, question: Question, runtime: Runtime, driver: Driver) -> Iterator[Said]:
        """A second runtime that something beside torch brings: torch goes on without it."""
        limited = set(self._rows.limited_scopes) & question.scope
        for said in self._serve(question, runtime, driver):
            if said.verdict is Verdict.UNSUPPORTED or (said.rule == "minor-compat" and limited):
                because = (
                    f"the CUDA {runtime.version.text} runtime beside torch is newer than the driver: {said.because}"
                )
                yield self._say(question, "driver-floor", Verdict.DEGRADED, because, runtime.axis, rank=12)

    def _serve(self, question: Question, runtime: Runtime, driver: Driver) -> Iterator[Said]:
        if not runtime.version.exact:
            yield from self._of_range(question, runtime, driver)
            return
        native, minor = self._native(runtime.version, driver), self._minor_fit(runtime.version, driver)
        shown = _shown(question, driver)
        cuda = f"CUDA {runtime.version.text}"
        if native is Fit.YES and not _is_overtaken(question, driver):
            because = f"{shown} serves {cuda} natively"
            yield self._say(question, "driver-floor", Verdict.SUPPORTED, because, runtime.axis, rank=_NATIVE_RANK)
            return
        if grant := self._grant(question, runtime, driver):
            if grant.verdict is Verdict.UNSUPPORTED and native is Fit.MAYBE and not _is_exact(driver):
                because = f"{shown} leaves open whether a package is used: {grant.because}"
                grant = replace(grant, verdict=Verdict.UNKNOWN, because=because)
            yield self._forward(question, runtime, grant)
            return
        floor = self._minor.get(_major(runtime.version))
        if floor is None:
            return
        if minor is Fit.YES and _says(question, "needs_ptx_jit", "yes"):
            because = f"{shown} is older than {cuda}: it refuses PTX of a newer toolkit, and code without it would run"
            verdict = Verdict.UNSUPPORTED if native is Fit.NO else Verdict.UNKNOWN
            source = self._rows.ptx_source or floor.source
            yield self._say(question, "minor-compat", verdict, because, runtime.axis, source)
        elif minor is Fit.YES:
            because = (
                f"{shown} serves {cuda} by minor-version compatibility: any {floor.major}.x runs from driver "
                f"{floor.driver} on"
            )
            yield self._say(question, "minor-compat", Verdict.SUPPORTED, because, runtime.axis, floor.source)
        elif minor is Fit.NO:
            yield self._too_old(question, runtime, f"{cuda} needs driver {floor.driver} or newer; {shown} is older")
        else:
            because = f"{shown} leaves open whether it reaches driver {floor.driver}, which {cuda} needs"
            yield self._say(question, "driver-floor", Verdict.UNKNOWN, because, runtime.axis, floor.source)

    def _too_old(self, question: Question, runtime: Runtime, because: str) -> Said:
        """An image may bring the compatibility package; a wheel never does."""
        source = self._minor[_major(runtime.version)].source
        entitled = forward.entitled(question, self._rows)
        may_bring = runtime.axis == "container_cuda" or "cuda_compat" in question.undecided
        if "cuda_compat" not in question.values and may_bring and entitled != "no":
            because += "; whether the image brings a compatibility package was not said"
            return self._say(
                question, "driver-floor", Verdict.UNKNOWN, because, runtime.axis, source, missing=("cuda_compat",)
            )
        return self._say(question, "driver-floor", Verdict.UNSUPPORTED, because, runtime.axis, source)

    def _grant(self, question: Question, runtime: Runtime, driver: Driver) -> Grant | None:
        """What forward compatibility comes to, where a package is in play."""
        compat = question.values.get("cuda_compat")
        if compat is None or compat.text == "none":
            return None
        if compat.spans and not compat.exact:
            return Grant(Verdict.UNKNOWN, f"which package is meant by {compat.text} was not told", "")
        container = question.values.get("container_cuda")
        version = compat if compat.spans else container or runtime.version
        if compat.spans and driver.level is not None and at_least(driver.level, spans.lowest(version.spans)) is Fit.YES:
            return None  # the driver is as new as the package: it is not used
        return forward.grant(question, self._rows, self._branch(driver), version, runtime.version, self._ends)

    def _forward(self, question: Question, runtime: Runtime, grant: Grant) -> Said:
        return self._say(
            question,
            "forward-compat",
            grant.verdict,
            grant.because,
            runtime.axis,
            grant.source,
            missing=grant.missing,
            more=("cuda_compat", "gpu_class"),
        )

    def _native(self, runtime: Value, driver: Driver) -> Fit:
        """Whether the driver is at least the one that ships with the toolkit, or reports its CUDA level."""
        wanted = spans.lowest(runtime.spans)
        if len(wanted) < 2:  # noqa: PLR2004 - 12.x: which minor is not known
            newer = driver.level is not None and at_least(driver.level, spans.after(wanted or (0,))) is Fit.YES
            return Fit.YES if newer else Fit.MAYBE
        floors = [number for toolkit, number, _ in self._full if toolkit[: len(wanted)] == wanted[:3]]
        if driver.number is not None and floors:
            return at_least(driver.number, min(floors))
        return at_least(driver.level, wanted[:2]) if driver.level is not None else Fit.MAYBE

    def _minor_fit(self, runtime: Value, driver: Driver) -> Fit:
        floor = self._minor.get(_major(runtime))
        if floor is None:
            return Fit.MAYBE
        if driver.number is not None:
            return at_least(driver.number, spans.release(floor.driver))
        return at_least(driver.level, spans.release(floor.level)) if driver.level is not None else Fit.MAYBE

    def _branch(self, driver: Driver) -> str:
        """The driver's branch, from its number or from the CUDA level that a branch reports."""
        if driver.number is not None and driver.number.exact:
            return str(spans.lowest(driver.number.spans)[0])
        if driver.level is None or not driver.level.exact:
            return ""
        level = spans.lowest(driver.level.spans)
        return next((str(number[0]) for toolkit, number, _ in self._full if toolkit[:2] == level), "")

    def _say(  # noqa: PLR0913 - a sentence has these parts
        self,
        question: Question,
        rule: str,
        verdict: Verdict,
        because: str,
        axis: str = "",
        source: str = "",
        *,
        rank: int = 0,
        missing: tuple[str, ...] = (),
        more: tuple[str, ...] = (),
    ) -> Said:
        ranks = {"minor-compat": _MINOR_RANK, "forward-compat": _FORWARD_RANK}
        text, as_of = self._source(source or (self._rows.full[0].source if self._rows.full else ""))
        return Said(
            kind=RuleKind.COMPATIBILITY_MODE,
            rule=rule,
            rank=rank or ranks.get(rule, _FLOOR_RANK),
            verdict=verdict,
            axes=question.given([axis, "driver", "driver_cuda", *more] if axis else ["driver", "driver_cuda"]),
            because=because,
            source=text,
            as_of=as_of,
            missing=missing,
        )


def at_least(value: Value, floor: spans.Release) -> Fit:
    """Whether a version reaches a floor; one that names only its first components is the newest of them."""
    if value.exact:
        number = spans.lowest(value.spans)
        return Fit.YES if number >= floor[: len(number)] else Fit.NO
    above: spans.Spans = ((floor, None),)
    if spans.within(value.spans, above):
        return Fit.YES
    return Fit.MAYBE if spans.overlap(value.spans, above) else Fit.NO


def _shown(question: Question, driver: Driver) -> str:
    return " and ".join(f"{axis} {question.values[axis].text}" for axis in driver.axes)


def _is_overtaken(question: Question, driver: Driver) -> bool:
    """Whether a compatibility package that was named is newer than the driver: its library comes first then."""
    compat = question.values.get("cuda_compat")
    if compat is None or not compat.spans or driver.level is None:
        return False
    return at_least(driver.level, spans.lowest(compat.spans)) is Fit.NO


def _driver(question: Question) -> Driver | None:
    values = question.values
    number = values.get("driver") if values["os"].text in _LINUX else None
    level = values.get("driver_cuda")
    if number is None and level is None:
        return None
    named = tuple(axis for axis in ("driver", "driver_cuda") if axis in values and axis not in question.origin)
    return Driver(number, level, (named or ("driver_cuda",))[:1] if number is not None else ("driver_cuda",))


def _is_exact(driver: Driver) -> bool:
    return all(value is None or value.exact for value in (driver.number, driver.level))


def _runtimes(question: Question) -> list[Runtime]:
    """What has to be served: torch's own runtime first, then one that was named beside it."""
    values = question.values
    build = values.get("torch_build")
    found: list[Runtime] = []
    if build is not None:
        if not cuda_of_build(build.text):
            return []
        found.append(Runtime(_cuda_of(build.text), "torch_build"))
    for axis in ("cuda_runtime", "container_cuda", "cuda_toolkit"):
        value = values.get(axis)
        if value is None or axis in question.origin:
            continue
        if not found or (axis == "cuda_runtime" and value.text != found[0].version.text):
            found.append(Runtime(value, axis))
    return found


def _cuda_of(build: str) -> Value:
    version = cuda_of_build(build)
    return Value(version, spans.read(version))


def _major(value: Value) -> int:
    return (spans.lowest(value.spans) or (0,))[0]


def _says(question: Question, axis: str, word: str) -> bool:
    return axis in question.values and question.values[axis].text == word
