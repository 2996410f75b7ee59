"""One cell's way through a run: attempt after attempt, each committed before the next thing happens."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from orchestrator import text
from orchestrator.engines.compile_cache import CompileCache
from orchestrator.engines.engine import Engine
from orchestrator.engines.log import write_log
from orchestrator.engines.task import Task
from orchestrator.errors import InfrastructureError
from orchestrator.formats import CELL
from orchestrator.images.failure import BuildFailure
from orchestrator.model import Attempt, CellResult, Exit, Host, Image, Log, PlannedCell
from orchestrator.results.finding import read
from orchestrator.results.judge import judge
from orchestrator.running import attempts, compile_key, folder
from orchestrator.running.compile_store import CompileStore, Lent
from orchestrator.running.journal import Journal
from orchestrator.running.schedule import Turn
from orchestrator.running.secret_files import NONE, Secrets
from orchestrator.vocabulary import Cause, Purpose, Status, Step

CPUINFO = Path("/proc/cpuinfo")


class Setting(Struct, frozen=True, kw_only=True):
    """What all cells of a run have in common."""

    out: Path
    engine: Engine
    host: Host
    suites: Path
    journal: Journal
    secrets: Secrets = NONE
    caches: CompileStore | None = None


def is_done(out: Path, cell: PlannedCell) -> bool:
    """Whether the cell needs no further attempt."""
    return attempts.next_attempt(attempts.committed(out, cell.id)) is None


def run_cell(
    turn: Turn,
    image: Callable[[], Image | BuildFailure],
    setting: Setting,
    stopped: Callable[[], bool],
    say: Callable[[str], None],
) -> bool:
    """Makes the attempts that the cell still needs, until it is done or the run was stopped; whether it made one.

    `image` is what the next attempt is run in; InfrastructureError when there is no engine to run it. A second try is
    said.
    """
    made = False
    done = attempts.committed(setting.out, turn.cell.id)
    while (following := attempts.next_attempt(done)) is not None:
        ready = image()
        if stopped():
            break
        number, purpose = following
        if purpose is Purpose.RETRY:
            say(f"{turn.cell.id} {text.one_line(done[-1].exit.problem or 'stopped')}: trying once more")
        done = (*done, _attempt(turn, ready, setting, number, purpose))
        made = True
    return made


def _attempt(turn: Turn, image: Image | BuildFailure, setting: Setting, number: int, purpose: Purpose) -> Attempt:
    cell = turn.cell
    place = attempts.begin(setting.out, cell.id, number)
    with _lent(turn, image, setting) as lent:
        if isinstance(image, BuildFailure):
            made = _unprepared(cell, number, image, place)
        else:
            made = _made(turn, number, image, setting, place, lent.cache if lent else None)
        attempt = msgspec.structs.replace(made, purpose=purpose, host=setting.host.name, engine=setting.engine.name)
        written = attempts.written(attempt)
        with setting.journal.step(Step.COMMIT, cell=cell.id, attempt=number, detail=attempts.digest(written)):
            attempts.commit(place, written)
        if lent and judge(cell, [read(place, cell.id)]).status is Status.PASSED:
            lent.keep()
    return attempt


def _lent(turn: Turn, image: Image | BuildFailure, setting: Setting) -> AbstractContextManager[Lent | None]:
    """The compile cache of the cell, where it is to have one."""
    if isinstance(image, BuildFailure) or setting.caches is None or not compile_key.is_kept(turn.cell, setting.host):
        return nullcontext()
    return setting.caches.lent(
        compile_key.fields(
            turn.cell,
            image,
            setting.host,
            suites=compile_key.suites_digest(setting.suites),
            processor=compile_key.processor(CPUINFO.read_text(encoding="utf-8", errors="replace")),
            toolchain=compile_key.toolchain(setting.engine.name, image, turn.cell),
            place="" if setting.engine.name == "docker" else str(setting.caches.place()),
        )
    )


def _made(turn: Turn, number: int, image: Image, setting: Setting, place: Path, cache: CompileCache | None) -> Attempt:
    """What the engine made of it; an engine that failed is told in the Exit, as every engine should tell it itself."""
    cell = turn.cell
    task = Task(
        run_id=setting.out.name,
        cell=cell,
        number=number,
        image=image,
        argv=attempts.ARGV,
        suites=setting.suites,
        inputs={CELL: attempts.cell_file(cell)},
        env=attempts.environment(cell),
        out=place,
        deadline_s=cell.limits.timeout_s,
        devices=turn.devices,
        secrets={secret.name: setting.secrets.readable[secret.name] for secret in cell.secrets},
        masker=setting.secrets.masker,
        cache=cache,
    )
    started = _now()
    try:
        return setting.engine.run(task, partial(setting.journal.step, cell=cell.id, attempt=number))
    except InfrastructureError as error:
        return Attempt(cell=cell.id, number=number, image=image.name, exit=Exit(problem=str(error), started=started))


def _unprepared(cell: PlannedCell, number: int, failure: BuildFailure, place: Path) -> Attempt:
    log = Log(head=failure.log_tail, bytes=len(failure.log_tail.encode()))
    with folder.told(place):
        write_log(log, place)
    # Nothing states a build that failed: it is what is meant where an image is not there.
    problem = failure.reason if failure.cause is Cause.BUILD else f"{failure.cause}: {failure.reason}"
    return Attempt(cell=cell.id, number=number, exit=Exit(problem=problem, step=Step.PREPARE, started=_now(), log=log))


def _now() -> str:
    """The time of day in UTC, for people: durations are never made from it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def result(out: Path, cell: PlannedCell) -> CellResult:
    """What the cell's committed attempts come to, by the one judge."""
    return judge(cell, [read(place, cell.id) for place in attempts.committed_folders(out, cell.id)])
