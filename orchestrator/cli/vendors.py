"""Whom a verb asks what vendors say: the shipped facts, a site's own above them, and the rules of its matrix."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.errors import InputError

if TYPE_CHECKING:
    from orchestrator.model import Matrix
    from orchestrator.support.check import Support

MAX_OVERLAYS = 100


def support_of(matrix: "Matrix", folder: Path, on: dt.date | None = None, overlays: Sequence[Path] = ()) -> "Support":
    """What answers for the vendors where a matrix holds; `folder` is the one that its file is in.

    `overlays` are files of facts above those that the matrix names.
    """
    from orchestrator.support.check import Support
    from orchestrator.support.facts import load_facts

    return Support(load_facts((*overlays_of(matrix.facts, folder), *overlays)), on=on, rules=matrix.rules)


def overlays_of(patterns: Sequence[str], folder: Path) -> tuple[Path, ...]:
    """The files of facts that a matrix names, a glob's in the order of their names; InputError where none is."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        path = folder / Path(pattern).expanduser()
        base = Path(path.anchor) if path.is_absolute() else Path()
        files = sorted(base.glob(str(path.relative_to(base)))) if "*" in pattern else [path]
        if not files:
            raise InputError("no file of facts is there", place=pattern)
        found |= dict.fromkeys(files)
    if len(found) > MAX_OVERLAYS:
        raise InputError(f"{len(found)} files of facts; at most {MAX_OVERLAYS} are read")
    return tuple(found)
