"""The folders of one attempt outside a container, and what is left of those whose owner died."""

import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from orchestrator import disk, text
from orchestrator.engines.owner import Owner, is_gone, parse
from orchestrator.engines.task import Task
from orchestrator.errors import InfrastructureError

FOLDERS = ("start", "inputs", "results", "home", "path")
_PREFIX = "torchmatrix-"
_OWNER = "owner.json"
_OWNER_BYTES = 4096


class Scratch(Struct, frozen=True, kw_only=True):
    """Folders of one attempt: where the cell starts, its inputs, its results, its home, and its import path."""

    root: Path
    start: Path
    inputs: Path
    results: Path
    home: Path
    path: Path


def make_scratch(task: Task, owner: Owner) -> Scratch:
    """Fresh folders with the task's inputs in them."""
    if os.pathsep in tempfile.gettempdir():
        raise InfrastructureError(
            f"a folder with `{os.pathsep}` in its name cannot be put on an import path",
            place=tempfile.gettempdir(),
            hint="set TMPDIR to another one",
        )
    root = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        return _laid_out(root, task, owner)
    except BaseException:
        shutil.rmtree(root, ignore_errors=True)
        raise


def scratch_below(root: Path) -> Scratch:
    """The folders by their names; nothing is made."""
    return Scratch(root=root, **{name: root / name for name in FOLDERS})


def _laid_out(root: Path, task: Task, owner: Owner) -> Scratch:
    (root / _OWNER).write_text(json.dumps({"run": task.run_id, "owner": str(owner)}), encoding="utf-8")
    scratch = scratch_below(root)
    for name in FOLDERS:
        (root / name).mkdir()
    # The package alone: beside it lies what must not be importable in a cell, such as our own dependencies.
    (scratch.path / "suites").symlink_to(task.suites.resolve() / "suites")
    for name, content in task.inputs.items():
        (scratch.inputs / name).write_bytes(content)
    return scratch


def remove_scratch(scratch: Scratch) -> None:
    """Remove the folders with what the cell wrote there; what a cell made unremovable is left to the next sweep."""
    _remove(scratch.root)


def _remove(root: Path) -> None:
    """Everything else before the owner: whatever is left when we die, or cannot remove, a later sweep must know."""
    with suppress(OSError):
        for entry in sorted(root.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name != _OWNER:
                entry.unlink()
        if set(os.listdir(root)) <= {_OWNER}:  # noqa: PTH208 - names are what is compared
            shutil.rmtree(root)


def sweep_folders(run_id: str) -> tuple[str, ...]:
    """Remove this user's scratch folders of the run whose owner is gone; their paths."""
    left = [folder for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*") if _is_orphan(folder, run_id)]
    for folder in left:
        _remove(folder)
    return tuple(str(folder) for folder in left)


def _is_orphan(folder: Path, run_id: str) -> bool:
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return False
        written = text.read_json(disk.read_bounded(folder / _OWNER, _OWNER_BYTES), dict[str, str])
        owner = parse(written["owner"]) if written["run"] == run_id else None
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return owner is not None and is_gone(owner)
