"""Plan -> Run: prepare every image, run each placed cell, commit each attempt as it ends, merge.

Nothing is decided here: engines say what they saw, `results.judge` says what it means, `results.merge` makes the end.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from orchestrator import disk, text
from orchestrator.axes import image_axes
from orchestrator.engines.engine import Engine
from orchestrator.errors import InfrastructureError, InputError, Interrupted
from orchestrator.images.failure import BuildFailure
from orchestrator.images.given import Given
from orchestrator.model import Host, Image, Plan, Run
from orchestrator.results.merge import MAX_PLAN, merge, write
from orchestrator.running import attempts, cells, folder, journal, signals
from orchestrator.running.compile_store import CompileStore
from orchestrator.running.schedule import Turn, schedule
from orchestrator.running.secret_files import NONE, Secrets
from orchestrator.running.stock import Stock
from orchestrator.running.supply import Supply, supply
from orchestrator.settings import Site
from orchestrator.vocabulary import Step

Say = Callable[[str], None]

_HERE, _NO_CACHE = "--here", "--no-compile-cache"


class Begun(Struct, frozen=True, kw_only=True):
    """What a run was asked for beside its plan and its engine; a resumed run goes on with it."""

    here: bool
    compile_cache: bool


def suites_folder() -> Path:
    """The folder that holds the package `suites`: beside this package, in a checkout and in an installed wheel."""
    found = Path(__file__).resolve().parents[2]
    if not (found / "suites" / "__main__.py").is_file():
        raise InfrastructureError(
            "the smoke suite is not there", place=str(found / "suites"), cause="a damaged installation"
        )
    return found


def run_plan(  # noqa: PLR0913 - what a run is made of, each by name
    plan: Plan,
    site: Site,
    engine: Engine,
    out: Path,
    *,
    host: Host,
    suites: Path,
    say: Say,
    resume: bool = False,
    jobs: int = 2,
    secrets: Secrets = NONE,
    compile_cache: bool = True,
    here: bool = False,
    merged: Callable[[Run], None] = lambda _: None,
) -> Run:
    """Runs the placed cells of the plan in the run folder `out`, whose lock is held, and merges what came of them.

    `here` is only remembered: who resumes the run finds it by `asked_of`.
    With `resume`, the plan was read from `out`; committed cells stay as they are, what was begun is done anew. `merged`
    is told what came of it, also when it ends in an error; it is told nothing by a run that is refused.
    Raises Interrupted when a signal stopped it, after everything that was done is committed and merged, and
    InfrastructureError when the folder cannot be written.
    """
    say = _while_heard(say)
    folder.admit(out, folder.MIN_FREE)
    with journal.opened(out) as log:
        if resume:
            _resume(plan, out, log, engine, say)
        else:
            _begin(plan, out, log, engine, Begun(here=here, compile_cache=compile_cache))
        caches = CompileStore(site.cache / "compile", say) if compile_cache else None
        setting = cells.Setting(
            out=out, engine=engine, host=host, suites=suites, journal=log, secrets=secrets, caches=caches
        )
        turns = schedule(plan.cells, host)
        finished = _is_finished(out, log, turns)
        with signals.watched(say, secrets.remove) as stop:
            try:
                try:
                    images = _prepared(turns, setting, site, jobs, say)
                    stop.act = engine.stop_all
                except KeyboardInterrupt:
                    images = {}
                stock = _stock(images, turns, setting, site, jobs, stop, say)
                for number, turn in enumerate(turns, start=1):
                    if stop.by:
                        break
                    _run_cell(turn, stock, setting, stop, partial(_numbered, say, f"[{number}/{len(turns)}]"))
            finally:  # a lost engine or a full disk ends it too: the merge says what is done and what is not
                stop.act = _carry_on
                with suppress(InfrastructureError):  # an engine that is lost for good: a resumed run looks again
                    engine.sweep(out.name)
                run = _merged(plan, out, nullcontext() if finished else log.step(Step.MERGE))
                merged(run)
    left = sum(not cells.is_done(out, turn.cell) for turn in turns)
    if left:
        raise Interrupted(
            f"stopped by {stop.by}, {len(turns) - left} of {text.counting(len(turns), 'cell is', 'cells are')} done",
            place=str(out),
            hint=f"`torchmatrix run --resume {out}` does the rest",
        )
    return run


def engine_of(out: Path) -> str | None:
    """The engine that the run in the folder was begun with, where its journal tells."""
    return next((words[0] for words in _began(journal.read(out))), None)


def asked_of(out: Path) -> Begun:
    """What else the run in the folder was asked for when it was begun."""
    words = next(_began(journal.read(out)), [])
    return Begun(here=_HERE in words, compile_cache=_NO_CACHE not in words)


def _began(lines: Sequence[journal.Line]) -> Iterator[list[str]]:
    """The engine, the digest of the plan, and what was asked beside them."""
    return (line.detail.split(" ") for line in lines if line.step is Step.PLAN)


def _begin(plan: Plan, out: Path, log: journal.Journal, engine: Engine, begun: Begun) -> None:
    """Writes the plan, before anything else is done."""
    if (out / folder.PLAN).exists():
        raise InputError("there is a run in this folder", place=str(out), hint=f"torchmatrix run --resume {out}")
    written = msgspec.json.format(msgspec.json.encode(plan), indent=1) + b"\n"
    asked = [*[_HERE] * begun.here, *[_NO_CACHE] * (not begun.compile_cache)]
    with log.step(Step.PLAN, detail=" ".join((engine.name, _digest(written), *asked))):
        folder.write(out / folder.PLAN, written)


def _resume(plan: Plan, out: Path, log: journal.Journal, engine: Engine, say: Say) -> None:
    """Says what is done anew, and ends what the dead owner left running, which only the same engine can find."""
    first, digest, *_ = (*next(_began(log.before), [engine.name]), "")
    with folder.told(out / folder.PLAN):
        written = disk.read_bounded(out / folder.PLAN, MAX_PLAN)
    if digest and digest != _digest(written):
        # A cell that was taken out would be gone from every report, and what it did with it.
        raise InputError(
            "the plan was changed since the run began",
            place=str(out / folder.PLAN),
            hint="begin a new run with `--plan`",
        )
    if first != engine.name:
        raise InfrastructureError(
            f"the run was begun with the engine `{first}`, this is `{engine.name}`",
            place=str(out),
            cause="its cells were placed for that one, and what they left is found by that one alone",
            hint=f"torchmatrix run --resume {out} --engine {first}",
        )
    attempts.verify(out, (cell.id for cell in plan.cells), log.before)
    for line in journal.unended(log.before):
        say(f"the {line.step} of {line.cell or 'the run'} was cut off: done again")
    for name in engine.sweep(out.name):
        say(f"removed {name}, which the run had left")


def _digest(plan: bytes) -> str:
    return hashlib.sha256(plan).hexdigest()


def _prepared(turns: Sequence[Turn], setting: cells.Setting, site: Site, jobs: int, say: Say) -> Supply:
    """What the cells that are still to run need; InfrastructureError when there is no engine to make it."""
    wanted = {
        turn.cell.image: image_axes(turn.cell.axes) for turn in turns if not cells.is_done(setting.out, turn.cell)
    }
    if not wanted:
        return {}
    with setting.journal.step(Step.PREPARE, detail=f"{len(wanted)} images"):
        secrets = setting.secrets
        given = Given(secrets=secrets.of(turn.cell for turn in turns), masker=secrets.masker)
        return supply(setting.engine.name, wanted, site, jobs=jobs, say=say, given=given)


def _stock(
    images: Supply, turns: Sequence[Turn], setting: cells.Setting, site: Site, jobs: int, stop: signals.Stop, say: Say
) -> Stock:
    """The prepared images; one that is removed meanwhile is made as it was."""

    def remake(key: str) -> Image | BuildFailure:
        act, stop.act = stop.act, signals.interrupt
        try:
            return _prepared([turn for turn in turns if turn.cell.image == key], setting, site, jobs, say)[key]
        except KeyboardInterrupt:
            return images[key]  # nothing is run in it any more
        finally:
            stop.act = act

    return Stock(images, setting.engine, remake=remake, stopped=lambda: bool(stop.by), say=say)


def _run_cell(turn: Turn, stock: Stock, setting: cells.Setting, stop: signals.Stop, say: Say) -> None:
    """Runs the cell where it is not done yet, and says what became of it."""
    if cells.is_done(setting.out, turn.cell):
        return
    folder.admit(setting.out, folder.MIN_FREE)
    started = time.monotonic()
    if not cells.run_cell(turn, partial(stock.image, turn.cell.image), setting, lambda: bool(stop.by), say):
        return
    became = cells.result(setting.out, turn.cell)
    told = f"{turn.cell.id} {became.status} in {time.monotonic() - started:.0f} s"
    say(told + (f": {became.reason}" if became.reason else ""))


def _numbered(say: Say, place: str, line: str) -> None:
    say(f"{place} {line}")


def _is_finished(out: Path, log: journal.Journal, turns: Sequence[Turn]) -> bool:
    """Whether nothing is to be done: what is merged again comes to the same bytes, and needs no line in the journal."""
    last = log.before[-1] if log.before else None
    merged = last is not None and (last.step, last.state) == (Step.MERGE, "end")
    return merged and all(cells.is_done(out, turn.cell) for turn in turns)


def _merged(plan: Plan, out: Path, step: AbstractContextManager[None]) -> Run:
    """The run from its committed attempts alone: a half one, which a kill left, is no evidence."""
    places = [place for cell in plan.cells for place in attempts.committed_folders(out, cell.id)]
    with step:
        run = merge(plan, places, run_id=out.name)
        write(run, places, out)
    return run


def _carry_on() -> None:
    """What a signal does beyond being noted once all cells are behind us: the merge ends by itself, and soon."""


def _while_heard(say: Say) -> Say:
    """The same, until nobody listens any more: a closed terminal or pipe must not end a run that is committing."""

    def heard(line: str) -> None:
        with suppress(OSError, ValueError, RuntimeError):  # gone, closed, or interrupted inside a write by our handler
            say(line)

    return heard
