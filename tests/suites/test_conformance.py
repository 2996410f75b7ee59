"""The suite writes what the orchestrator reads: one real bundle, decoded strictly with the orchestrator's types."""

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from bench_code import bench_code, held

from orchestrator import axes, formats
from orchestrator.images.steering import left_out
from orchestrator.results import context as results_context
from orchestrator.results import known
from orchestrator.results.bundle import read_bundle
from orchestrator.results.metrics import read_metrics
from orchestrator.vocabulary import Cause, Outcome
from suites import bundle, context, exits
from suites.cases import short
from suites.devices import NAMES, adapter
from suites.versions import agrees


def test_the_two_sides_name_the_same_files() -> None:
    assert (*bundle.FILES, bundle.CHECKSUMS) == formats.BUNDLE_FILES


def test_the_two_sides_name_the_same_metric_keys() -> None:
    assert tuple(field.name for field in msgspec.structs.fields(formats.MetricRow)) == bundle.ROW


def test_the_two_sides_ask_for_the_same_context() -> None:
    assert dict(context.CONTEXT) == dict(results_context.CONTEXT)
    assert dict(context.NOTHING) == dict(results_context.NOTHING)
    assert context.SOURCE == results_context.SOURCE


def test_the_cases_that_are_no_tests_are_named_alike() -> None:
    source = "".join(Path(bundle.__file__).with_name(name).read_text() for name in ("command.py", "recorder.py"))
    assert [name for name in known.OF_THE_RUN if f'"{name}"' not in source] == []


def test_every_word_of_the_suite_is_a_cause() -> None:
    assert set(exits.WORDS) <= {cause.value for cause in Cause}


@pytest.mark.parametrize(
    ("wanted", "observed"),
    [
        ("2.6.0", "2.6.0+debian"),
        ("2.6", "2.6.0"),
        ("1.13", "1.13.0a0"),
        ("2.1", "2.10.0"),
        ("2.6.0", "2.6.1"),
        ("2.13.0", "2.13.0+cpu"),
        ("2.13.0+cpu", "2.13.0+cpu"),
        ("2.13.0+cpu", "2.13.0+cu130"),
        ("2.6.0.1", "2.6.0"),
    ],
)
def test_versions_agree_on_both_sides_alike(wanted: str, observed: str) -> None:
    assert agrees(wanted, observed) == axes.matches("torch", wanted, observed)


@pytest.mark.torch
def test_cell_and_environment(eager_bundle: Path) -> None:
    cell = msgspec.json.decode((eager_bundle / formats.CELL).read_bytes(), type=formats.CellFile)
    environment = msgspec.json.decode((eager_bundle / formats.ENVIRONMENT).read_bytes(), type=formats.EnvironmentFile)
    for named in (cell.axes, environment.axes):
        assert {
            name: axes.problem_with(axes.axis_named(name), value) for name, value in named.items()
        } == dict.fromkeys(named, "")
    assert axes.differences(cell.axes, environment.axes) == {}
    assert {"torch", "torch_build", "python", "base", "host_arch", "backend", "glibc"} <= set(environment.axes)
    assert {"cpu_model", "memory", "kernel", "torch_matmul_precision"} <= set(environment.facts)


@pytest.mark.torch
def test_metrics(eager_bundle: Path) -> None:
    cell = msgspec.json.decode((eager_bundle / formats.CELL).read_bytes(), type=formats.CellFile)
    lines = (eager_bundle / formats.METRICS).read_bytes().splitlines()
    rows = [msgspec.json.decode(line, type=formats.MetricRow) for line in lines]
    assert {row.cell for row in rows} == {cell.id}
    assert {"latency", "tflops", "gbps", "busbw", "algbw", "error", "error_ratio", "memory_peak"} <= {
        row.metric for row in rows
    }
    loads = {row.load.split(".")[0] for row in rows}
    whole = {
        "matmul",
        "attention",
        "elementwise",
        "memory",
        "checkpoint",
        "collective",
        "model",
        "process",
        "operators",
    }
    assert loads == whole
    keys = [(row.metric, row.load, row.precision, row.shapes, row.scope) for row in rows]
    assert len(keys) == len(set(keys)), "a metric of a load is told once"
    assert all(row.samples == 2 and row.statistic == "min" for row in rows if row.metric == "latency")


@pytest.mark.torch
@pytest.mark.parametrize(
    ("load", "precision", "flops", "moved"),
    [
        # 64 is the size; four heads of width 64
        ("matmul.square", "fp32-ieee", 2 * 64**3, 3 * 64**2 * 4),
        ("matmul.square", "bf16", 2 * 64**3, 3 * 64**2 * 2),
        ("matmul.skinny", "fp32-ieee", 2 * 4 * 64**2, (2 * 4 * 64 + 64**2) * 4),
        ("matmul.gradients", "fp32-ieee", 3 * 2 * 64**3, 3 * 3 * 64**2 * 4),
        ("attention.formula.causal", "fp32-ieee", 2 * 4 * 64**3, 4 * 4 * 64**2 * 4),
        ("elementwise.chain", "fp32", 0, 3 * 4 * 64**2 * 4),
    ],
)
def test_rates_are_of_what_a_step_must_do(
    eager_bundle: Path, load: str, precision: str, flops: int, moved: int
) -> None:
    lines = (eager_bundle / formats.METRICS).read_bytes().splitlines()
    rows = {
        row.metric: row
        for row in (msgspec.json.decode(line, type=formats.MetricRow) for line in lines)
        if (row.load, row.precision) == (load, precision)
    }
    milliseconds, moving = rows["latency"].value, rows["gbps"].value
    assert milliseconds is not None
    assert moving is not None
    assert moving * milliseconds * 1e6 == pytest.approx(moved)
    assert rows["gbps"].formula == "read+written"
    computing = rows["tflops"].value if "tflops" in rows else 0
    assert computing is not None
    assert computing * milliseconds * 1e9 == pytest.approx(flops)


@pytest.mark.torch
def test_structure_of_an_eager_run_names_no_backend(eager_bundle: Path) -> None:
    structure = msgspec.json.decode((eager_bundle / formats.STRUCTURE).read_bytes(), type=formats.StructureFile)
    assert structure.backends == ()
    assert structure.loads
    assert all(load.backend == "eager" and load.launches and load.scopes for load in structure.loads)
    assert not any(load.fallbacks or load.unstable for load in structure.loads)


@pytest.mark.torch
def test_progress_and_junit_tell_the_same(eager_bundle: Path) -> None:
    lines = (eager_bundle / formats.PROGRESS).read_bytes().splitlines()
    progress = [msgspec.json.decode(line, type=formats.ProgressLine) for line in lines]
    final = progress[-1]
    assert isinstance(final, formats.ProgressFinal)
    ends = {line.test: line.outcome for line in progress if isinstance(line, formats.ProgressEnd)}
    starts = [line.test for line in progress if isinstance(line, formats.ProgressStart)]
    cases = list(ET.fromstring((eager_bundle / formats.JUNIT).read_bytes()).iter("testcase"))
    assert final == formats.ProgressFinal(exit=0, tests=len(cases), expected=len(cases))
    assert [case.get("name") for case in cases] == starts == list(ends)
    assert set(ends.values()) <= {Outcome.PASSED, Outcome.SKIPPED}
    assert "loads/test_matmul.py::test_square[fp32]" in ends


@pytest.mark.torch
def test_what_a_cell_does_not_ask_for_is_no_pass(eager_bundle: Path) -> None:
    cases = ET.fromstring((eager_bundle / formats.JUNIT).read_bytes()).iter("testcase")
    skips = {short(str(case.get("name"))): skip.get("message") for case in cases for skip in case.iter("skipped")}
    assert skips["environment.companions"] == "not applicable: the cell names no companion"
    assert skips["environment.backend_known"] == "not applicable: eager is no compile backend"


def test_checksums_cover_every_file(eager_bundle: Path) -> None:
    lines = [line.split("  ") for line in (eager_bundle / formats.CHECKSUMS).read_text().splitlines()]
    assert {name: digest for digest, name in lines} == {
        name: hashlib.sha256((eager_bundle / name).read_bytes()).hexdigest() for name in bundle.FILES
    }
    assert {path.name for path in eager_bundle.iterdir()} == set(formats.BUNDLE_FILES)


@pytest.mark.torch
def test_the_orchestrator_reads_it_without_a_complaint(eager_bundle: Path) -> None:
    read = read_bundle(eager_bundle)
    assert not read.problems
    assert len(read.cases) > 20
    assert {case.outcome for case in read.cases} <= {Outcome.PASSED, Outcome.SKIPPED}


@pytest.mark.torch
def test_each_compile_backend_row_decodes(suite, tmp_path: Path) -> None:
    done = suite("--device", "cpu", "--backend", "aot_eager", "--size", "32", "--steps", "1", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    structure = msgspec.json.decode((tmp_path / formats.STRUCTURE).read_bytes(), type=formats.StructureFile)
    uses = {use.load: use for use in structure.backends}
    assert uses["model.transformer.inference"].taken == uses["model.transformer.inference"].graphs == 1
    assert all(use.backend == "aot_eager" and use.expected == 1 for use in structure.backends)
    profiled = [load for load in structure.loads if load.scopes]
    assert profiled
    assert all(load.fallbacks is None for load in profiled), "what it does not tell is no empty list"
    assert all(load.fallbacks_unknown.startswith("not known: aot_eager does not tell it") for load in profiled)
    rows = [
        msgspec.json.decode(line, type=formats.MetricRow)
        for line in (tmp_path / formats.METRICS).read_bytes().splitlines()
    ]
    assert {"compile_cold", "graph_breaks", "graphs", "taken"} <= {row.metric for row in rows}


EACH_KIND = (
    bench_code(backend='"aot_eager"')
    + """
from types import SimpleNamespace
from suites import timing
from suites.devices import checks, cpu
from suites.loads import test_collective, test_environment, test_memory
from suites.work import Work
# A processor under the name of a device of which the peak is known, and one that tells all of its conditions.
cool = {"clock_mhz": 1980.0, "temperature_c": 60.0, "power_w": 600.0, "throttle": []}
device = SimpleNamespace(**{**vars(cpu), "title": lambda: "NVIDIA H100 80GB HBM3", "conditions": lambda _=0: cool})
bench.device = device
model = torch.nn.Linear(32, 32)
bench.run(Work("model.l", "32x32", "fp32", "m", "1", model, (bench.random(32, 32),), 2 * 32**3, 3 * 4 * 32**2, "2mnk"))
bench.finish()
found = checks.Deep(figures=[
    checks.Figure(metric, "cuda:0", 7.0, "GB/s")
    for metric in ("sustained", "copy", "link", "host_to_device", "device_to_host", "unchecked")
])
device.deep_health = lambda seconds: found
test_environment.test_deep_health(bench)
held = {**dict.fromkeys(("allocated", "reserved", "requested", "split"), 1), "retries": 0, "refusals": 0}
told = {"held": held, "growth": 5, "refused": "", "works": True}
test_memory.test_fragmentation(bench, told)
test_memory.test_growth(bench, told)
device.place = lambda: "cuda"
bench.ranks = 3
took = timing.timed(lambda: None, device, 2, "smoke")
timed = {name: getattr(took, name) for name in took.__dataclass_fields__}
one = {"bytes": 1024, "samples": [1e-3, 2e-3], "error": 0.0, "timed": timed, "conditions": cool}
ranks = [{**one, "rank": rank, "form": "tensor", "whole": True, "edge": 64, "warmup": 1} for rank in range(3)]
pairs = [{**ranks[one], "sender": other} for one in range(3) for other in range(3) if one != other]
answers = {"all_reduce": ranks, "own work": ranks, "pair": pairs, "": []}
test_collective.test_operation(bench, answers, "all_reduce")
test_collective.test_straggler(bench, answers)
test_collective.test_pairs(bench, answers)
cached = backends.Use(graphs=1, breaks={}, taken=1, cached=(1, 0))
compiling.rows(bench, Work("cached", "1", "fp32", "m", "1", torch.tanh, ()), cached, 1.5, cool)
print((bundle.folder / METRICS).read_text())
"""
)


@pytest.mark.torch
def test_a_row_of_each_kind_decodes_with_its_context(snippet: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = snippet(EACH_KIND)
    held(done)
    lines = b"".join(line.encode() + b"\n" for line in done.stdout.splitlines() if line.startswith("{"))
    read = read_metrics(lines, "c")
    assert read.rejected == {}
    assert len(read.rows) == lines.count(b"\n")
    valued = {row.metric for row in read.rows if row.value is not None}
    assert set(context.CONTEXT) <= valued
    measured = [row for row in read.rows if row.metric in context.CONTEXT and row.value is not None]
    assert {row.conditions.clock_mhz for row in measured if row.conditions is not None} == {1980.0}


def test_no_variable_that_a_cell_reports_comes_from_a_ready_image() -> None:
    told = {start for name in NAMES for start in adapter(name).VARIABLES} - {"NVIDIA_", "ONEAPI_"}
    assert {start for start in told if not left_out({f"{start}X": ""})} == set()
