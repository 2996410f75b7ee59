"""Which cells a `--select` names: globs on the id of the cell or on its name, upper and lower case apart."""

import difflib
import fnmatch
from collections.abc import Sequence

from orchestrator import text
from orchestrator.errors import NothingSelected

_NEAR = 3
_WILD = frozenset("*?[")

Named = tuple[str, str]  # the name of a cell, and its id


def is_selected(named: Named, globs: Sequence[str]) -> bool:
    """Whether one of the globs names the cell; no glob at all names every cell."""
    return not globs or any(_names(glob, named) for glob in globs)


def is_asked_by_name(named: Named, globs: Sequence[str]) -> bool:
    """Whether a glob without a wildcard names the cell: this one was meant, whatever else is there."""
    return any(glob in named and not _WILD & set(glob) for glob in globs)


def check_globs(named: Sequence[Named], globs: Sequence[str], *, hint: str = "") -> None:
    """NothingSelected, with the nearest names, for a glob that names no cell: a typo must not shrink a run."""
    for glob in globs:
        if not any(_names(glob, each) for each in named):
            told = "; ".join(filter(None, (_nearest(glob, named), hint)))
            raise NothingSelected(f"`{text.one_line(glob, 80)}` selects no cell", hint=told)


def _names(glob: str, named: Named) -> bool:
    return any(fnmatch.fnmatchcase(name, glob) for name in named)


def _nearest(glob: str, named: Sequence[Named]) -> str:
    names = [name for each in named for name in each]
    near = difflib.get_close_matches(glob.strip("*"), names, n=_NEAR, cutoff=0.3) or names[:_NEAR]
    return f"did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else "the matrix has no production row"
