"""The crash matrix: every step of a run's journal, at its begin and at its end, times everything that can befall it.

python crash_matrix.py      runs all of it and prints its two tables; the tests run a part that changes with the commit.

The first table is of a played engine, which also refuses calls; it takes some ten minutes of two cores. The second is
of a Docker daemon of its own, which is really stopped and started again; it takes some ten more, and root's rights.

After each fault the run is resumed, and one checker looks at everything that is left: see `whole`.
"""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import product
from pathlib import Path
from typing import Protocol, TypeVar
from xml.etree import ElementTree as ET

from cell_engine import cell_engine
from planned_run import check, ended, only_run, paused, started, statuses
from private_engine import private_engine
from python_image import python_image

from orchestrator.engines.docker import connection
from orchestrator.running import journal
from orchestrator.running.attempts import verify
from orchestrator.vocabulary import Step

KINDS = ("kill", "short", "enospc", "engine-stop")
ONCE = frozenset({Step.PLAN, Step.PREPARE, Step.MERGE})
# In the second of three cells, and in its second attempt where the engine refused one call of the first.
REFUSED = {"create": 2, "start": 2, "collect": 2, "remove": 3}  # the route, and which call: a volume is removed too
SECOND = {"create": 3, "wait": 2, "commit": 3}  # of these steps, the one of that attempt, whose first did not start
POINTS = (
    *(f"{step}:{state}" + ("" if step in ONCE else ":2") for step, state in product(Step, ("begin", "end"))),
    *(f"{route}:failed" for route in REFUSED),
    *(f"{step}:{state}:{count} after start" for step, count in SECOND.items() for state in ("begin", "end")),
)
CASES = tuple(product(POINTS, KINDS))
# A real engine refuses no call because a test wants it.
REAL_POINTS = tuple(point for point in POINTS if point.partition(":")[2] != "failed" and " after " not in point)
REAL_CASES = tuple(product(REAL_POINTS, KINDS))
DOES = ("pass", "fail", "pass")
STATUSES = ["passed", "failed", "passed"]
ERROR = ["passed", "error", "passed"]
# Where nothing comes after the fault that it touches: no write, no call of the engine.
HARMLESS = frozenset({("merge:end", "enospc"), ("merge:begin", "engine-stop"), ("merge:end", "engine-stop")})


# Where the second attempt is lost too, which is the last: that is an answer.
LOST = frozenset(
    (point, "engine-stop") for point in POINTS if point.endswith(" after start") and not point.startswith("commit:")
)


def code_of(point: str, kind: str) -> int:
    """How the run ends at the fault."""
    if kind in {"kill", "short"}:
        return -signal.SIGKILL
    return 0 if (point, kind) in HARMLESS else 4


Item = TypeVar("Item")


def commit() -> str:
    """The commit that is checked out; without git, always the same."""
    try:
        asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return asked.stdout.decode()


def sample(every: Sequence[Item], commit: str, share: int) -> tuple[Item, ...]:
    """One in `share`, by the commit: in the course of some commits all are run, and the same for the same one.

    A commit that breaks something keeps failing when its tests are run again. Of the matrix one case in seven is run,
    in a real engine one in eleven: neither shares a factor with the numbers of kinds, states and steps, so that each
    sample has some of each.
    """
    return tuple(every[int(hashlib.sha256(commit.encode()).hexdigest(), 16) % share :: share])


class Engine(Protocol):
    """An engine that can go away while a run lasts; `environ` has a run use it, and an image that it has."""

    environ: dict[str, str]

    def stop(self) -> None:
        """It is gone when this returns."""

    def start(self) -> None:
        """It answers when this returns; nothing happens when it was never gone."""

    def left(self) -> Sequence[str]:
        """What a run made in it, and did not remove."""


def case(point: str, kind: str, folder: Path) -> str:
    """One case on a played engine; see `survived`."""
    place, _, trouble = point.partition(" after ")
    trouble = trouble or place.removesuffix(":failed") * place.endswith(":failed")
    with cell_engine(folder) as engine:
        engine.refused_once = {trouble: REFUSED[trouble]} if trouble else {}
        return survived(point, kind, folder, engine)


def survived(point: str, kind: str, folder: Path, engine: Engine) -> str:
    """Lets the fault happen, resumes, checks; how the run ended. AssertionError where anything is not as it must be."""
    runs, marks = folder / "runs", folder / "marks"
    struck = "pause" if kind == "engine-stop" else kind
    fault = f"{point.partition(' after ')[0]}={struck}"
    process = started("run", runs, *DOES, fault=fault, FAULT_MARKS=str(marks), **engine.environ)
    if kind == "engine-stop":
        assert paused(process), process.communicate()
        engine.stop()
        process.send_signal(signal.SIGCONT)
    _, said = process.communicate(timeout=60)
    came, *full = marks.read_text().splitlines() if marks.exists() else ["nothing"]
    assert (came, bool(full)) == (struck, (kind == "enospc") and (point, kind) not in HARMLESS), (came, full, said)
    assert process.returncode == code_of(point, kind), (process.returncode, said)
    engine.start()
    run = only_run(runs)
    before = committed(run)
    told = reported(said)
    if not (run / "plan.json").exists():
        ended(started("resume", run, **engine.environ), 2)
        assert (point, told, before, engine.left()) == ("plan:begin", {}, {}, [])
        return f"{process.returncode}, nothing was begun"
    ended(started("resume", run, **engine.environ), 0)
    whole(run, ERROR if (point, kind) in LOST else STATUSES, told=told, before=before)
    assert engine.left() == []
    files = contents(run)
    ended(started("resume", run, **engine.environ), 0)
    assert contents(run) == files, "a second resume changed something"
    return f"{process.returncode}, resumed"


def whole(run: Path, became: Sequence[str], *, told: Mapping[str, str], before: Mapping[Path, bytes]) -> None:
    """The checker: what holds for a run that was resumed to its end, whatever had happened.

    Each planned cell has exactly one result, the one that it would have had; what was told or committed before the
    fault is as it was; nothing was done twice; every check sum holds; nothing that was begun still lives.
    """
    plan = json.loads((run / "plan.json").read_bytes())
    summary = {cell["id"]: cell for cell in json.loads((run / "summary.json").read_bytes())["cells"]}
    assert statuses(run) == became
    assert {cell: summary[cell]["status"] for cell in told} == told
    assert {path: path.read_bytes() for path in before} == before
    check(run, attempts={cell["name"]: summary[cell["id"]]["attempts"] for cell in plan["cells"]})
    lines = journal.read(run)
    verify(run, summary, lines)
    begun = Counter((line.cell, line.attempt, line.step) for line in lines if line.step is Step.COMMIT)
    assert all(count <= 4 for count in begun.values()), begun  # twice at most: once cut off, once done
    cases = ET.parse(run / "junit.xml").getroot().iter("testcase")
    found = Counter((case.get("classname"), case.get("name")) for case in cases)
    assert set(found.values()) == {1}
    assert {str(name).split("::")[0] for name, _ in found} == set(summary)
    for attempt in run.glob("cells/*/attempt-*"):
        assert not list(attempt.glob(".*")), "a half file was left"
        sums(attempt)


def sums(attempt: Path) -> None:
    """Every check sum of the bundle holds; an attempt that failed before the suite ran has none."""
    listed = attempt / "SHA256SUMS"
    for line in listed.read_text().splitlines() if listed.exists() else ():
        wanted, name = line.split("  ")
        assert hashlib.sha256((attempt / name).read_bytes()).hexdigest() == wanted


def reported(said: str) -> dict[str, str]:
    """The status of each cell that was told as done."""
    return dict(re.findall(r"^\[\d+/\d+\] (\S+) (\S+) in \d+ s", said, re.MULTILINE))


def committed(run: Path) -> dict[Path, bytes]:
    """Every file of each committed attempt."""
    places = [file.parent for file in run.glob("cells/*/*/attempt.json")]
    return {file: file.read_bytes() for place in places for file in place.iterdir()}


def contents(run: Path) -> dict[Path, bytes]:
    """Every byte of a run."""
    return {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}


def tried(
    cases: Iterable[tuple[str, str]], outcome: Callable[[str, str, Path], str], *, at_once: int
) -> dict[tuple[str, str], str]:
    """What became of each case, so many at a time; `FAILED: why` where something was not as it must be."""

    def one(asked: tuple[str, str]) -> str:
        with tempfile.TemporaryDirectory(prefix="crash-") as folder:
            try:
                return outcome(*asked, Path(folder))
            except Exception as error:  # noqa: BLE001 - the table has a line for each case
                return f"FAILED: {type(error).__name__}: {str(error)[:2000]}"

    cases = tuple(cases)
    with ThreadPoolExecutor(at_once) as pool:
        return dict(zip(cases, pool.map(one, cases), strict=True))


def table(title: str, points: Iterable[str], found: Mapping[tuple[str, str], str]) -> int:
    """Prints how the run ended at each fault, and whether everything held after it; how many cases failed."""
    failed = {asked: became for asked, became in found.items() if became.startswith("FAILED")}
    rows = [(title, *KINDS), *((point, *(found[point, kind].split(":")[0] for kind in KINDS)) for point in points)]
    lines = ["".join(f"{column:24}" for column in row) for row in rows]
    lines += [f"{'='.join(asked)}\n{became}" for asked, became in failed.items()]
    sys.stdout.write("\n".join(lines) + f"\n{len(found) - len(failed)} of {len(found)} hold\n\n")
    return len(failed)


def main() -> int:
    """The whole matrix, on either engine."""
    failed = table("a played engine", POINTS, tried(CASES, case, at_once=2))
    with closing(connection.client(os.environ)) as machine, private_engine(python_image(machine)) as engine:
        found = tried(REAL_CASES, partial(survived, engine=engine), at_once=1)
    return int(bool(failed + table("a Docker daemon", REAL_POINTS, found)))


if __name__ == "__main__":
    sys.exit(main())
