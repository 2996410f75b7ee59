"""The files that a cell leaves, read as evidence: whatever stands in them, nothing becomes green that should not be."""

import hashlib
import json
import math
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from xml.parsers import expat

import msgspec
from law import DATA, Target

from orchestrator import formats, text
from orchestrator.model import Attempt, ContainerNeeds, Exit, Limits, Placement, PlannedCell
from orchestrator.results import junit, metrics
from orchestrator.results.finding import read
from orchestrator.results.judge import judge
from orchestrator.vocabulary import Status, Tier

AXES = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11", "backend": "eager"}
CELL = PlannedCell(
    id="c1",
    name="one",
    owner="",
    tier=Tier.PRODUCTION,
    why="production",
    axes=AXES,
    image="i1",
    placement=Placement(placed=True, runner=None, reason=""),
    allow_fallback=False,
    limits=Limits(),
    container=ContainerNeeds(),
    known_issues=(),
)


def _bundle(*, failed: bool) -> dict[str, bytes]:
    """A whole bundle that passed, or of which one case failed, without its sums."""
    outcome = "failed" if failed else "passed"
    rows = [{"event": "start", "test": "a"}, {"event": "end", "test": "a", "outcome": "passed"}]
    rows += [{"event": "start", "test": "b"}, {"event": "end", "test": "b", "outcome": outcome}]
    rows += [{"event": "final", "exit": int(failed), "tests": 2}]
    bad = "<failure message='no'>at line 1</failure>" if failed else ""
    metric = {"cell": "c1", "metric": "latency", "value": 1.5, "unit": "ms", "direction": "lower", "load": "matmul"}
    metric |= {"model": "none", "model_version": "1", "shapes": "512x512", "precision": "fp32", "device": "cpu"}
    metric |= {"warmup": 3, "samples": 10, "statistic": "median", "timer": "perf_counter", "seed": 0}
    metric |= {"formula": "", "conditions": dict.fromkeys(("clock_mhz", "temperature_c", "power_w", "throttle"))}
    metric["spread"] = dict.fromkeys(("minimum", "p5", "p50", "p95", "p99", "iqr"), 1.5)
    seen = {**AXES, "torch": "2.13.0+cpu", "python": "3.11.2"}
    use = {"load": "matmul", "backend": "inductor", "graphs": 1, "graph_breaks": 0, "break_reasons": []}
    use |= {"taken": 1, "expected": 1, "unit": "graph"}
    return {
        formats.CELL: json.dumps({"id": "c1", "axes": AXES}).encode(),
        formats.JUNIT: (
            f'<?xml version="1.0" encoding="utf-8"?><testsuites>'
            f'<testsuite name="pytest" tests="2" failures="{int(failed)}">'
            '<testcase classname="c1" name="a" time="0.5"/>'
            f'<testcase classname="c1" name="b" time="1.25">{bad}</testcase>'
            "</testsuite></testsuites>"
        ).encode(),
        formats.METRICS: (json.dumps(metric) + "\n" + json.dumps({**metric, "load": "conv"}) + "\n").encode(),
        formats.ENVIRONMENT: json.dumps(
            {"started": "2026-11-29T10:00:00Z", "axes": seen, "facts": {"cpu": "x"}}
        ).encode(),
        formats.STRUCTURE: json.dumps({"backends": [use]}).encode(),
        formats.PROGRESS: "".join(json.dumps(row) + "\n" for row in rows).encode(),
    }


def _sums(files: Mapping[str, bytes]) -> bytes:
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items())).encode()


class _World:
    """A bundle on the disk of which one file changes, and how its process ended."""

    def __init__(self, folder: Path, files: Mapping[str, bytes], code: int) -> None:
        folder.mkdir()
        self._folder, self._files = folder, files
        self._exit = Exit(code=code, started="2026-11-29T10:00:00Z")
        for name, data in {**files, formats.CHECKSUMS: _sums(files)}.items():
            (folder / name).write_bytes(data)

    def judged(self, name: str, data: bytes, *, honest: bool = True) -> Status:
        """The status with this file in it; `honest` when its sum is told as it is."""
        (self._folder / name).write_bytes(data)
        if honest:
            (self._folder / formats.CHECKSUMS).write_bytes(_sums({**self._files, name: data}))
        _, bundle = read(self._folder, "c1")
        result = judge(CELL, [(Attempt(cell="c1", number=1, engine="docker", exit=self._exit), bundle)])
        msgspec.json.encode(result)
        return result.status


_RELEASE = re.compile(r"v?(?:0+!)?(\d+(?:\.\d+)*)", re.ASCII)
_LONGEST = 400  # of the name of a test
_GREEN = frozenset({Status.PASSED, Status.FELL_BACK})
PASSED, _FAILED = _bundle(failed=False), _bundle(failed=True)


def bundle_file(folder: Path, name: str, *extra: bytes) -> Target:
    """One file of a bundle: as an honest one would have it, and each time in one of three worlds that are not green.

    There its sum is stale, a case failed, or the process died in its last test; the input itself says in which.
    """
    seeds = tuple(dict.fromkeys((PASSED[name], _FAILED[name], *extra)))
    if name == formats.PROGRESS:
        seeds += tuple(seed.rsplit(b"\n", 2)[0] + b"\n" for seed in seeds)
    died = {**PASSED, formats.PROGRESS: PASSED[formats.PROGRESS].rsplit(b"\n", 3)[0] + b"\n"}
    stale, passed = _World(folder / "stale", PASSED, 0), _World(folder / "passed", PASSED, 0)
    failed, dead = _World(folder / "failed", _FAILED, 1), _World(folder / "dead", died, 0)

    def check(data: bytes) -> bool:
        world = zlib.crc32(data) % 3
        if world == 0 and data != PASSED[name]:
            status = stale.judged(name, data, honest=False)
            assert status not in _GREEN, f"{status} with a sum that does not fit"
        elif world == 1 or name == formats.PROGRESS:
            status = failed.judged(name, data)
            assert status not in _GREEN, f"{status} though the process ended with 1"
        elif world == 2:
            status = dead.judged(name, data)
            assert status not in _GREEN, f"{status} without a final line"
        forged = passed.judged(name, data) in _GREEN
        if forged:
            _truly_green(name, data)
        return forged

    return Target(name, seeds, check)


def _truly_green(name: str, data: bytes) -> None:
    """What an honest bundle would have to say in this file, by another reader than ours."""
    if name == formats.JUNIT:
        cases, failing = _counted(data)
        assert cases, "green without a case"
        assert not failing, "green with a failed case"
    elif name == formats.PROGRESS:
        told = [line for line in map(_line, data.split(b"\n")) if line]
        last = told[-1]
        assert (last["event"], last["exit"], last["tests"]) == ("final", 0, 2), last
        ends = [line.get("outcome") for line in told if line["event"] == "end"]
        assert not {"failed", "error"} & set(ends), "green though a test was seen to fail"
    elif name == formats.ENVIRONMENT:
        seen = {axis: text.one_line(value).lower() for axis, value in json.loads(data)["axes"].items()}
        assert (seen["torch_build"], seen["backend"]) == ("cpu", "eager"), seen
        assert _release(seen["torch"])[:3] == [2, 13, 0], seen["torch"]
        assert _release(seen["python"])[:2] == [3, 11], seen["python"]
    elif name == formats.CELL:
        asked = json.loads(data)
        assert asked["id"] == "c1"
        assert {**asked["axes"], **AXES} == {"backend": "eager", **asked["axes"]}, "green though asked for another cell"
    elif name == formats.STRUCTURE:
        json.loads(data)
    else:
        assert name == formats.METRICS  # a figure that is no figure is left out: no verdict hangs on it


def _line(data: bytes) -> Mapping[str, object]:
    """A line of progress of a test that has a name, or of the session; empty where it is something else."""
    try:
        line = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    is_known = isinstance(line, dict) and line.get("event") in ("start", "end", "final")
    test = line.get("test", "x") if is_known else ""
    return line if isinstance(test, str) and 0 < len(test) <= _LONGEST else {}


def _release(version: str) -> list[int]:
    """The numbers that a version begins with, by PEP 440."""
    found = _RELEASE.match(version.strip())
    return [int(part) for part in found[1].split(".")] if found else []


def _counted(data: bytes) -> tuple[int, int]:
    """Cases, and failures or errors in a case, by expat alone."""
    opened: list[str] = []
    found: list[tuple[str, ...]] = []

    def start(name: str, _: object) -> None:
        opened.append(name)
        found.append(tuple(opened[-2:]))

    reader = expat.ParserCreate("utf-8")
    reader.StartElementHandler = start
    reader.EndElementHandler = lambda _: opened.pop()
    reader.Parse(data, True)
    failing = sum(path in {("testcase", "failure"), ("testcase", "error")} for path in found)
    return sum(path[-1] == "testcase" for path in found), failing


def checksums(folder: Path) -> Target:
    good, world = _sums(PASSED), _World(folder / "world", PASSED, 0)

    def check(data: bytes) -> bool:
        status = world.judged(formats.CHECKSUMS, data, honest=False)
        if status in _GREEN:
            lines = data.decode("utf-8", "replace").splitlines()
            for name, content in PASSED.items():
                digest = hashlib.sha256(content).hexdigest()
                assert any(line in {f"{digest}  {name}", f"{digest} *{name}"} for line in lines), name
        return status in _GREEN

    return Target(
        formats.CHECKSUMS,
        (good, good.replace(b"  ", b" *"), b"\n".join(sorted(good.splitlines(), reverse=True))),
        check,
    )


def junit_cases(_: Path) -> Target:
    files = tuple(file.read_bytes()[:4000] for file in sorted((DATA / "results" / "junit").glob("*.xml")))

    def check(data: bytes) -> bool:
        report = junit.parse([data[at : at + 997] for at in range(0, len(data), 997)])
        for case in report.cases:
            assert case.duration_s is None or (math.isfinite(case.duration_s) and case.duration_s >= 0)
        assert len({case.name for case in report.cases}) == len(report.cases), "two cases of one name"
        if b"<!DOCTYPE" in data and not report.problem and not report.cut:
            assert _is_inert(data), "a DOCTYPE was read over"
        return not report.problem and not report.cut

    return Target("JUnit alone", (PASSED[formats.JUNIT], _FAILED[formats.JUNIT], *files), check)


def _is_inert(data: bytes) -> bool:
    """Whether the DOCTYPE stands in a comment, a CDATA section or an instruction, where it is only text."""
    before = data.split(b"<!DOCTYPE", 1)[0]
    opened = (before.rfind(b"<!--") > before.rfind(b"-->"), before.rfind(b"<![CDATA[") > before.rfind(b"]]>"))
    return any(opened) or before.rfind(b"<?") > before.rfind(b"?>")


def metric_rows(_: Path) -> Target:
    def check(data: bytes) -> bool:
        found = metrics.read_metrics(data, "c1")
        for row in found.rows:
            assert math.isfinite(row.value) if row.valid else row.why, row
            assert row.cell == "c1"
            json.loads(msgspec.json.encode(row))
        return bool(found.rows)

    seed = PASSED[formats.METRICS]
    return Target(
        "metrics alone", (seed, seed.replace(b"1.5", b"NaN"), seed.replace(b"1.5", b"1e999"), seed * 3), check
    )
