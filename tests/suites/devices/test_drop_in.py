"""A new device is one more module: the example is dropped into a copy of the suite, and nothing else changes."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from suites import bundle

pytestmark = pytest.mark.torch
HERE = Path(__file__).parents[1]
SUITES = Path(bundle.__file__).parent

RUN = """
import sys
import toast
kept = toast.register()
from suites import command
sys.exit(command.main(["--device", "toast", "--size", "32", "--steps", "1", "--out", sys.argv[1]]))
"""


def dropped_in(folder: Path) -> None:
    """The suite, and beside its adapters a copy of the example that says what this device can say better itself."""
    shutil.copytree(SUITES, folder / "suites", ignore=shutil.ignore_patterns("__pycache__"))
    example = (SUITES / "devices" / "privateuse1.py").read_text(encoding="utf-8")
    for ours, theirs in (
        ("PREFERENCE = 40", "PREFERENCE = 41"),
        ('r"out of memory": exits', 'r"out of memory|DefaultCPUAllocator": exits'),
    ):
        assert example.count(ours) == 1
        example = example.replace(ours, theirs)
    (folder / "suites" / "devices" / "toast.py").write_text(example, encoding="utf-8")


def test_all_loads_and_the_profiler_take_it(torch_python: str, tmp_path: Path) -> None:
    dropped_in(tmp_path)
    out = tmp_path / "out"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{HERE}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [torch_python, "-c", RUN, str(out)],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]

    cases = ET.fromstring((out / bundle.JUNIT).read_bytes()).iter("testcase")
    skipped = {str(case.get("name")).rpartition("/")[2] for case in cases if len(case)}
    loads = {name.split(".py::", 1)[0] for name in skipped}
    lacking = {"test_checkpoint", "test_collective", "test_compile", "test_elementwise", "test_matmul", "test_memory"}
    assert loads <= lacking | {"test_environment"}
    products = {name for name in skipped if name.startswith("test_matmul")}
    assert products == {f"test_matmul.py::test_{form}[tf32]" for form in ("square", "skinny", "batched")}
    rows = [json.loads(line) for line in (out / bundle.METRICS).read_text(encoding="utf-8").splitlines()]
    assert {row["device"] for row in rows} == {"toast"}
    timed = {row["load"] for row in rows if row["metric"] == "latency" and row["value"] is not None}
    assert {"matmul.square", "attention.sdpa.causal", "elementwise.softmax", "model.transformer.training"} <= timed
    peaks = {(row["value"], row["why"]) for row in rows if row["metric"] == "memory_peak"}
    assert peaks == {(None, "not measured: toast keeps no peak")}, "what its module does not tell is no zero"
    structure = json.loads((out / bundle.STRUCTURE).read_text(encoding="utf-8"))
    squares = {one["precision"]: one for one in structure["loads"] if one["load"] == "matmul.square"}
    assert squares["fp32-ieee"]["launches"] > 0, "the profiler saw its operators"
    facts = json.loads((out / bundle.ENVIRONMENT).read_text(encoding="utf-8"))["facts"]
    assert facts["device_adapter"] == "toast: never run on a device"


def test_the_profiler_asks_for_the_devices_own_activity(
    snippet: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    code = """
import contextlib, types
import torch
from suites import profiling
asked = []
class Profile(contextlib.nullcontext):
    kineto_results, function_events = None, []
torch.profiler.profile = lambda activities, **_: asked.append(activities) or Profile(Profile())
activity = torch.profiler.ProfilerActivity
for name in ("PrivateUse1", "XPU"):
    device = types.SimpleNamespace(ACTIVITY=name, synchronise=lambda: None)
    assert profiling.profiled(lambda: None, device, 1) == ([], {})
assert asked == [[activity.CPU, activity.PrivateUse1], [activity.CPU, activity.XPU]], asked
"""
    done = snippet(code)
    assert done.returncode == 0, done.stdout + done.stderr
