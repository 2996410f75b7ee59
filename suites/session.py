"""One session: pytest over the loads, with the suite's own configuration and nothing of the caller's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from suites import cases, exits, observe, operators
from suites.bench import Bench
from suites.bundle import CELL, ENVIRONMENT, STRUCTURE, Bundle
from suites.cell import Cell, named_by
from suites.recorder import Recorder
from suites.request import DEFAULTS, Request
from suites.summary import table

if TYPE_CHECKING:
    from types import ModuleType

_HERE = Path(__file__).resolve().parent


def run(bundle: Bundle, cell: Cell, request: Request, device: ModuleType) -> int:
    """Run the loads of a cell on a device and complete the bundle; returns the exit code."""
    ranks = int(cell.axes.get("gpus", "1"))
    _set_up(cell, device)
    axes = {"backend": cell.backend, "matmul_precision": torch.get_float32_matmul_precision()}
    if cell.axes.get("env"):
        names = [pair.split("=", 1)[0] for pair in cell.axes["env"].split()]
        axes["env"] = " ".join(f"{name}={os.environ[name]}" for name in names if name in os.environ)
    if device.place() != "cpu":
        axes["gpus"] = str(ranks)
    environment = observe.environment(torch, device, axes)
    cell = named_by(cell, environment["axes"])
    bundle.put(CELL, cell.document())
    bundle.put(ENVIRONMENT, environment)
    size, steps = DEFAULTS[cell.profile]
    bench = Bench(
        cell=cell,
        device=device,
        bundle=bundle,
        size=request.size or size,
        steps=request.steps or steps,
        ranks=ranks,
    )
    recorder = Recorder(bundle, bench, request)
    print(f"{cell.id}: {cell.profile}, size {bench.size}, {bench.steps} steps, {bench.backend} on {device.place()}")
    there = cases.read(_HERE)
    code = _pytest(recorder)
    expected = None
    if there is not None:
        chosen = cases.chosen(there, cell.profile, bench.backend != "eager", request.loads)
        expected = len(chosen)
        if code in (exits.PASSED, exits.FAILED) and recorder.miss(chosen):
            code = exits.FAILED
    bench.finish()
    loads = operators.told(bench.structures, bench.compiled)
    structure = {"schema_version": 1, "backends": bench.uses, "loads": loads, "fingerprints": bench.fingerprints}
    bundle.put(STRUCTURE, structure)
    bundle.cases(cell.id, recorder.cases)
    bundle.seal(code, len(recorder.cases), expected)
    print(table(recorder.cases, bench.figures))
    return code


def _set_up(cell: Cell, device: ModuleType) -> None:
    torch.set_float32_matmul_precision(cell.axes.get("matmul_precision", "highest"))
    if device.place() == "cpu" and "OMP_NUM_THREADS=" not in cell.axes.get("env", ""):
        torch.set_num_threads(1)  # two threads on a shared machine vary by half, one by a few per cent


def _pytest(recorder: Recorder) -> int:
    import pytest

    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    options = ["-c", str(_HERE / "pytest.ini"), "--rootdir", str(_HERE), "--confcutdir", str(_HERE)]
    options += [
        "-p",
        "no:cacheprovider",
        "-p",
        "no:logging",
        "-q",
        "--no-header",
        "--tb=short",
        "--disable-warnings",
        "-rN",
    ]
    options += ["--continue-on-collection-errors", "--color=no", str(_HERE / "loads")]
    code = int(pytest.main(options, plugins=[recorder]))
    if recorder.device_lost:
        return exits.DEVICE
    if code == pytest.ExitCode.INTERRUPTED and not any(case.outcome == "error" for case in recorder.cases):
        return exits.INTERRUPTED
    return exits.PASSED if code == pytest.ExitCode.OK else exits.FAILED
