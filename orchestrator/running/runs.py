"""The runs below a folder: what each is at, and removing those that nobody needs any more."""

import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from orchestrator.errors import InfrastructureError, InputError
from orchestrator.formats import SUMMARY
from orchestrator.model import Plan
from orchestrator.results.merge import read_plan
from orchestrator.running import attempts, folder, lock

_NAME = re.compile(r"(\d{8}T\d{6}Z)-[0-9a-f]{4}", re.ASCII)
_REMOVAL_S = 60.0  # of one run, while others remove it too
_GOING = re.compile(rf"\.going-{_NAME.pattern}", re.ASCII)


class RunState(StrEnum):
    """What a run is at."""

    LIVE = "live"
    RESUMABLE = "resumable"
    DONE = "done"
    EMPTY = "empty"
    DAMAGED = "damaged"


class ListedRun(Struct, frozen=True, kw_only=True):
    """A run folder. `cells` are those that are placed, `done` how many of them need no further attempt.

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
    found = (runs / name for name in names if _NAME.fullmatch(name))
    runs_of_ours = (path for path in found if path.is_dir() and not path.is_symlink() and _started(path.name))
    return tuple(_listed(path) for path in runs_of_ours)


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
            kept.append(KeptRun(run=run, why=f"{run.cells - run.done} of {run.cells} cells can still be run: --force"))
        elif run.state is RunState.DAMAGED and not force:
            kept.append(KeptRun(run=run, why=f"{run.damage}: --force"))
        else:
            removed.append(run)
    return RunClearing(removed=tuple(removed), kept=tuple(kept), bytes=sum(run.bytes for run in removed))


def clear(runs: Path, chosen: RunClearing) -> RunClearing:
    """Removes the chosen runs, each whole or not at all in the eyes of others, and what an earlier try left of one."""
    removed: list[ListedRun] = []
    kept = list(chosen.kept)
    for run in chosen.removed:
        try:
            place = Path(run.path)
            with lock.guarded(runs), lock.held_to_remove(place), folder.told(place):
                going = runs / f".going-{run.id}"
                place.rename(going)
        except InfrastructureError as held:
            kept.append(KeptRun(run=run, why=held.fact, failed=not _is_live(Path(run.path))))
            continue
        removed.append(run)
    with folder.told(runs):
        for name in sorted(os.listdir(runs)) if runs.exists() else ():  # noqa: PTH208 - names are matched
            if _GOING.fullmatch(name) and not (runs / name).is_symlink():
                _remove(runs / name)
    return RunClearing(removed=tuple(removed), kept=tuple(kept), bytes=sum(run.bytes for run in removed))


def _remove(place: Path) -> None:
    """Removes a folder, though somebody else is removing it too; no link is followed."""
    give_up = time.monotonic() + _REMOVAL_S
    while place.exists():
        with suppress(FileNotFoundError):  # the other one has just removed it
            shutil.rmtree(place)
        if time.monotonic() > give_up and place.exists():
            raise InfrastructureError(
                f"could not be removed in {_REMOVAL_S:.0f} s", place=str(place), cause="likely somebody writes there"
            )


def _started(name: str) -> str:
    """The time in a run's name, or an empty text when it is the name of no run."""
    matched = _NAME.fullmatch(name)
    try:
        return datetime.strptime(matched[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).isoformat() if matched else ""
    except ValueError:  # the 99th of a month
        return ""


def _listed(path: Path) -> ListedRun:
    state, cells, images, damage = _state(path)
    return ListedRun(
        id=path.name,
        path=str(path),
        started=_started(path.name),
        state=RunState.LIVE if _is_live(path) else state,
        cells=cells,
        done=cells - len(images),
        bytes=_bytes(path),
        images=tuple(dict.fromkeys(images)),
        damage=damage,
    )


def _state(path: Path) -> tuple[RunState, int, list[str], str]:
    """What it is at, how many cells were placed, the image of each that is not done, and why it is damaged."""
    if problem := lock.problem_with(path):
        return RunState.DAMAGED, 0, [], f"its lock is none of ours: {problem}"
    if not (path / folder.PLAN).exists():
        foreign = {each.name for each in path.iterdir()} - {folder.JOURNAL, lock.LOCK}
        told = "it has no plan, and more than a run begins with"
        return (RunState.DAMAGED, 0, [], told) if foreign else (RunState.EMPTY, 0, [], "")
    try:
        plan = read_plan(path / folder.PLAN)
    except (InputError, InfrastructureError, OSError):
        return RunState.DAMAGED, 0, [], "its plan cannot be read"
    left = list(_left(path, plan))
    placed = sum(cell.placement.placed for cell in plan.cells)
    whole = not left and (path / SUMMARY).exists()
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
