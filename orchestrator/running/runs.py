"""The runs below a folder: what each is at, and removing those that nobody needs any more."""

import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from orchestrator import text
from orchestrator.errors import InfrastructureError, InputError
from orchestrator.formats import SUMMARY
from orchestrator.model import Plan
from orchestrator.results.merge import read_plan
from orchestrator.running import attempts, folder, lock

_REMOVAL_S = 60.0  # of one run, while others remove it too
_GOING = ".going-"


class RunState(StrEnum):
    """What a run is at."""

    LIVE = "live"
    RESUMABLE = "resumable"
    DONE = "done"
    EMPTY = "empty"
    DAMAGED = "damaged"


class ListedRun(Struct, frozen=True, kw_only=True):
    """A run folder. `started` is what its id says: after the newest run before it, where the clock was set back.

    `cells` are those that are placed, `done` how many of them need no further attempt.

    `images` are those of the others: what resuming it needs. `damage` says why one is damaged.
    """

    id: str
    path: str
    started: str
    state: RunState
    cells: int
    done: int
    bytes: int
    images: tuple[str, ...]
    damage: str = ""


class KeptRun(Struct, frozen=True, kw_only=True):
    """A run that stays although it was its turn, and why; `failed` when it could not be removed."""

    run: ListedRun
    why: str
    failed: bool = False


class RunClearing(Struct, frozen=True, kw_only=True):
    """The runs that go, those that stay although it was their turn, and the bytes of what goes.

    With `dry_run` nothing was removed.
    """

    removed: tuple[ListedRun, ...]
    kept: tuple[KeptRun, ...]
    bytes: int
    dry_run: bool = False


def list_runs(runs: Path) -> tuple[ListedRun, ...]:
    """The runs in a folder, newest first; nothing but a folder with the name of a run is one, and no link is."""
    with folder.told(runs):
        names = sorted(os.listdir(runs), reverse=True) if runs.exists() else []  # noqa: PTH208 - names are matched
    found = ((runs / name, start) for name in names if (start := folder.start_in(name)) is not None)
    listed = (_listed(path, start) for path, start in found if path.is_dir() and not path.is_symlink())
    return tuple(run for run in listed if run is not None)


def choose(
    runs: Sequence[ListedRun], now: datetime, *, keep: int | None, max_age: timedelta | None, force: bool
) -> RunClearing:
    """The runs beyond the `keep` newest, and those older than `max_age`; `runs` come newest first.

    One that is live never goes; one that can be resumed, or that holds what cannot be read, only by `force`.
    """
    removed: list[ListedRun] = []
    kept: list[KeptRun] = []
    for place, run in enumerate(runs):
        is_old = max_age is not None and now - datetime.fromisoformat(run.started) > max_age
        if not is_old and (keep is None or place < keep):
            continue
        if run.state is RunState.LIVE:
            kept.append(KeptRun(run=run, why="a process is writing it"))
        elif run.state is RunState.RESUMABLE and not force:
            kept.append(
                KeptRun(
                    run=run,
                    why=f"{run.cells - run.done} of {text.counting(run.cells, 'cell')} can still be run: --force",
                )
            )
        elif run.state is RunState.DAMAGED and not force:
            kept.append(KeptRun(run=run, why=f"{run.damage}: --force"))
        else:
            removed.append(run)
    return RunClearing(removed=tuple(removed), kept=tuple(kept), bytes=sum(run.bytes for run in removed))


def clear(runs: Path, chosen: RunClearing) -> RunClearing:
    """Removes the chosen runs, each whole or not at all in the eyes of others, and what an earlier try left of one.

    A run that somebody else has removed meanwhile is neither among those removed nor among those kept.
    """
    removed: list[ListedRun] = []
    kept = list(chosen.kept)
    for run in chosen.removed:
        place = Path(run.path)
        try:
            with lock.guarded(runs):
                if not place.is_dir():
                    continue
                with lock.held_to_remove(place), folder.told(place):
                    place.rename(runs / f"{_GOING}{run.id}")
        except InfrastructureError as held:
            kept.append(KeptRun(run=run, why=held.fact, failed=not _is_live(place)))
        else:
            removed.append(run)
    with folder.told(runs):
        names = sorted(os.listdir(runs)) if runs.exists() else []  # noqa: PTH208 - names are matched
    left = (runs / name for name in names if name.startswith(_GOING) and folder.start_in(name.removeprefix(_GOING)))
    going = [place for place in left if not place.is_symlink()]
    if problems := [problem for place in going if (problem := _removal_problem(place))]:
        raise problems[0]  # once all the others are gone
    return RunClearing(
        removed=tuple(removed),
        kept=tuple(each for each in kept if _is_there(runs, each.run)),
        bytes=sum(run.bytes for run in removed),
    )


def _is_there(runs: Path, run: ListedRun) -> bool:
    """Whether nobody has removed it; who was about to, when it was listed as being written, has done so by now."""
    if not Path(run.path).is_dir():
        return False
    with lock.guarded(runs):
        return Path(run.path).is_dir()


def _removal_problem(place: Path) -> InfrastructureError | None:
    """Removes a folder, though somebody else is removing it too; what is in the way of it. No link is followed."""
    give_up = time.monotonic() + _REMOVAL_S
    while place.is_dir():
        try:
            with folder.told(place), suppress(FileNotFoundError):  # the other one has just removed it
                shutil.rmtree(place)
        except InfrastructureError as problem:
            return problem
        if time.monotonic() > give_up and place.exists():
            return InfrastructureError(
                f"could not be removed in {_REMOVAL_S:.0f} s", place=str(place), cause="likely somebody writes there"
            )
    return None


def _listed(path: Path, start: datetime) -> ListedRun | None:
    """The run, or None when it was removed while it was looked at, whatever of it was seen by then."""
    try:
        state, cells, images, damage = _state(path)
    except (InputError, InfrastructureError, OSError):
        state, cells, images, damage = RunState.DAMAGED, 0, [], "its plan or its cells cannot be read"
    run = ListedRun(
        id=path.name,
        path=str(path),
        started=start.isoformat(),
        state=RunState.LIVE if _is_live(path) else state,
        cells=cells,
        done=cells - len(images),
        bytes=_bytes(path),
        images=tuple(dict.fromkeys(images)),
        damage=damage,
    )
    return run if path.is_dir() else None


def _state(path: Path) -> tuple[RunState, int, list[str], str]:
    """What it is at, how many cells were placed, the image of each that is not done, and why it is damaged.

    InputError, InfrastructureError or OSError where something in it cannot be read.
    """
    if problem := lock.problem_with(path):
        return RunState.DAMAGED, 0, [], f"its lock is none of ours: {problem}"
    if not os.path.lexists(path / folder.PLAN):
        foreign = {each.name for each in path.iterdir()} - {folder.JOURNAL, lock.LOCK}
        told = "it has no plan, and more than a run begins with"
        return (RunState.DAMAGED, 0, [], told) if foreign else (RunState.EMPTY, 0, [], "")
    plan = read_plan(path / folder.PLAN)
    left = list(_left(path, plan))
    placed = sum(cell.placement.placed for cell in plan.cells)
    whole = not left and (path / SUMMARY).is_file()
    return RunState.DONE if whole else RunState.RESUMABLE, placed, left, ""


def _left(path: Path, plan: Plan) -> Iterator[str]:
    for cell in plan.cells:
        if cell.placement.placed and attempts.next_attempt(attempts.committed(path, cell.id)) is not None:
            yield cell.image


def _is_live(path: Path) -> bool:
    """Whether a process holds the run's lock: the kernel's word, not that of the file."""
    try:
        descriptor = os.open(path / lock.LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _bytes(path: Path) -> int:
    """What the folder takes on its disk; links are counted as links."""
    total = 0
    for place, _, files in os.walk(path):
        for name in files:
            with suppress(OSError):
                total += Path(place, name).lstat().st_blocks * 512
    return total
