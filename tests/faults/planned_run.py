"""Runs of small plans with the engine `here` and a suite without torch, as processes that can be killed.

python planned_run.py run RUNS DOES…        one cell for each DOES, see tiny/suites
python planned_run.py resume RUN
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from orchestrator import axes
from orchestrator.engines.docker.run import DockerEngine
from orchestrator.engines.engine import Engine
from orchestrator.engines.registry import ENGINES
from orchestrator.errors import TorchmatrixError
from orchestrator.model import Axes, ContainerNeeds, Cost, Host, Image, Limits, Placement, Plan, PlannedCell
from orchestrator.results.merge import read_plan
from orchestrator.running import fault, folder, lock, stock
from orchestrator.running import run as running
from orchestrator.running.run import run_plan
from orchestrator.settings import load_site
from orchestrator.vocabulary import Tier

TINY = Path(__file__).parent / "tiny"
HOST = Host(name="here", axes={}, engine="here", engine_reason="a test", cpus=1, memory=1 << 30, pythons=())
PER_CELL = ("create", "start", "wait", "collect", "remove", "commit")
ALIVE_S = 60.0


def planned(does: str, number: int, *, timeout_s: float = 60.0, placed: bool = True, image: str = "") -> PlannedCell:
    """One cell whose suite does as told; each has a name and an id of its own."""
    built = {"image": image} if image else {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11"}
    given = {**built, "env": f"DOES={does} CELL={number}"}
    return PlannedCell(
        id=axes.cell_id(given),
        name=f"{number}-{does.partition(':')[0]}",
        owner="",
        tier=Tier.PRODUCTION,
        why="a test",
        axes=axes.complete(given),
        image=axes.image_id(given),
        placement=Placement(placed=placed, runner=None, reason="" if placed else "no such machine"),
        allow_fallback=False,
        limits=Limits(timeout_s=timeout_s, memory=1 << 30, shm=64 << 20, pids=64),
        container=ContainerNeeds(),
        known_issues=(),
    )


def plan_of(cells: tuple[PlannedCell, ...]) -> Plan:
    """The plan of these cells."""
    placed = sum(cell.placement.placed for cell in cells)
    cost = Cost(
        cells=len(cells),
        placed=placed,
        unplaced=len(cells) - placed,
        images=1,
        minutes=1.0,
        gpu_hours=0.0,
        money=0.0,
        build_bytes=0,
    )
    return Plan(matrix="matrix.yaml", cells=cells, left_out=(), cost=cost)


def plan_file(folder: Path, *does: str) -> Path:
    """The file of a plan with one cell for each, as `torchmatrix run --plan` takes it."""
    file = folder / "plan.json"
    file.write_bytes(msgspec.json.encode(plan_of(tuple(planned(each, number) for number, each in enumerate(does)))))
    return file


def new_run(runs: Path) -> Path:
    """A new run folder below this one, with nobody's lock: no other process of a test writes there."""
    folder.make(runs)
    return folder.create(runs)


def started(*arguments: object, fault: str = "", **environ: str) -> subprocess.Popen[str]:
    """This program as a process of its own, stopped at the fault if one is given."""
    return subprocess.Popen(
        [sys.executable, __file__, *map(str, arguments)],
        env={**os.environ, "TORCHMATRIX_FAULT": fault, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def paused(process: subprocess.Popen[str]) -> bool:
    """Waits until the process has stopped itself at its fault; false when it ended without coming there."""
    seen = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert seen is not None
    return seen.si_code == os.CLD_STOPPED


def ended(process: subprocess.Popen[str], code: int) -> tuple[str, str]:
    """What it printed, once it has ended with this code."""
    out, err = process.communicate(timeout=ALIVE_S)
    assert process.returncode == code, f"exit {process.returncode}, not {code}\n{out}\n{err}"
    return out, err


def only_run(runs: Path) -> Path:
    """The one run below the folder."""
    (run,) = runs.iterdir()
    return run


def until(what: Any, process: subprocess.Popen[str] | None = None) -> None:
    """Waits until the call gives something true; fails when the process ends before that, or too much time passes."""
    deadline = time.monotonic() + ALIVE_S
    while not what():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_gone(pid: str) -> bool:
    """Whether the process has ended, reaped by its parent or not yet."""
    status = Path(f"/proc/{pid}/status")
    try:
        return "State:\tZ" in status.read_text()
    except OSError:
        return True


def statuses(run: Path) -> list[str]:
    """The status of each cell, as the merged run tells it, in the plan's order."""
    return [cell["status"] for cell in json.loads((run / "summary.json").read_bytes())["cells"]]


def check(run: Path, *, attempts: Mapping[str, int] = {}) -> None:
    """What holds for every run that was finished, whatever happened on the way; `attempts` by cell name, else one."""
    plan = json.loads((run / "plan.json").read_bytes())
    summary = json.loads((run / "summary.json").read_bytes())
    assert [cell["id"] for cell in summary["cells"]] == [cell["id"] for cell in plan["cells"]]
    assert sum(summary["totals"].values()) == len(plan["cells"])
    for cell in plan["cells"]:
        made = sorted(file.name for file in (run / "cells").glob(f"{cell['id']}/*"))
        count = attempts.get(cell["name"], 1) if cell["placement"]["placed"] else 0
        assert made == [f"attempt-{number}" for number in range(1, count + 1)]
        assert all((run / "cells" / cell["id"] / name / "attempt.json").exists() for name in made)
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_bytes().splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    _nothing_committed_runs_again(lines)
    _nothing_is_left_running(run)


def _nothing_committed_runs_again(lines: list[dict[str, Any]]) -> None:
    done = set()
    for line in lines:
        attempt = (line.get("cell"), line.get("attempt"))
        if line["step"] == "create":
            assert attempt not in done, line
        if (line["step"], line["state"]) == ("commit", "end"):
            assert attempt not in done, line
            done.add(attempt)


def _nothing_is_left_running(run: Path) -> None:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environ = (process / "environ").read_bytes()
        except OSError:  # it ended, or is not ours
            continue
        assert run.name.encode() not in environ, (process / "cmdline").read_bytes()


def say(line: str) -> None:
    """Progress and errors."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _leave_marks(file: Path) -> None:
    """Has each fault that comes true, and each write that finds the disk full by it, leave its name in the file."""
    strike, room_for = fault.strike, fault.room_for

    def mark(name: str) -> None:
        with file.open("a") as marks:
            marks.write(f"{name}\n")

    def struck(kind: str) -> None:
        if kind:
            mark(kind)
        strike(kind)

    def found_full(writer: str) -> None:
        try:
            room_for(writer)
        except OSError:
            mark(f"{writer} is full")
            raise

    fault.strike, fault.room_for = struck, found_full


def ready(ref: str, _engine: str, wanted: Mapping[str, Axes], *_: object, **__: object) -> Mapping[str, Image]:
    """In the place of `supply`: what is wanted is this image, without a look for torch in it."""
    return {key: Image(id=key, name=ref, ref=ref, axes={}, observed={}) for key in wanted}


def _engine(name: str) -> Engine:
    return DockerEngine(call_s=float(os.environ.get("CALL_S", "10"))) if name == "docker" else ENGINES[name]()


def main() -> int:
    """Runs or resumes, and ends as the command line does."""
    verb, place, *rest = sys.argv[1:]
    folder.MIN_FREE = int(os.environ.get("MIN_FREE", "0"))
    stock.PATIENCE_S = float(os.environ.get("PATIENCE_S", "0.2"))
    time.sleep(max(0.0, float(os.environ.get("START_AT", "0")) - time.time()))
    if "FAULT_MARKS" in os.environ:
        _leave_marks(Path(os.environ["FAULT_MARKS"]))
    image = os.environ.get("READY_IMAGE", "")
    if image:
        running.supply = partial(ready, image)  # type: ignore[assignment]
    try:
        with lock.created(Path(place)) if verb == "run" else lock.held_again(Path(place)) as made:
            run = made or Path(place)
            limit = float(os.environ.get("TIMEOUT_S", "60"))
            cells = tuple(planned(does, n, timeout_s=limit, image=image) for n, does in enumerate(rest))
            run_plan(
                plan_of(cells) if verb == "run" else read_plan(run / "plan.json"),
                load_site(os.environ),
                _engine(os.environ.get("ENGINE", "here")),
                run,
                host=HOST,
                suites=TINY,
                say=say,
                resume=verb == "resume",
            )
    except TorchmatrixError as error:
        say(str(error))
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
