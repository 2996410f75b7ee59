"""A bench as a piece of Python for an interpreter that has torch: tests of the suite begin their own pieces with it."""

import subprocess

import pytest

_CODE = """
import json, pathlib, sys, tempfile
import torch
backend = {backend}
if backend != "eager" and not hasattr(torch, "compile"): raise SystemExit(77)
from suites import backends, compiling, operators
from suites.bench import Bench
from suites.bundle import METRICS, Bundle
from suites.cell import Cell
from suites.devices import adapter
from suites.work import Work
bundle = Bundle(pathlib.Path(tempfile.mkdtemp()))
cell = Cell(id="c", axes={{"backend": backend}}, device="cpu", profile={profile}, seed=1)
bench = Bench(cell=cell, device=adapter("cpu"), bundle=bundle, size=32, steps={steps}, ranks=1)
def written():
    return [json.loads(line) for line in (bundle.folder / METRICS).read_text().splitlines()]
"""


def bench_code(*, backend: str = "sys.argv[1]", profile: str = '"smoke"', steps: int = 3) -> str:
    """The piece; `backend` and `profile` are expressions in it. It ends with 77 where torch has no torch.compile."""
    return _CODE.format(backend=backend, profile=profile, steps=steps)


def held(done: subprocess.CompletedProcess[str], lacks: str = "this torch has no torch.compile") -> None:
    """The piece ended well, or this torch lacks what it needs."""
    if done.returncode == 77:
        pytest.skip(lacks)
    assert done.returncode == 0, done.stdout + done.stderr
