"""Where the bundles are: attempt folders, run folders, or folders that hold any of them, in whatever order."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from orchestrator import formats, text
from orchestrator.errors import InputError, refuse_shortage
from orchestrator.formats import CellFile
from orchestrator.model import Attempt, Exit
from orchestrator.results.bundle import MAX_JSON, Bundle, read_bundle
from orchestrator.results.files import Refused, read_plain

MAX_DEPTH = 6  # a folder of runs: runs, run, cells, cell, attempt, and one above
MAX_FOLDERS = 200_000
_ATTEMPT_FOLDER = re.compile(r"attempt-([1-9]\d{0,5})")


class Found(Struct, frozen=True, kw_only=True):
    """The folders of each planned cell's attempts, and what is said about the others."""

    by_cell: Mapping[str, tuple[Path, ...]]
    notes: tuple[str, ...]


def find(folders: Iterable[Path], planned: Iterable[str]) -> Found:
    """Every bundle in or below the folders, by the planned cell that it belongs to; a note tells of each other one."""
    known = frozenset(planned)
    by_cell: dict[str, list[Path]] = {}
    strangers: dict[str, int] = {}
    for folder in _bundles(folders):
        cell = _cell_of(folder)
        if cell in known:
            by_cell.setdefault(cell, []).append(folder)
        else:
            strangers[cell] = strangers.get(cell, 0) + 1
    notes = tuple(
        f"{text.counting(count, 'bundle')} of `{cell}`, which is not in the plan"
        if cell
        else f"{text.counting(count, 'bundle does', 'bundles do')} not say of which cell"
        for cell, count in sorted(strangers.items())
    )
    return Found(by_cell={cell: tuple(paths) for cell, paths in by_cell.items()}, notes=notes)


def read(folder: Path, cell: str) -> tuple[Attempt, Bundle]:
    """The attempt and the bundle in a folder that belongs to `cell`.

    Without our own `attempt.json` (a CI job hands in what the suite wrote) the bundle's final line stands for the exit.
    """
    bundle = read_bundle(folder)
    attempt, problem = read_attempt(folder)
    if attempt is None:
        final = bundle.progress.final
        attempt = Attempt(cell=cell, number=_number(folder), exit=Exit(code=final.exit if final is not None else None))
    problems = [f"{formats.ATTEMPT} {problem}"] if problem else []
    if bundle.cell is not None and bundle.cell.id != cell:
        problems.append(f"{formats.CELL} names another cell, `{text.one_line(bundle.cell.id, 127)}`")
    if problems:
        bundle = msgspec.structs.replace(bundle, problems=(*problems, *bundle.problems))
    return attempt, bundle


def read_attempt(folder: Path) -> tuple[Attempt | None, str]:
    """The attempt that was committed in a folder, or None; and why, where a file is there that is not one."""
    try:
        return text.read_json(read_plain(folder / formats.ATTEMPT, MAX_JSON), Attempt), ""
    except FileNotFoundError:
        return None, ""
    except (Refused, OSError, ValueError) as error:
        return None, f"cannot be read: {text.one_line(str(error))}"


def _cell_of(folder: Path) -> str:
    """The cell of a bundle: by our own file, else by the suite's, else by the folder's place in a run."""
    attempt, _ = read_attempt(folder)
    if attempt is not None:
        return attempt.cell
    try:
        return text.read_json(read_plain(folder / formats.CELL, MAX_JSON), CellFile).id
    except (Refused, OSError, ValueError):
        named = folder.parent.name if _ATTEMPT_FOLDER.fullmatch(folder.name) else folder.name
        return named if text.is_file_name(named) else ""


def _number(folder: Path) -> int:
    match = _ATTEMPT_FOLDER.fullmatch(folder.name)
    return int(match[1]) if match else 1


def _bundles(folders: Iterable[Path]) -> Iterator[Path]:
    """Each bundle once, however often and by whatever parent it is named."""
    seen: set[Path] = set()
    for folder in folders:
        start = folder.resolve()
        if not start.is_dir():
            raise InputError("no such folder of bundles", place=str(folder))
        yield from _below(start, MAX_DEPTH, seen)


def _below(folder: Path, depth: int, seen: set[Path]) -> Iterator[Path]:
    if folder in seen:
        return
    if len(seen) >= MAX_FOLDERS:
        raise InputError(f"more than {MAX_FOLDERS} folders are below it", place=str(folder))
    seen.add(folder)
    try:
        with os.scandir(folder) as entries:
            names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    except OSError as error:
        refuse_shortage(error, str(folder))
        raise InputError(f"cannot be listed: {error.strerror}", place=str(folder)) from error
    if formats.ATTEMPT in names or formats.CELL in names:
        yield folder
    elif depth:
        for name in sorted(name for name, is_folder in names.items() if is_folder):
            yield from _below(folder / name, depth - 1, seen)
