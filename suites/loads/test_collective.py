"""Collectives: two processes or more exchange data, each answer is checked, then timed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List

import pytest
import torch

from suites.exits import COLLECTIVE
from suites.formulas import algorithm_bandwidth, bus_bandwidth
from suites.loads.ranks import OPERATIONS
from suites.timing import one_figure
from suites.work import Labels

if TYPE_CHECKING:
    from suites.bench import Bench

_DEADLINE = 60.0  # seconds for all of it: a collective that waits for a dead peer waits for ever
_ALLOWED = 1e-6  # of the result's size: sums of a few fp32 numbers


@pytest.fixture(scope="module")
def answers(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Dict[str, List[Dict[str, Any]]]:
    """Operation -> the answer of each rank that gave one; `""` -> how the ranks ended, where not well."""
    return _all_ranks(bench, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation(bench: Bench, answers: Dict[str, List[Dict[str, Any]]], operation: str) -> None:
    """The operation gives each rank what it should have, and how fast."""
    ranks = _ranks(bench)
    given = answers.get(operation, [])
    ends = "; ".join(one["end"] for one in answers.get("", []))
    failed = [one["failed"] for one in given if "failed" in one]
    lacks = [one["lacks"] for one in given if "lacks" in one]
    assert not failed, f"{COLLECTIVE}: {operation}: {failed[0]}"
    assert len(given) == ranks, (
        f"{COLLECTIVE}: {operation}: {len(given)} of {ranks} ranks answered: {ends or 'no reason'}"
    )
    if lacks:
        pytest.skip(f"this build lacks it: {lacks[0]}")
    worst = max(one["error"] for one in given)
    assert worst <= _ALLOWED, f"{COLLECTIVE}: {operation}: error against fp64 is {worst:.2e}, {_ALLOWED:.0e} is allowed"
    _figures(bench, operation, ranks, worst, [one["samples"] for one in given])


def test_ranks_end(answers: Dict[str, List[Dict[str, Any]]]) -> None:
    """Each rank ends by itself, in time."""
    ends = [one["end"] for one in answers[""]]
    assert not ends, f"{COLLECTIVE}: {'; '.join(ends)}"


def _ranks(bench: Bench) -> int:
    return 2 if bench.device.place() == "cpu" else bench.ranks


def _count(bench: Bench) -> int:
    """fp32 elements of each part: 1 MiB in all at size 256, no more than the deadline leaves time for."""
    return min(bench.size * bench.size * 2, 1 << (22 if bench.device.place() == "cpu" else 26))


def _figures(bench: Bench, operation: str, ranks: int, error: float, samples: List[List[float]]) -> None:
    total = 4 * _count(bench) * ranks
    work = Labels(f"collective.{operation}", f"{total} bytes on {ranks} ranks", "fp32", operation, "1")
    statistic = bench.device.STATISTIC
    mean = [sum(step) / ranks for step in zip(*samples)]  # noqa: B905
    seconds = one_figure(mean, statistic)
    more = {"warmup": 1, "samples": len(mean), "statistic": statistic, "timer": "perf_counter"}
    bench.row(work, "error", error, "relative rmse")
    bench.row(work, "latency", seconds * 1e3, "ms", **more)
    bench.row(work, "algbw", algorithm_bandwidth(total, seconds), "GB/s", direction="higher", **more)
    bench.row(work, "busbw", bus_bandwidth(operation, ranks, total, seconds), "GB/s", direction="higher", **more)


def _all_ranks(bench: Bench, folder: Path) -> Dict[str, List[Dict[str, Any]]]:
    ranks, kind = _ranks(bench), bench.device.place()
    if ranks < 2:
        pytest.skip(f"not applicable: a collective needs 2 devices, this cell takes {ranks}")
    if not torch.distributed.is_available():
        pytest.skip(f"not applicable: torch {torch.__version__} is built without torch.distributed")
    settings = {
        "ranks": ranks,
        "device": kind,
        "backend": bench.device.COLLECTIVE,
        "store": str(folder / "store"),
        "count": _count(bench),
        "steps": min(bench.steps, 20),  # as many as nccl-tests takes
        "seed": bench.cell.seed,
    }
    started = []
    try:
        for rank in range(ranks):
            own = {**settings, "rank": rank, "answers": str(folder / f"answers-{rank}.jsonl")}
            with (folder / f"log-{rank}").open("wb") as log:
                command = [sys.executable, "-m", "suites.loads.ranks", json.dumps(own)]
                started.append(subprocess.Popen(command, stdout=log, stderr=log, env=_variables()))
        ends = _wait(started, folder)
    finally:
        for process in started:
            process.kill()
            process.wait()
    found: Dict[str, List[Dict[str, Any]]] = {"": ends}
    for rank in range(ranks):
        path = folder / f"answers-{rank}.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            answer = json.loads(line)
            found.setdefault(answer["operation"], []).append(answer)
    return found


def _wait(started: List[subprocess.Popen[bytes]], folder: Path) -> List[Dict[str, Any]]:
    """How each rank that did not end well ended. One that dies ends the wait: its peers would wait for it."""
    deadline = time.monotonic() + _DEADLINE
    while time.monotonic() < deadline:
        codes = [process.poll() for process in started]
        if all(code is not None for code in codes) or any(code not in (None, 0) for code in codes):
            break
        time.sleep(0.05)
    ends = []
    for rank, process in enumerate(started):
        code = process.poll()
        if code is None:
            late = time.monotonic() >= deadline
            ends.append(
                {"end": f"rank {rank} " + (f"did not end within {_DEADLINE:.0f} s" if late else "was left waiting")}
            )
        elif code != 0:
            lines = (folder / f"log-{rank}").read_text(encoding="utf-8", errors="replace").strip().splitlines()
            told = lines[-1][:300] if lines else "no word"
            how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            ends.append({"end": f"rank {rank} {how}: {told}"})
    return ends


def _variables() -> Dict[str, str]:
    """The ranks' environment: all ranks are on this machine, and a container without network has only `lo`."""
    variables = dict(os.environ)
    root = str(Path(__file__).resolve().parents[2])
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, (root, variables.get("PYTHONPATH", ""))))
    variables.setdefault("GLOO_SOCKET_IFNAME", "lo")
    variables.setdefault("NCCL_SOCKET_IFNAME", "lo")
    return variables
